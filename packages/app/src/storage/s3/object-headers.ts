import type { ObjectDoc } from "../documents.ts";
import type { Conditions } from "../objects/put-object.ts";
import { s3Error } from "./errors.ts";

type Headers = Readonly<Record<string, string | undefined>>;

const kept = ["cache-control", "content-disposition", "content-encoding", "content-language", "expires"] as const;
const maxMetaBytes = 2048;

/** What of a PUT's headers becomes part of the object. Refuses what asks for something that is not built. */
export function describeObject(headers: Headers): {
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly meta: Readonly<Record<string, string>>;
} {
  refuseUnbuilt(headers);
  const standard: Record<string, string> = {};
  for (const name of kept) {
    const value = headers[name];
    if (value !== undefined) standard[name] = value;
  }
  const encoding = (standard["content-encoding"] ?? "")
    .split(",")
    .map((e) => e.trim())
    .filter((e) => e !== "" && e !== "aws-chunked");
  if (encoding.length > 0) standard["content-encoding"] = encoding.join(",");
  else delete standard["content-encoding"];
  const meta: Record<string, string> = {};
  let size = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith("x-amz-meta-") || value === undefined) continue;
    meta[name.slice("x-amz-meta-".length)] = value;
    size += name.length - "x-amz-meta-".length + Buffer.byteLength(value, "latin1");
  }
  if (size > maxMetaBytes) throw s3Error("MetadataTooLarge", `user metadata takes at most ${maxMetaBytes} bytes`);
  return { contentType: headers["content-type"] ?? "binary/octet-stream", headers: standard, meta };
}

function refuseUnbuilt(headers: Headers): void {
  const acl = headers["x-amz-acl"];
  if (acl !== undefined && acl !== "private" && acl !== "bucket-owner-full-control")
    throw s3Error("NotImplemented", "only private access is supported, x-amz-acl asks for more");
  const storageClass = headers["x-amz-storage-class"];
  if (storageClass !== undefined && storageClass !== "STANDARD") throw s3Error("InvalidStorageClass", "only STANDARD is offered");
  const encryption = headers["x-amz-server-side-encryption"];
  if (encryption !== undefined && encryption !== "AES256")
    throw s3Error("NotImplemented", "only AES256 is offered; every object has it");
  for (const name of Object.keys(headers))
    if (/^x-amz-(grant-|server-side-encryption-customer|object-lock-|tagging$|website-redirect-location$)/.test(name))
      throw s3Error("NotImplemented", `${name} is not supported`);
}

/** The headers of GET and HEAD. */
export function objectHeaders(object: ObjectDoc, request: Headers): Record<string, string> {
  const headers: Record<string, string> = {
    etag: `"${object.etag}"`,
    "last-modified": new Date(object.modified_at).toUTCString(),
    "accept-ranges": "bytes",
    "content-type": object.content_type,
    "x-amz-server-side-encryption": "AES256",
  };
  for (const [name, value] of Object.entries(object.headers)) {
    if (name.startsWith("x-amz-checksum-") && request["x-amz-checksum-mode"] !== "ENABLED") continue;
    headers[name] = value;
    // Multipart objects have no checksum of the whole; all others are checked as one.
    if (name.startsWith("x-amz-checksum-")) headers["x-amz-checksum-type"] = "FULL_OBJECT";
  }
  for (const [name, value] of Object.entries(object.meta)) headers[`x-amz-meta-${name}`] = value;
  return headers;
}

/** The conditions of a request; `prefix` is `x-amz-copy-source-` for those on the source of a copy. */
export function conditionsOf(headers: Headers, prefix = ""): Conditions {
  const etags = (value: string | undefined) =>
    value === undefined
      ? undefined
      : value.split(",").map((e) =>
          e
            .trim()
            .replace(/^W\//, "")
            .replace(/^"(.*)"$/, "$1"),
        );
  const date = (value: string | undefined) =>
    value === undefined || Number.isNaN(Date.parse(value)) ? undefined : Date.parse(value);
  const ifMatch = etags(headers[`${prefix}if-match`]);
  const ifNoneMatch = etags(headers[`${prefix}if-none-match`]);
  const ifModifiedSince = date(headers[`${prefix}if-modified-since`]);
  const ifUnmodifiedSince = date(headers[`${prefix}if-unmodified-since`]);
  return {
    ...(ifMatch && { ifMatch }),
    ...(ifNoneMatch && { ifNoneMatch }),
    ...(ifModifiedSince !== undefined && { ifModifiedSince }),
    ...(ifUnmodifiedSince !== undefined && { ifUnmodifiedSince }),
  };
}

/** RFC 9110, 13.2.2 for reads: what the conditions make of an object. */
export function judgeRead(object: ObjectDoc, conditions: Conditions): "proceed" | "not_modified" | "failed" {
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions;
  const matches = (list: readonly string[]) => list.includes("*") || list.includes(object.etag);
  // HTTP dates have whole seconds.
  const modified = Math.floor(object.modified_at / 1000) * 1000;
  if (ifMatch !== undefined) {
    if (!matches(ifMatch)) return "failed";
  } else if (ifUnmodifiedSince !== undefined && modified > ifUnmodifiedSince) return "failed";
  if (ifNoneMatch !== undefined) return matches(ifNoneMatch) ? "not_modified" : "proceed";
  return ifModifiedSince !== undefined && modified <= ifModifiedSince ? "not_modified" : "proceed";
}
