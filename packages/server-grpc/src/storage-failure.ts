import { type GrpcErrorCode, grpcStatus, type ObjectErrorCode, storageErrorKind } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { BlobDeviceErrorCode } from "@seneschal/kernel/ports";

const CANCELLED = 1;
const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;

/** Failures that the data path has beside the taxonomy, with their gRPC status. */
const own = {
  Cancelled: CANCELLED,
  RequestTimeout: DEADLINE_EXCEEDED,
  NoSuchBucket: grpcStatus.NOT_FOUND,
  NoSuchUpload: grpcStatus.NOT_FOUND,
  BucketNotEmpty: grpcStatus.FAILED_PRECONDITION,
  BucketAlreadyExists: grpcStatus.ALREADY_EXISTS,
  BucketAlreadyOwnedByYou: grpcStatus.ALREADY_EXISTS,
  InvalidBucketName: INVALID_ARGUMENT,
  InvalidPart: INVALID_ARGUMENT,
  InvalidPartOrder: INVALID_ARGUMENT,
  EntityTooSmall: INVALID_ARGUMENT,
  EntityTooLarge: INVALID_ARGUMENT,
  IncompleteBody: INVALID_ARGUMENT,
  InvalidRange: grpcStatus.OUT_OF_RANGE,
  PreconditionFailed: grpcStatus.FAILED_PRECONDITION,
  NotModified: grpcStatus.FAILED_PRECONDITION,
  KeyTooLongError: INVALID_ARGUMENT,
  InvalidArgument: INVALID_ARGUMENT,
  InvalidRequest: INVALID_ARGUMENT,
  InvalidBucketState: grpcStatus.FAILED_PRECONDITION,
  MethodNotAllowed: grpcStatus.FAILED_PRECONDITION,
  NoSuchVersion: grpcStatus.NOT_FOUND,
  OperationAborted: grpcStatus.ABORTED,
  extent_corrupt: grpcStatus.DATA_LOSS,
  extent_exists: grpcStatus.ALREADY_EXISTS,
  device_unavailable: grpcStatus.UNAVAILABLE,
  device_full: grpcStatus.RESOURCE_EXHAUSTED,
  device_mismatch: grpcStatus.FAILED_PRECONDITION,
  invalid_extent_name: INVALID_ARGUMENT,
  directory_not_allowed: grpcStatus.PERMISSION_DENIED,
  directory_in_use: grpcStatus.ALREADY_EXISTS,
} as const satisfies Readonly<Record<GrpcErrorCode | ObjectErrorCode | BlobDeviceErrorCode, number>> &
  Readonly<Record<string, number>>;

/** What a failure looks like on the wire: the gRPC status, its text, the trailers. */
export interface StorageFailure {
  readonly code: number;
  readonly message: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** It should be looked at. */
  readonly ours: boolean;
}

/** A failure as it leaves the node: mapped by its code, never by its text. */
export function storageFailure(error: unknown): StorageFailure {
  const kind = storageErrorKind(error);
  if (kind !== undefined && error instanceof Error) {
    const code = grpcStatus[kind.grpc];
    const lost = code === grpcStatus.INTERNAL || code === grpcStatus.DATA_LOSS;
    return {
      code,
      // Which chunk on which device is the operator's affair.
      message: lost ? "the object cannot be read" : error.message,
      ours: lost || code === grpcStatus.UNAVAILABLE,
      metadata: {
        "error-reason": kind.name,
        "error-retriable": String(kind.class === "retriable"),
        ...(kind.retryAfter === undefined ? {} : { "error-retry-after": String(kind.retryAfter) }),
      },
    };
  }
  if (isCoded(error) && Object.hasOwn(own, error.code))
    return {
      code: own[error.code as keyof typeof own],
      message: error.message,
      ours: false,
      metadata: { "error-reason": error.code, "error-retriable": String(error.code === "OperationAborted") },
    };
  return {
    code: grpcStatus.INTERNAL,
    message: "internal error",
    ours: true,
    metadata: { "error-reason": "Internal", "error-retriable": "false" },
  };
}
