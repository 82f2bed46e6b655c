import { storageErrorKind } from "@seneschal/core/storage";
import { CodedError, isCoded } from "@seneschal/kernel";

/** S3 error codes that the gateway itself answers, with their statuses (Amazon S3 API reference, Error responses). */
const s3Codes = {
  AccessControlListNotSupported: 400,
  AccessDenied: 403,
  AccessForbidden: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BadDigest: 400,
  BadRequest: 400,
  BucketAlreadyExists: 409,
  BucketAlreadyOwnedByYou: 409,
  BucketNotEmpty: 409,
  EntityTooLarge: 400,
  EntityTooSmall: 400,
  IncompleteBody: 400,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidBucketAclWithObjectOwnership: 400,
  InvalidBucketState: 409,
  InvalidChunkSizeError: 400,
  InvalidBucketName: 400,
  InvalidDigest: 400,
  InvalidEncryptionAlgorithmError: 400,
  InvalidLocationConstraint: 400,
  InvalidPart: 400,
  InvalidPartNumber: 416,
  InvalidPartOrder: 400,
  InvalidPolicyDocument: 400,
  InvalidRange: 416,
  InvalidRedirectLocation: 400,
  InvalidRequest: 400,
  InvalidRetentionPeriod: 400,
  InvalidStorageClass: 400,
  InvalidTag: 400,
  InvalidTargetBucketForLogging: 400,
  InvalidToken: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  "KMS.NotFoundException": 400,
  MalformedACLError: 400,
  MalformedPolicy: 400,
  MalformedPOSTRequest: 400,
  MalformedTrailerError: 400,
  MalformedXML: 400,
  MaxPostPreDataLengthExceededError: 400,
  MetadataTooLarge: 400,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  MissingSecurityHeader: 400,
  NoSuchBucket: 404,
  NoSuchBucketPolicy: 404,
  NoSuchCORSConfiguration: 404,
  NoSuchKey: 404,
  NoSuchLifecycleConfiguration: 404,
  NoSuchObjectLockConfiguration: 404,
  NoSuchPublicAccessBlockConfiguration: 404,
  NoSuchTagSet: 404,
  NoSuchUpload: 404,
  NoSuchVersion: 404,
  NoSuchWebsiteConfiguration: 404,
  NotImplemented: 501,
  ObjectLockConfigurationNotFoundError: 404,
  OperationAborted: 409,
  PreconditionFailed: 412,
  ReplicationConfigurationNotFoundError: 404,
  RequestTimeout: 400,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  XAmzContentSHA256Mismatch: 400,
} as const;

export type S3Code = keyof typeof s3Codes;

/**
 * What S3 says under codes that have one meaning (Amazon S3 API reference, Error responses): clients and their tests read it.
 * What this gateway knows beyond that goes beside it.
 */
const documented: Readonly<Record<string, string>> = {
  AccessControlListNotSupported: "The bucket does not allow ACLs",
  BucketAlreadyExists:
    "The requested bucket name is not available. The bucket name can not be an existing collection, and the bucket namespace is shared by all users of the system. Please select a different name and try again.",
  BucketAlreadyOwnedByYou: "Your previous request to create the named bucket succeeded and you already own it.",
  BucketNotEmpty: "The bucket you tried to delete is not empty.",
  EntityTooLarge: "Your proposed upload exceeds the maximum allowed object size.",
  EntityTooSmall: "Your proposed upload is smaller than the minimum allowed size",
  IncompleteBody: "You did not provide the number of bytes specified by the Content-Length HTTP header",
  InternalError: "We encountered an internal error, please try again.",
  InvalidAccessKeyId: "The AWS Access Key Id you provided does not exist in our records.",
  InvalidBucketAclWithObjectOwnership: "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting",
  InvalidBucketName: "The specified bucket is not valid.",
  InvalidDigest: "The Content-Md5 you specified is not valid.",
  InvalidLocationConstraint: "The specified location-constraint is not valid",
  InvalidPart:
    "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
  InvalidPartNumber: "The requested partnumber is not satisfiable.",
  InvalidPartOrder: "The list of parts was not in ascending order. Parts must be ordered by part number.",
  InvalidRange: "The requested range is not satisfiable",
  InvalidStorageClass: "The storage class you specified is not valid",
  InvalidTargetBucketForLogging:
    "The target bucket for logging does not exist, is not owned by you, or does not have the appropriate grants for the log-delivery group.",
  InvalidURI: "The specified URI couldn't be parsed.",
  KeyTooLongError: "Your key is too long.",
  MalformedTrailerError:
    "The request contained trailing data that was not well-formed or did not conform to our published schema.",
  MalformedXML: "The XML you provided was not well-formed or did not validate against our published schema.",
  MetadataTooLarge: "Your metadata headers exceed the maximum allowed metadata size",
  MethodNotAllowed: "The specified method is not allowed against this resource.",
  MissingContentLength: "You must provide the Content-Length HTTP header.",
  NoSuchBucket: "The specified bucket does not exist.",
  NoSuchBucketPolicy: "The bucket policy does not exist.",
  NoSuchCORSConfiguration: "The CORS configuration does not exist",
  NoSuchKey: "The specified key does not exist.",
  NoSuchLifecycleConfiguration: "The lifecycle configuration does not exist",
  NoSuchObjectLockConfiguration: "The specified object does not have a ObjectLock configuration",
  NoSuchPublicAccessBlockConfiguration: "The public access block configuration was not found",
  NoSuchTagSet: "The TagSet does not exist.",
  NoSuchUpload:
    "The specified multipart upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.",
  NoSuchVersion: "The specified version does not exist.",
  NoSuchWebsiteConfiguration: "The specified bucket does not have a website configuration",
  ObjectLockConfigurationNotFoundError: "Object Lock configuration does not exist for this bucket",
  PreconditionFailed: "At least one of the pre-conditions you specified did not hold.",
  ReplicationConfigurationNotFoundError: "The replication configuration was not found",
  RequestTimeout: "Your socket connection to the server was not read from or written to within the timeout period.",
  RequestTimeTooSkewed: "The difference between the request time and the current time is too large.",
  SignatureDoesNotMatch:
    "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
  XAmzContentSHA256Mismatch: "The provided 'x-amz-content-sha256' header does not match what was computed.",
};

/**
 * A failure under its S3 name. `details.said`: what S3 says in this situation, where its code has several meanings; `details.elements`: more
 * that S3 puts into its answer.
 */
export function s3Error(code: S3Code, message: string, details: Readonly<Record<string, unknown>> = {}): CodedError<S3Code> {
  return new CodedError(code, message, details);
}

/** What leaves the gateway. `ours`: log it. */
export interface S3Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** What is known beyond what the code says. */
  readonly detail?: string;
  /** Further elements of the answer. */
  readonly elements?: Readonly<Record<string, string>>;
  /** Headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly retryAfter?: number;
  readonly ours: boolean;
}

/** Maps a failure by its code, never by its text; what is not known is an opaque InternalError. */
export function s3Failure(error: unknown): S3Failure {
  if (isCoded(error) && Object.hasOwn(s3Codes, error.code)) {
    const status = s3Codes[error.code as S3Code];
    const { wire, elements } = error.details as { readonly wire?: string; readonly elements?: Record<string, string> };
    const more = { ...(elements && { elements }), ...headersOf(error) };
    return { status, code: error.code, ...wording(error.code, error.message, wire), ...more, ours: status === 500 };
  }
  const kind = storageErrorKind(error);
  if (kind?.s3 !== undefined && error instanceof Error)
    return {
      ...kind.s3,
      ...headersOf(error),
      ...(kind.s3.status === 500
        ? { message: unreadable[kind.name] ?? "the object cannot be read", elements: { Reason: kind.name } }
        : wording(kind.s3.code, error.message)),
      // A full budget is seen in the metrics: one line for each client of a rush would be another.
      ours: kind.s3.status >= 500 && kind.name !== "MemoryExhausted",
      ...(kind.s3.status === 503 ? { retryAfter: kind.retryAfter ?? 5 } : {}),
    };
  return { status: 500, code: "InternalError", ...wording("InternalError"), ours: true };
}

/** Headers that a failure brings: of a delete marker that is met. */
function headersOf(error: unknown): Pick<S3Failure, "headers"> {
  const headers = isCoded(error) ? (error.details["headers"] as Record<string, string> | undefined) : undefined;
  return headers === undefined ? {} : { headers };
}

/** What a client is told of a failure that a repetition does not end: nothing of the place, but that it lasts. */
const unreadable: Readonly<Record<string, string>> = {
  ChunkLost: "Data of the object is lost: fewer fragments are left than it is made of. A repetition gives the same answer.",
  DataCorruption: "Data of the object is damaged beyond repair. A repetition gives the same answer.",
  TenantKmsLost: "The key of the tenant does not exist any more at its key service. A repetition gives the same answer.",
};

function wording(code: string, own?: string, wire = documented[code]): Pick<S3Failure, "message" | "detail"> {
  if (wire === undefined) return { message: own ?? code };
  return own === undefined || own === wire ? { message: wire } : { message: wire, detail: own };
}
