import { CodedError, checkArgument } from "@seneschal/kernel";
import type { Bucket } from "./records.ts";

/** Failures that only an object gateway meets; an S3 server answers them under these names. */
export type ObjectErrorCode =
  | "NoSuchBucket"
  | "NoSuchUpload"
  | "BucketNotEmpty"
  | "BucketAlreadyExists"
  | "BucketAlreadyOwnedByYou"
  | "InvalidBucketName"
  | "InvalidPart"
  | "InvalidPartOrder"
  | "EntityTooSmall"
  | "PreconditionFailed"
  | "NotModified"
  | "KeyTooLongError"
  | "InvalidArgument"
  | "InvalidBucketState"
  | "InvalidRequest"
  | "MethodNotAllowed"
  | "NoSuchVersion"
  | "OperationAborted";

/**
 * A failure of an object store under its name.
 *
 * @example
 * ```ts
 * import { objectError } from "@seneschal/core/storage";
 * console.log(objectError("NoSuchUpload", "it is gone").code); // NoSuchUpload
 * ```
 */
export function objectError(
  code: ObjectErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): CodedError<ObjectErrorCode> {
  return new CodedError(code, message, details);
}

/**
 * Throws `InvalidRequest` for a bucket that has no object lock.
 *
 * @example
 * ```ts
 * import { needLock } from "@seneschal/core/storage";
 * const bucket = { name: "docs", tenant: "acme", created_at: 0, region: "eu", deleting: false };
 * needLock({ ...bucket, object_lock: {} });
 * try {
 *   needLock(bucket);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // InvalidRequest
 * }
 * ```
 */
export function needLock(bucket: Bucket, reason = "Bucket is missing Object Lock Configuration"): void {
  checkArgument("bucket", bucket, "object");
  if (bucket.object_lock === undefined) throw objectError("InvalidRequest", reason, { bucket: bucket.name });
}
