export type { Accounting, RemainingBudget, UsageEvent } from "./accounting.ts";
export type { BlobDevice, BlobDeviceErrorCode, DeviceUsage, DiskRoom } from "./blob-device.ts";
export type { Clock } from "./clock.ts";
export type { Argon2Params, CryptoProvider } from "./crypto-provider.ts";
export type {
  AuditDraft,
  AuditEntry,
  AuditNumber,
  Change,
  Check,
  CollectionSpec,
  Collections,
  Commit,
  CommitResult,
  Del,
  DocumentStore,
  DocumentVersions,
  FailedCondition,
  IndexSpec,
  IndexValue,
  ListOptions,
  Page,
  Put,
  RangeCheck,
  StoreCapabilities,
  Stored,
  StoreErrorCode,
  UniqueViolation,
} from "./document-store.ts";
export type { EntityRecogniser, EntitySpan } from "./entity-recogniser.ts";
export type { Migratable, MigratedRow, Migration, MigrationState } from "./migratable.ts";
export type { Notification, Notifier } from "./notifier.ts";
export {
  type CompiledPolicy,
  checkDecided,
  type FilterAnswer,
  type PolicyAnswer,
  type PolicyEngine,
  type PolicyProblem,
  type PolicySource,
  type PolicyWork,
  type RowCall,
  type RowCondition,
  type RowField,
  type RowValue,
} from "./policy-engine.ts";
export type { Random } from "./random.ts";
export type { RateCounter } from "./rate-counter.ts";
export {
  type AppendResult,
  type LogEntry,
  type LogErrorCode,
  type LogHead,
  type LogSnapshot,
  type LogStatus,
  maxArchiveBytes,
  type ReplicatedLog,
} from "./replicated-log.ts";
export type { BatchItem, TransitKeyInfo, Vault, VaultErrorCode } from "./vault.ts";
export type { WorkerPool, WorkerPoolErrorCode, WorkerPoolState } from "./worker-pool.ts";
