import { CodedError, isCoded } from "@seneschal/core";
import { storageErrorKind } from "@seneschal/core/storage";

/** S3 error codes that the gateway itself answers, with their statuses (Amazon S3 API reference, Error responses). */
const s3Codes = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BadDigest: 400,
  BucketAlreadyExists: 409,
  BucketNotEmpty: 409,
  EntityTooLarge: 400,
  EntityTooSmall: 400,
  IncompleteBody: 400,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidBucketName: 400,
  InvalidDigest: 400,
  InvalidPart: 400,
  InvalidPartNumber: 416,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidStorageClass: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MalformedXML: 400,
  MetadataTooLarge: 400,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  NoSuchBucket: 404,
  NoSuchBucketPolicy: 404,
  NoSuchCORSConfiguration: 404,
  NoSuchKey: 404,
  NoSuchLifecycleConfiguration: 404,
  NoSuchTagSet: 404,
  NoSuchUpload: 404,
  NotImplemented: 501,
  OperationAborted: 409,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  XAmzContentSHA256Mismatch: 400,
} as const;

export type S3Code = keyof typeof s3Codes;

/** A failure under its S3 name. */
export function s3Error(code: S3Code, message: string, details: Readonly<Record<string, unknown>> = {}): CodedError<S3Code> {
  return new CodedError(code, message, details);
}

/** What leaves the gateway. `ours`: log it. */
export interface S3Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfter?: number;
  readonly ours: boolean;
}

/** Maps a failure by its code, never by its text; what is not known is an opaque InternalError. */
export function s3Failure(error: unknown): S3Failure {
  if (isCoded(error) && Object.hasOwn(s3Codes, error.code)) {
    const status = s3Codes[error.code as S3Code];
    return { status, code: error.code, message: error.message, ours: status === 500 };
  }
  const kind = storageErrorKind(error);
  if (kind?.s3 !== undefined && error instanceof Error)
    return {
      ...kind.s3,
      message: kind.s3.status === 500 ? "the object cannot be read" : error.message,
      ours: kind.s3.status >= 500,
      ...(kind.retryAfter === undefined ? {} : { retryAfter: kind.retryAfter }),
    };
  return { status: 500, code: "InternalError", message: "internal error", ours: true };
}
