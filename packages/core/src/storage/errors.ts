import { CodedError } from "@seneschal/kernel";

/** Who can do something about it: try again later, never, or not you. */
export type StorageErrorClass = "retriable" | "permanent" | "security";

/** gRPC status codes by name (google.rpc.Code). */
export const grpcStatus = {
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type GrpcStatus = keyof typeof grpcStatus;

/** NFSv3 (RFC 1813) error names; `JUKEBOX` asks the client to retry later (NFS4ERR_DELAY in v4). */
export type NfsError = "ENOSPC" | "EDQUOT" | "JUKEBOX" | "EIO" | "ENOENT" | "ESTALE" | "EXDEV" | "ENOTSUP" | "EACCES";

/** What an error looks like on every surface. An absent surface cannot meet this error. */
export interface StorageErrorKind {
  readonly class: StorageErrorClass;
  readonly grpc: GrpcStatus;
  /** Status of the admin HTTP interface. */
  readonly http: number;
  readonly s3?: { readonly status: number; readonly code: string };
  readonly nfs?: NfsError;
  /** Seconds after which a retry makes sense. */
  readonly retryAfter?: number;
}

/** The one taxonomy of the storage node: every gateway maps from it, never from message text. */
export const storageErrors = {
  PoolFull: {
    class: "retriable",
    grpc: "RESOURCE_EXHAUSTED",
    http: 507,
    s3: { status: 507, code: "InsufficientStorage" },
    nfs: "ENOSPC",
  },
  PoolReadOnly: {
    class: "retriable",
    grpc: "UNAVAILABLE",
    http: 503,
    s3: { status: 503, code: "SlowDown" },
    nfs: "JUKEBOX",
    retryAfter: 5,
  },
  MemoryExhausted: {
    class: "retriable",
    grpc: "RESOURCE_EXHAUSTED",
    http: 503,
    s3: { status: 503, code: "SlowDown" },
    nfs: "JUKEBOX",
    retryAfter: 5,
  },
  QuotaExceeded: {
    class: "permanent",
    grpc: "RESOURCE_EXHAUSTED",
    http: 403,
    s3: { status: 403, code: "QuotaExceeded" },
    nfs: "EDQUOT",
  },
  /** Of what is common to all services: a policy that was not decided in its time, a pool of threads with too much under way. */
  service_unavailable: {
    class: "retriable",
    grpc: "UNAVAILABLE",
    http: 503,
    s3: { status: 503, code: "SlowDown" },
    nfs: "JUKEBOX",
    retryAfter: 1,
  },
  ShardUnavailable: {
    class: "retriable",
    grpc: "UNAVAILABLE",
    http: 503,
    s3: { status: 503, code: "ServiceUnavailable" },
    nfs: "JUKEBOX",
    retryAfter: 1,
  },
  QuorumLost: {
    class: "retriable",
    grpc: "UNAVAILABLE",
    http: 503,
    s3: { status: 503, code: "ServiceUnavailable" },
    nfs: "JUKEBOX",
    retryAfter: 5,
  },
  MaintenanceMode: {
    class: "retriable",
    grpc: "UNAVAILABLE",
    http: 503,
    s3: { status: 503, code: "ServiceUnavailable" },
    nfs: "JUKEBOX",
    retryAfter: 5,
  },
  KeyManagerUnavailable: {
    class: "retriable",
    grpc: "UNAVAILABLE",
    http: 503,
    s3: { status: 503, code: "ServiceUnavailable" },
    nfs: "EIO",
    retryAfter: 5,
  },
  TenantKmsUnreachable: {
    class: "retriable",
    grpc: "UNAVAILABLE",
    http: 503,
    s3: { status: 503, code: "ServiceUnavailable" },
    nfs: "EIO",
    retryAfter: 30,
  },
  NotFound: { class: "permanent", grpc: "NOT_FOUND", http: 404, s3: { status: 404, code: "NoSuchKey" }, nfs: "ENOENT" },
  ChunkLost: { class: "permanent", grpc: "DATA_LOSS", http: 500, s3: { status: 500, code: "InternalError" }, nfs: "EIO" },
  DataCorruption: { class: "permanent", grpc: "DATA_LOSS", http: 500, s3: { status: 500, code: "InternalError" }, nfs: "EIO" },
  TenantKmsLost: {
    class: "permanent",
    grpc: "FAILED_PRECONDITION",
    http: 409,
    s3: { status: 403, code: "AccessDenied" },
    nfs: "EIO",
  },
  InvariantViolation: { class: "permanent", grpc: "INTERNAL", http: 500, s3: { status: 500, code: "InternalError" }, nfs: "EIO" },
  ShardSplit: { class: "retriable", grpc: "ABORTED", http: 409, nfs: "ESTALE" },
  CrossShardRename: { class: "permanent", grpc: "FAILED_PRECONDITION", http: 409, nfs: "EXDEV" },
  WritableSharedMapping: { class: "permanent", grpc: "UNIMPLEMENTED", http: 501, nfs: "ENOTSUP" },
  KeyOutOfRange: { class: "retriable", grpc: "OUT_OF_RANGE", http: 409 },
  AuthenticationFailed: {
    class: "security",
    grpc: "UNAUTHENTICATED",
    http: 401,
    s3: { status: 403, code: "AccessDenied" },
    nfs: "EACCES",
  },
  ObjectLocked: {
    class: "security",
    grpc: "PERMISSION_DENIED",
    http: 403,
    s3: { status: 403, code: "AccessDenied" },
    nfs: "EACCES",
  },
  TenantAccessDenied: {
    class: "security",
    grpc: "PERMISSION_DENIED",
    http: 403,
    s3: { status: 403, code: "AccessDenied" },
    nfs: "EACCES",
  },
  ClusterAdminAccessDenied: {
    class: "security",
    grpc: "PERMISSION_DENIED",
    http: 403,
    s3: { status: 403, code: "AccessDenied" },
    nfs: "EACCES",
  },
  CryptoShredComplete: {
    class: "security",
    grpc: "PERMISSION_DENIED",
    http: 403,
    s3: { status: 403, code: "AccessDenied" },
    nfs: "EACCES",
  },
  DeviceNotEvacuated: { class: "permanent", grpc: "FAILED_PRECONDITION", http: 409 },
  DeviceTransitionRefused: { class: "permanent", grpc: "FAILED_PRECONDITION", http: 409 },
  EvacuationRefused: { class: "permanent", grpc: "FAILED_PRECONDITION", http: 409 },
  PoolNotEmpty: { class: "permanent", grpc: "FAILED_PRECONDITION", http: 409 },
  InvalidSetting: { class: "permanent", grpc: "OUT_OF_RANGE", http: 400 },
  AlreadyExists: { class: "permanent", grpc: "ALREADY_EXISTS", http: 409 },
} as const satisfies Readonly<Record<string, StorageErrorKind>>;

export type StorageErrorName = keyof typeof storageErrors;

/**
 * A {@link CodedError} whose code is a name of the taxonomy.
 *
 * @example
 * ```ts
 * import { storageError } from "@seneschal/core/storage";
 * console.log(storageError("NotFound", "there is no such device", { device: "d1" }).code); // NotFound
 * ```
 */
export function storageError(
  name: StorageErrorName,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): CodedError<StorageErrorName> {
  return new CodedError(name, message, details, cause);
}

/**
 * The taxonomy's row for an error, whatever copy of the class it is; `undefined` for anything that is not ours.
 *
 * @example
 * ```ts
 * import { storageError, storageErrorKind } from "@seneschal/core/storage";
 * console.log(storageErrorKind(storageError("PoolFull", "pool fast is full"))?.s3?.status); // 507
 * ```
 */
export function storageErrorKind(error: unknown): (StorageErrorKind & { readonly name: StorageErrorName }) | undefined {
  if (!(error instanceof Error) || error.name !== "CodedError") return undefined;
  const name = (error as CodedError).code as StorageErrorName;
  return Object.hasOwn(storageErrors, name) ? { ...storageErrors[name], name } : undefined;
}
