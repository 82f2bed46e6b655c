import type { Conditions, DeleteConditions, ObjectVersion } from "@seneschal/core/storage";
import { refuseAcl } from "./acl-headers.ts";
import type { S3Call } from "./call.ts";
import { checksumType } from "./checksums.ts";
import { s3Error } from "./errors.ts";

type Headers = Readonly<Record<string, string | undefined>>;

const kept = ["cache-control", "content-disposition", "content-encoding", "content-language", "expires"] as const;
const maxMetaBytes = 2048;
/** Where the website of a bucket sends those who ask for this object. */
export const redirectHeader = "x-amz-website-redirect-location";
const maxRedirectBytes = 2048;

/** What of a PUT's headers becomes part of the object. Refuses what asks for another access or storage than there is. */
export function describeObject({ headers, tenant }: S3Call): {
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly meta: Readonly<Record<string, string>>;
} {
  refuseAcl(headers, tenant);
  const storageClass = headers["x-amz-storage-class"];
  if (storageClass !== undefined && storageClass !== "STANDARD") throw s3Error("InvalidStorageClass", "only STANDARD is offered");
  const standard: Record<string, string> = {};
  for (const name of kept) {
    const value = headers[name];
    if (value !== undefined) standard[name] = value;
  }
  const redirect = headers[redirectHeader];
  if (redirect !== undefined) {
    if (!/^(?:\/|https?:\/\/)/.test(redirect) || Buffer.byteLength(redirect, "latin1") > maxRedirectBytes)
      throw s3Error(
        "InvalidRedirectLocation",
        `a redirect begins with /, http:// or https:// and has at most ${maxRedirectBytes} bytes`,
        {
          wire: "The website redirect location must have a prefix of 'http://' or 'https://' or '/'.",
        },
      );
    standard[redirectHeader] = redirect;
  }
  const encoding = (standard["content-encoding"] ?? "")
    .split(",")
    .map((e) => e.trim())
    .filter((e) => e !== "" && e !== "aws-chunked");
  if (encoding.length > 0) standard["content-encoding"] = encoding.join(", ");
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

/** The headers of GET and HEAD. */
export function objectHeaders(object: ObjectVersion, request: Headers): Record<string, string> {
  const headers: Record<string, string> = {
    etag: `"${object.etag}"`,
    "last-modified": new Date(object.modified_at).toUTCString(),
    "accept-ranges": "bytes",
    "content-type": object.content_type,
    "x-amz-storage-class": "STANDARD",
  };
  for (const [name, value] of Object.entries(object.headers)) {
    if (name.startsWith("x-amz-checksum-") && request["x-amz-checksum-mode"] !== "ENABLED") continue;
    headers[name] = value;
    if (name.startsWith("x-amz-checksum-")) headers["x-amz-checksum-type"] = checksumType(value);
  }
  for (const [name, value] of Object.entries(object.meta)) headers[`x-amz-meta-${name}`] = value;
  return headers;
}

/** The conditions of a request; `prefix` is `x-amz-copy-source-` for those on the source of a copy. */
export function conditionsOf(headers: Headers, prefix = ""): Conditions {
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

function etags(value: string | undefined): readonly string[] | undefined {
  return value?.split(",").map((e) =>
    e
      .trim()
      .replace(/^W\//, "")
      .replace(/^"(.*)"$/, "$1"),
  );
}

/** What a deletion demands of the object, as the header or the XML has it. Throws `InvalidArgument`. */
export function deleteConditions(asked: {
  readonly etag: string | undefined;
  readonly size: string | undefined;
  readonly modified: string | undefined;
}): DeleteConditions {
  const ifMatch = etags(asked.etag);
  const size = asked.size === undefined ? undefined : Number(asked.size);
  const modifiedAt = asked.modified === undefined ? undefined : Date.parse(asked.modified);
  if (size !== undefined && !/^\d+$/.test(asked.size ?? ""))
    throw s3Error("InvalidArgument", "the size to match is not a number");
  if (modifiedAt !== undefined && Number.isNaN(modifiedAt)) throw s3Error("InvalidArgument", "the time to match is not a time");
  return {
    ...(ifMatch && { ifMatch }),
    ...(size !== undefined && { size }),
    ...(modifiedAt !== undefined && { modifiedAt }),
  };
}

/** RFC 9110, 13.1.5: a range is of the object that the client knows, else the whole is sent. */
export function rangeHolds(object: ObjectVersion, ifRange: string | undefined): boolean {
  if (ifRange === undefined) return true;
  if (ifRange.startsWith('"')) return ifRange === `"${object.etag}"`;
  return Date.parse(ifRange) === Math.floor(object.modified_at / 1000) * 1000;
}

/** RFC 9110, 13.2.2 for reads: what the conditions make of an object. */
export function judgeRead(object: ObjectVersion, conditions: Conditions): "proceed" | "not_modified" | "failed" {
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
