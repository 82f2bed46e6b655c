import { createHmac } from "node:crypto";
import type { S3Credential } from "@seneschal/core/storage";
import { s3Error } from "./errors.ts";
import { replicaHeader } from "./replication.ts";
import { equalText, type SignedRequest, splitTarget, type Verified } from "./sigv4.ts";

/** Query names that Signature Version 2 covers; whatever else a query says, anybody may have added. */
const covered = [
  ...["acl", "cors", "delete", "lifecycle", "location", "logging", "notification", "object-lock", "partNumber", "policy"],
  ...["replication", "requestPayment", "restore", "tagging", "torrent", "uploadId", "uploads", "versionId", "versioning"],
  ...["versions", "website"],
  ...["cache-control", "content-disposition", "content-encoding", "content-language", "content-type", "expires"].map(
    (name) => `response-${name}`,
  ),
];
/** Names that only say which page of what: they may be added without changing what is asked for. */
const harmless = [
  ...[
    "prefix",
    "delimiter",
    "marker",
    "max-keys",
    "encoding-type",
    "list-type",
    "continuation-token",
    "start-after",
    "fetch-owner",
  ],
  ...["key-marker", "version-id-marker", "upload-id-marker", "max-uploads", "max-parts", "part-number-marker", "x-id"],
];
/** What a presigned URL is signed by. */
const own = ["AWSAccessKeyId", "Signature", "Expires"];
const skewMs = 15 * 60_000;

/** True for a request that is signed so, in its header or its query. */
export function isSignedV2({ headers }: Pick<SignedRequest, "headers">, query: readonly (readonly [string, string])[]): boolean {
  return /^AWS(?:\s|$)/.test(headers["authorization"] ?? "") || query.some(([name]) => name === "AWSAccessKeyId");
}

/**
 * Verifies AWS Signature Version 2, header or presigned. It is HMAC-SHA1 and covers no payload: off unless it is asked for. Throws
 * `AccessDenied` also for query names that it does not cover.
 */
export async function verifySignatureV2(
  request: SignedRequest,
  lookUp: (accessKey: string) => Promise<S3Credential | undefined>,
  now: number,
): Promise<Verified> {
  const { headers, target, method } = request;
  const { query } = splitTarget(target);
  const given = new Map(query);
  const presigned = given.has("AWSAccessKeyId");
  const [, headerKey, headerSignature] = /^AWS ([^\s:]+):(\S+)$/.exec(headers["authorization"] ?? "") ?? [];
  const accessKey = presigned ? given.get("AWSAccessKeyId") : headerKey;
  const signature = presigned ? given.get("Signature") : headerSignature;
  if (!accessKey || !signature)
    throw s3Error("InvalidArgument", "AWS authorization header is invalid.  Expected AwsAccessKeyId:signature", {
      elements: { ArgumentName: "Authorization" },
    });
  for (const [name] of query)
    if (![...covered, ...harmless, ...(presigned ? own : [])].includes(name))
      throw s3Error(
        "AccessDenied",
        `Signature Version 2 does not cover the query parameter ${JSON.stringify(name)}: use Version 4`,
      );
  const expires = given.get("Expires") ?? "";
  if (presigned) {
    if (!/^\d{1,12}$/.test(expires)) throw s3Error("AccessDenied", "Invalid date (should be seconds since epoch)");
    if (now > Number(expires) * 1000) throw s3Error("AccessDenied", "Request has expired.");
  } else {
    const at = Date.parse(headers["x-amz-date"] ?? headers["date"] ?? "");
    if (Number.isNaN(at) || at < 0)
      throw s3Error("AccessDenied", "AWS authentication requires a valid Date or x-amz-date header");
    if (Math.abs(now - at) > skewMs)
      throw s3Error("RequestTimeTooSkewed", "the request time is more than 15 minutes from the server's");
  }
  const credential = await lookUp(accessKey);
  if (credential === undefined)
    throw s3Error("InvalidAccessKeyId", "the access key does not exist", { elements: { AWSAccessKeyId: accessKey } });
  if (headers[replicaHeader] !== undefined)
    throw s3Error("AccessDenied", `Signature Version 2 does not cover the header ${replicaHeader}: use Version 4`);
  const amz = Object.entries(headers)
    .filter(([name, value]) => name.startsWith("x-amz-") && value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}:${value?.trim()}\n`);
  const named = query
    .filter(([name]) => covered.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => (value === "" ? name : `${name}=${value}`));
  const date = presigned ? expires : headers["x-amz-date"] === undefined ? (headers["date"] ?? "") : "";
  const [pathname = "/"] = target.split("?");
  const path = request.hosted === undefined ? pathname : `/${request.hosted}${pathname}`;
  const signs = (resource: string): string => {
    const tail = `${amz.join("")}${resource}${named.length === 0 ? "" : `?${named.join("&")}`}`;
    const text = [method, headers["content-md5"] ?? "", headers["content-type"] ?? "", date, tail].join("\n");
    return createHmac("sha1", credential.secretKey).update(text).digest("base64");
  };
  // The resource of a bucket ends in a slash, whether its path does or not.
  const resources = /^\/[^/]+$/.test(path) ? [path, `${path}/`] : [path];
  if (!resources.some((resource) => equalText(signs(resource), signature)))
    throw s3Error("SignatureDoesNotMatch", "the signature does not fit the request and the secret key");
  return { ...unsignedPayload(headers), accessKey, tenant: credential.tenant, access: credential.access };
}

/** The query without what a presigned URL of Version 2 is signed by. */
export function withoutSignatureV2(query: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return query.some(([name]) => name === "AWSAccessKeyId") ? query.filter(([name]) => !own.includes(name)) : query;
}

/** What is known of a payload that no signature covers. Throws `AccessDenied` for one whose chunks claim to be signed. */
export function unsignedPayload(headers: SignedRequest["headers"]): Omit<Verified, "accessKey" | "tenant" | "access"> {
  const declared = headers["x-amz-content-sha256"] ?? "UNSIGNED-PAYLOAD";
  if (declared.startsWith("STREAMING-") && declared !== "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
    throw s3Error("AccessDenied", "chunks are signed by Version 4 alone");
  const known = declared.startsWith("STREAMING-") || /^[0-9a-f]{64}$/.test(declared);
  return {
    signingKey: new Uint8Array(),
    scope: "",
    amzDate: "",
    signature: "",
    payloadHash: known ? declared : "UNSIGNED-PAYLOAD",
  };
}
