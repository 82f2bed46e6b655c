import { type ErrorTable, errorTable } from "../error-table.ts";
import { usualSituations } from "../usual-situations.ts";

/** Wire code to status: the catalogue of the storage node's admin interface. */
export const storageCodes = {
  VALIDATION_ERROR: 400,
  INVALID_SETTING: 400,
  AUTHENTICATION_REQUIRED: 401,
  FORBIDDEN: 403,
  CRYPTO_SHRED_COMPLETE: 403,
  RESOURCE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  REPLY_NOT_KEPT: 409,
  DEVICE_NOT_EVACUATED: 409,
  FAILED_PRECONDITION: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
  RATE_LIMIT_EXCEEDED: 429,
  INTERNAL_ERROR: 500,
  DATA_LOSS: 500,
  SERVICE_UNAVAILABLE: 503,
  MAINTENANCE_MODE: 503,
  KEY_MANAGER_UNAVAILABLE: 503,
  TENANT_KMS_UNREACHABLE: 503,
  BACKUP_CORRUPT: 500,
  BACKUP_NOT_CONFIGURED: 503,
  POOL_FULL: 507,
} as const satisfies Readonly<Record<string, number>>;

/** Codes that few operations give. */
const only = {
  INVALID_SETTING: ["setThresholds", "setTuning", "addDevice", "createPool"],
  DEVICE_NOT_EVACUATED: ["removeDevice", "evictNode"],
  BACKUP_CORRUPT: ["restoreBackup"],
  BACKUP_NOT_CONFIGURED: ["startBackup", "listBackups", "restoreBackup"],
};

/** The only place where the storage node's failures meet admin HTTP. */
export const storageHttpErrors: ErrorTable = errorTable(
  storageCodes,
  {
    ...usualSituations,
    NotFound: "RESOURCE_NOT_FOUND",
    AlreadyExists: "CONFLICT",
    InvalidSetting: "INVALID_SETTING",
    DeviceNotEvacuated: "DEVICE_NOT_EVACUATED",
    DeviceTransitionRefused: "FAILED_PRECONDITION",
    EvacuationRefused: "FAILED_PRECONDITION",
    PoolNotEmpty: "FAILED_PRECONDITION",
    directory_not_allowed: "FORBIDDEN",
    directory_in_use: "CONFLICT",
    device_mismatch: "CONFLICT",
    device_unavailable: "SERVICE_UNAVAILABLE",
    BackupNotConfigured: "BACKUP_NOT_CONFIGURED",
    backup_corrupt: "BACKUP_CORRUPT",
    backup_keys_missing: "FAILED_PRECONDITION",
    restore_not_empty: "CONFLICT",
    AuthenticationFailed: "AUTHENTICATION_REQUIRED",
    ClusterAdminAccessDenied: "FORBIDDEN",
    TenantAccessDenied: "FORBIDDEN",
    CryptoShredComplete: "CRYPTO_SHRED_COMPLETE",
    MaintenanceMode: "MAINTENANCE_MODE",
    KeyManagerUnavailable: "KEY_MANAGER_UNAVAILABLE",
    TenantKmsUnreachable: "TENANT_KMS_UNREACHABLE",
    TenantKmsLost: "FAILED_PRECONDITION",
    ChunkLost: "DATA_LOSS",
    DataCorruption: "DATA_LOSS",
    ShardUnavailable: "SERVICE_UNAVAILABLE",
    QuorumLost: "SERVICE_UNAVAILABLE",
    PoolFull: "POOL_FULL",
    MemoryExhausted: "SERVICE_UNAVAILABLE",
    outcome_unknown: "SERVICE_UNAVAILABLE",
    store_failed: "SERVICE_UNAVAILABLE",
  },
  only,
);
