import { isUtf8 } from "node:buffer";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { KeyAccess, S3Credential } from "@seneschal/core/storage";
import { s3Error } from "./errors.ts";
import { signatureClaim } from "./signature-claim.ts";

/** The parts of a request that are signed, as received. Header names in lower case. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query as on the request line. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The bucket that the host names, which the path then does not. */
  readonly hosted?: string | undefined;
}

/** What a valid signature establishes. */
export interface Verified {
  readonly accessKey: string;
  /** Signs the chunks of a streamed payload. */
  readonly signingKey: Uint8Array;
  readonly tenant: string;
  /** What the key may; `undefined`: all that the tenant may. */
  readonly access: KeyAccess | undefined;
  /** `<date>/<region>/s3/aws4_request`. */
  readonly scope: string;
  readonly amzDate: string;
  readonly signature: string;
  /** The declared payload hash, or one of the `UNSIGNED-` and `STREAMING-` words. */
  readonly payloadHash: string;
}

export const emptyHash = createHash("sha256").digest("hex");
const skewMs = 15 * 60_000;

/**
 * Verifies AWS Signature Version 4 in its header or presigned query form. Throws `InvalidAccessKeyId`, `SignatureDoesNotMatch`,
 * `RequestTimeTooSkewed`, `AccessDenied` for headers that are not signed, and what {@link signatureClaim} throws.
 */
export async function verifySignature(
  request: SignedRequest,
  lookUp: (accessKey: string) => Promise<S3Credential | undefined>,
  now: number,
): Promise<Verified> {
  const { path, query } = splitTarget(request.target);
  const claim = signatureClaim(request.headers, query, now);
  const { accessKey, date, region } = claim;
  if (Math.abs(now - claim.at) > skewMs && !(claim.presigned && claim.at <= now))
    throw s3Error("RequestTimeTooSkewed", "the request time is more than 15 minutes from the server's");
  checkSignedHeaders(claim.signedHeaders, request.headers);

  const credential = await lookUp(accessKey);
  if (credential === undefined)
    throw s3Error("InvalidAccessKeyId", "the access key does not exist", { elements: { AWSAccessKeyId: accessKey } });
  const scope = `${date}/${region}/s3/aws4_request`;
  const canonical = [
    request.method,
    canonicalPath(path),
    canonicalQuery(query.filter(([name]) => name !== "X-Amz-Signature")),
    ...claim.signedHeaders.map(
      (name) =>
        `${name}:${signedText(request.headers[name] ?? "")
          .trim()
          .replace(/ +/g, " ")}`,
    ),
    "",
    claim.signedHeaders.join(";"),
    claim.payloadHash,
  ].join("\n");
  const toSign = ["AWS4-HMAC-SHA256", claim.amzDate, scope, sha256(canonical)].join("\n");
  const key = scopedKey(credential, scope);
  const expected = hmac(key, toSign).toString("hex");
  if (!equalText(expected, claim.signature))
    throw s3Error("SignatureDoesNotMatch", "the signature does not fit the request and the secret key");
  return {
    accessKey,
    signingKey: key,
    tenant: credential.tenant,
    access: credential.access,
    scope,
    amzDate: claim.amzDate,
    signature: claim.signature,
    payloadHash: claim.payloadHash,
  };
}

/** A header as it was signed: clients sign and send UTF-8, whose bytes Node reads as characters of Latin-1. */
function signedText(value: string): string {
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : value;
}

/** The host and every x-amz and x-seneschal header must be under the signature: an unsigned one could be anybody's. */
function checkSignedHeaders(signed: readonly string[], headers: SignedRequest["headers"]): void {
  const names = new Set(signed);
  if (names.size !== signed.length || signed.some((n) => n !== n.toLowerCase() || n === ""))
    throw s3Error("AuthorizationHeaderMalformed", "SignedHeaders must be distinct lower-case names");
  if (!names.has("host")) throw s3Error("AccessDenied", "the host header is not signed");
  const unsigned = Object.keys(headers).filter((name) => /^x-(?:amz|seneschal)-/.test(name) && !names.has(name));
  if (unsigned.length > 0)
    throw s3Error("AccessDenied", "There were headers present in the request which were not signed", {
      elements: { HeadersNotSigned: unsigned.sort().join(", ") },
    });
}

/** Path and decoded query pairs of a request target. Throws `InvalidURI`. */
export function splitTarget(target: string): { readonly path: string; readonly query: readonly (readonly [string, string])[] } {
  const at = target.indexOf("?");
  const path = decode(at < 0 ? target : target.slice(0, at), false);
  const raw = at < 0 ? "" : target.slice(at + 1);
  const query = raw
    .split("&")
    .filter((p) => p !== "")
    .map((pair) => {
      const eq = pair.indexOf("=");
      return [decode(eq < 0 ? pair : pair.slice(0, eq), true), eq < 0 ? "" : decode(pair.slice(eq + 1), true)] as const;
    });
  return { path, query };
}

function decode(text: string, plus: boolean): string {
  try {
    return decodeURIComponent(plus ? text.replaceAll("+", " ") : text);
  } catch {
    throw s3Error("InvalidURI", "the URI holds a malformed escape");
  }
}

/** AWS UriEncode: everything but A-Z a-z 0-9 - . _ ~ as %XX. */
export function uriEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function canonicalPath(path: string): string {
  return path.split("/").map(uriEncode).join("/") || "/";
}

function canonicalQuery(query: readonly (readonly [string, string])[]): string {
  return query
    .map(([name, value]) => [uriEncode(name), uriEncode(value)] as const)
    .sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

const keys = new WeakMap<S3Credential, { readonly scope: string; readonly key: Buffer }>();

/** The signing key of a credential, kept for as long as the credential is: a scope lasts a day. */
export function scopedKey(credential: S3Credential, scope: string): Buffer {
  const known = keys.get(credential);
  if (known?.scope === scope) return known.key;
  const key = signingKey(credential.secretKey, scope);
  keys.set(credential, { scope, key });
  return key;
}

/** The key that signs requests and chunks of one scope. */
function signingKey(secretKey: string, scope: string): Buffer {
  return scope.split("/").reduce<Buffer>((key, part) => hmac(key, part), Buffer.from(`AWS4${secretKey}`));
}

export function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

export function equalText(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
