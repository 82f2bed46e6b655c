import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { s3Error } from "./errors.ts";

/** The parts of a request that are signed, as received. Header names in lower case. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query as on the request line. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** What a valid signature establishes. */
export interface Verified {
  readonly accessKey: string;
  /** Signs the chunks of a streamed payload. */
  readonly signingKey: Uint8Array;
  readonly tenant: string;
  /** `<date>/<region>/s3/aws4_request`. */
  readonly scope: string;
  readonly amzDate: string;
  readonly signature: string;
  /** The declared payload hash, or one of the `UNSIGNED-` and `STREAMING-` words. */
  readonly payloadHash: string;
}

export interface Credential {
  readonly tenant: string;
  readonly secretKey: string;
}

export const emptyHash = createHash("sha256").digest("hex");
const skewMs = 15 * 60_000;
const maxExpires = 7 * 86_400;

/**
 * Verifies AWS Signature Version 4 in its header or presigned query form. Throws `AccessDenied` for an unsigned request,
 * `InvalidAccessKeyId`, `SignatureDoesNotMatch`, `RequestTimeTooSkewed`, `AuthorizationHeaderMalformed` or, presigned,
 * `AuthorizationQueryParametersError`.
 */
export async function verifySignature(
  request: SignedRequest,
  lookUp: (accessKey: string) => Promise<Credential | undefined>,
  now: number,
): Promise<Verified> {
  const { path, query } = splitTarget(request.target);
  const presigned = query.some(([name]) => name === "X-Amz-Algorithm");
  const malformed = presigned ? "AuthorizationQueryParametersError" : "AuthorizationHeaderMalformed";
  const claim = presigned ? presignedClaim(query, now) : headerClaim(request.headers);
  const [accessKey, date, region, service, terminator, ...more] = claim.credential.split("/");
  if (!accessKey || !date || !region || service !== "s3" || terminator !== "aws4_request" || more.length > 0)
    throw s3Error(malformed, "the credential must be <key>/<date>/<region>/s3/aws4_request");
  const at = parseAmzDate(claim.amzDate);
  if (at === undefined || !claim.amzDate.startsWith(date))
    throw s3Error(malformed, "the date of the request and of the credential differ or are malformed");
  if (Math.abs(now - at) > skewMs && !(presigned && at <= now))
    throw s3Error("RequestTimeTooSkewed", "the request time is more than 15 minutes from the server's");
  checkSignedHeaders(claim.signedHeaders, request.headers);

  const credential = await lookUp(accessKey);
  if (credential === undefined) throw s3Error("InvalidAccessKeyId", "the access key does not exist");
  const scope = `${date}/${region}/s3/aws4_request`;
  const canonical = [
    request.method,
    canonicalPath(path),
    canonicalQuery(query.filter(([name]) => name !== "X-Amz-Signature")),
    ...claim.signedHeaders.map((name) => `${name}:${(request.headers[name] ?? "").trim().replace(/ +/g, " ")}`),
    "",
    claim.signedHeaders.join(";"),
    claim.payloadHash,
  ].join("\n");
  const toSign = ["AWS4-HMAC-SHA256", claim.amzDate, scope, sha256(canonical)].join("\n");
  const key = keyOf(credential, scope);
  const expected = hmac(key, toSign).toString("hex");
  if (!equalText(expected, claim.signature))
    throw s3Error("SignatureDoesNotMatch", "the signature does not fit the request and the secret key");
  return {
    accessKey,
    signingKey: key,
    tenant: credential.tenant,
    scope,
    amzDate: claim.amzDate,
    signature: claim.signature,
    payloadHash: claim.payloadHash,
  };
}

interface Claim {
  readonly credential: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly amzDate: string;
  readonly payloadHash: string;
}

function headerClaim(headers: SignedRequest["headers"]): Claim {
  const authorization = headers["authorization"];
  if (authorization === undefined) throw s3Error("AccessDenied", "the request is not signed");
  const fields = /^AWS4-HMAC-SHA256\s+Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/.exec(
    authorization,
  );
  if (fields === null)
    throw s3Error("AuthorizationHeaderMalformed", "expected AWS4-HMAC-SHA256 Credential, SignedHeaders, Signature");
  const payloadHash = headers["x-amz-content-sha256"];
  if (payloadHash === undefined)
    throw s3Error("InvalidRequest", "Missing required header for this request: x-amz-content-sha256");
  const date = headers["x-amz-date"];
  const amzDate = date ?? toAmzDate(Date.parse(headers["date"] ?? ""));
  return {
    credential: fields[1] ?? "",
    signedHeaders: (fields[2] ?? "").split(";"),
    signature: fields[3] ?? "",
    amzDate,
    payloadHash,
  };
}

function presignedClaim(query: readonly (readonly [string, string])[], now: number): Claim {
  const once = (name: string): string => {
    const values = query.filter(([n]) => n === name).map(([, v]) => v);
    if (values.length !== 1 || values[0] === undefined)
      throw s3Error("AuthorizationQueryParametersError", `${name} must be given once`);
    return values[0];
  };
  if (once("X-Amz-Algorithm") !== "AWS4-HMAC-SHA256")
    throw s3Error("AuthorizationQueryParametersError", "unknown X-Amz-Algorithm");
  const expires = Number(once("X-Amz-Expires"));
  if (!Number.isInteger(expires) || expires < 1 || expires > maxExpires)
    throw s3Error("AuthorizationQueryParametersError", "X-Amz-Expires must be 1 to 604800 seconds");
  const amzDate = once("X-Amz-Date");
  if (now > (parseAmzDate(amzDate) ?? 0) + expires * 1000) throw s3Error("AccessDenied", "Request has expired.");
  const hashes = query.filter(([n]) => n === "X-Amz-Content-Sha256").map(([, v]) => v);
  return {
    credential: once("X-Amz-Credential"),
    signedHeaders: once("X-Amz-SignedHeaders").split(";"),
    signature: once("X-Amz-Signature"),
    amzDate,
    payloadHash: hashes[0] ?? "UNSIGNED-PAYLOAD",
  };
}

/** The host and every x-amz header must be under the signature: an unsigned one could be anybody's. */
function checkSignedHeaders(signed: readonly string[], headers: SignedRequest["headers"]): void {
  const names = new Set(signed);
  if (names.size !== signed.length || signed.some((n) => n !== n.toLowerCase() || n === ""))
    throw s3Error("AuthorizationHeaderMalformed", "SignedHeaders must be distinct lower-case names");
  if (!names.has("host")) throw s3Error("AccessDenied", "the host header is not signed");
  for (const name of Object.keys(headers))
    if (name.startsWith("x-amz-") && !names.has(name)) throw s3Error("AccessDenied", `the header ${name} is not signed`);
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

const keys = new WeakMap<Credential, { readonly scope: string; readonly key: Buffer }>();

/** The signing key of a credential, kept for as long as the credential is: a scope lasts a day. */
function keyOf(credential: Credential, scope: string): Buffer {
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

function parseAmzDate(text: string): number | undefined {
  const m = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  const at = m === null ? Number.NaN : Date.parse(`${m[1]}-${m[2]}-${m[3]}T${m[4]}:${m[5]}:${m[6]}Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** `20260101T000000Z`. */
export function toAmzDate(at: number): string {
  return Number.isNaN(at) ? "" : new Date(at).toISOString().replace(/[-:]|\.\d{3}/g, "");
}
