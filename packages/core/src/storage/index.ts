export {
  type AccessRecord,
  accessLogLimits,
  accessLogLine,
  type BucketLogging,
  keepsLine,
  type LogDelivery,
  type LogKeyFormat,
  logBatch,
  loggingService,
  logObjectKey,
  maxLogDeliveries,
  shownReferrer,
  shownTarget,
} from "./access-log.ts";
export {
  type AwaitedCopies,
  awaitAgain,
  awaitCopies,
  awaitDescriptions,
  awaitExistingVersion,
  type CopyingBucket,
  rulesOfExisting,
  settleCopy,
  type WaitingCopy,
} from "./awaited-copies.ts";
export { type BucketQuota, type BucketUsage, checkBucketQuota, spaceOf } from "./bucket-quota.ts";
export {
  addUsage,
  type CountedUsage,
  countOn,
  nothingCounted,
  type PlacedVersion,
  type UsageChange,
  usageAfter,
  usageOf,
} from "./bucket-usage.ts";
export { clusterEvents } from "./cluster/audit.ts";
export {
  devicesToEmpty,
  drainNode,
  evacuateDevice,
  evictNode,
  failedDevices,
  keepDevice,
  keepDevices,
  keepNode,
  removeDevice,
  removeFailed,
  removePool,
} from "./cluster/leave.ts";
export {
  type ClusterLog,
  type ClusterProposal,
  type ClusterRecord,
  type ClusterVerdict,
  clusterMachine,
  journalLength,
} from "./cluster/machine.ts";
export {
  type ClusterNode,
  type ClusterState,
  type DevicesSeen,
  durabilityOf,
  emptyCluster,
  isReadOnly,
  judgeLeave,
  type NodeState,
  nodeShare,
  type Pool,
  takesWrites,
  tooFewDevices,
} from "./cluster/state.ts";
export { type ClusterCommand, type ClusterStep, stepCluster } from "./cluster/step.ts";
export { type CorsQuestion, type CorsRule, corsRuleFor } from "./cors.ts";
export { type Overcommitment, overcommitted, type PlacedDevice } from "./device/capacity.ts";
export { afterVerdict, type SmartFlag, type SmartVerdict, smartLimits, smartVerdict } from "./device/smart.ts";
export {
  canTransition,
  type DeviceEvent,
  type DeviceStep,
  type DeviceTransition,
  readingWorsened,
  stepDevice,
} from "./device/step.ts";
export {
  type Device,
  type DeviceClass,
  type DeviceState,
  deviceClasses,
  deviceStates,
  type SmartReading,
} from "./device/types.ts";
export {
  type GrpcStatus,
  grpcStatus,
  type NfsError,
  type StorageErrorClass,
  type StorageErrorKind,
  type StorageErrorName,
  storageError,
  storageErrorKind,
  storageErrors,
} from "./errors.ts";
export {
  beginsWith,
  type ExportedAs,
  type FileContent,
  fileAttributes,
  type KeptAttributes,
  type KnownFile,
  keptAfter,
  type SetTime,
  toFileTime,
  touched,
} from "./files/attributes.ts";
export {
  asFileFailure,
  checkDirectoryRename,
  checkEmpty,
  checkOutside,
  checkReplaced,
  checkResize,
  checkSameExport,
  checkTaken,
  checkTransfer,
  exportAt,
  keysWithin,
  maxFileSize,
  maxRenamedKeys,
  movedKey,
} from "./files/changes.ts";
export { type FileErrorCode, fileError } from "./files/file-errors.ts";
export type {
  Creation,
  DirectoryEntry,
  DirectoryPage,
  ExportEntry,
  FileAttributes,
  FileCaller,
  FileChange,
  FileKind,
  FileService,
  FileSettings,
  FileSystemSpace,
  FileTime,
  FoundFile,
  FullEntry,
  MadeFile,
} from "./files/file-service.ts";
export { checkHandleShard, decodeHandle, encodeHandle, type FileHandle, handleShard } from "./files/handles.ts";
export {
  type Child,
  type ChildListing,
  childrenOf,
  entriesBehind,
  inListingOrder,
  nextEntries,
  ownEntries,
} from "./files/listing.ts";
export {
  checkFileName,
  childKey,
  cookieOf,
  entryOf,
  isFileName,
  maxNameBytes,
  parentKey,
} from "./files/names.ts";
export {
  checkEntryChange,
  checkSettings,
  type FileUser,
  grantedAccess,
  mayAccess,
  mayTransfer,
  modeAfter,
  type Squash,
  squashUser,
} from "./files/permissions.ts";
export { addRange, type ByteRange, cutRanges } from "./files/ranges.ts";
export type { NfsServer, NfsServerOptions, ServeNfs } from "./files/serve-nfs.ts";
export { directoryObject, directoryType, kindOfObject, type Move, moveDirectory, symlinkType } from "./files/tree.ts";
export {
  adminRolesOf,
  type Caller,
  type CallerRefusal,
  callerOf,
  callerSubject,
  handshakeRefusal,
  refusalText,
  tenantAsked,
  validityRefusal,
} from "./grpc/callers.ts";
export { diskRoom } from "./grpc/disk-room.ts";
export { type GrpcErrorCode, grpcError } from "./grpc/grpc-errors.ts";
export type {
  GrpcCall,
  GrpcHandler,
  GrpcMessage,
  GrpcObjects,
  GrpcPeer,
  GrpcServer,
  GrpcServerOptions,
  GrpcTls,
  ObjectSession,
  ServeGrpc,
} from "./grpc/serve-grpc.ts";
export { type GrpcService, grpcFiles, grpcLoading, grpcPieceBytes, grpcServices } from "./grpc/services.ts";
export { type KeyAccess, type KeyQuestion, keyMay } from "./key-access.ts";
export {
  expiresAt,
  type LifecycleFilter,
  type LifecycleRule,
  type LifecycleVersion,
  lifecycleDue,
} from "./lifecycle.ts";
export { type ActiveJob, admitJob, type MaintenanceJob, type MaintenanceRequest, scopeOf } from "./maintenance/admit-job.ts";
export {
  type BackupFacts,
  type BackupFile,
  type BackupManifest,
  backupFacts,
  checkBackupFile,
  expiredBackups,
  type KeptBackup,
  snapshotOf,
  snapshotOrder,
} from "./maintenance/backup.ts";
export {
  claimRestore,
  type RestoreClaim,
  type RestoredPage,
  type RestoredPut,
  type SnapshotDocument,
  type SnapshotIntake,
  takeSnapshot,
} from "./maintenance/restore.ts";
export { beginTurns, giveTurnBack, type Turns, takeTurn } from "./maintenance/turns.ts";
export {
  eventMessage,
  eventsNamed,
  type NotificationRule,
  type ObjectEventName,
  type ObjectNotice,
  rulesFor,
  rulesOverlap,
  webhookArn,
  webhookOfArn,
} from "./notifications.ts";
export { checkDescription, isFieldValue } from "./objects/description.ts";
export { expiringVersions, uploadExpired } from "./objects/expiry.ts";
export { compareKeys, isListedBehind, type KeyListing, listKeysOf } from "./objects/listing.ts";
export { checkUpload, etagOfParts, joinedObject, partsToJoin } from "./objects/multipart.ts";
export { needLock, type ObjectErrorCode, objectError } from "./objects/object-errors.ts";
export type {
  Completion,
  Conditions,
  DeleteConditions,
  DeleteOptions,
  Deletion,
  KeyPage,
  KeyQuery,
  ListedUpload,
  ListedVersion,
  ObjectDraft,
  ObjectStore,
  PartBody,
  ReadOptions,
  RequestOrigin,
  UploadTarget,
  VersionAttributes,
  VersionTarget,
} from "./objects/object-store.ts";
export {
  type Bucket,
  customerKeyBytes,
  isBucketName,
  maxKeyBytes,
  type ObjectDescription,
  type ObjectEncryption,
  type ObjectVersion,
  partLimits,
  pastVersionId,
  type Tags,
  type Upload,
  type UploadChecksum,
  type UploadDraft,
  type UploadPart,
  type Versioning,
  versionIdOf,
} from "./objects/records.ts";
export {
  type Body,
  type ChunkRef,
  keepChunks,
  type Mentions,
  mentionsOf,
  referencedBy,
  type Trash,
  trashOf,
} from "./objects/references.ts";
export type { S3Credential, S3Question, S3Server, S3ServerOptions, S3Settings, ServeS3 } from "./objects/serve-s3.ts";
export {
  checkDeletion,
  checkLockable,
  checkObject,
  checkWrite,
  currentAgain,
  type DeletionAsked,
  type DeletionStep,
  judgeDeletion,
  lockedByDefault,
  madeOf,
  ordinalOf,
  ordinalOfId,
  replicaOrdinal,
  type Succession,
  succeedByReplica,
  succeedVersion,
} from "./objects/versions.ts";
export { murmur3 } from "./placement/murmur3.ts";
export { type Candidate, misplacedOn, placeChunk, rankDevices } from "./placement/place.ts";
export { type Admission, admitWrite, type PoolFill } from "./pool/admission.ts";
export {
  acknowledgeOf,
  classDurability,
  clusterDurability,
  type Durability,
  durabilityName,
  durabilityProblem,
  type Stripe,
  stripeOf,
} from "./pool/durability.ts";
export { type DeviceFill, freeBytes } from "./pool/room.ts";
export {
  classThresholds,
  effectiveThresholds,
  type PoolState,
  type PoolThresholds,
  poolState,
  type ThresholdOverrides,
  thresholdProblems,
} from "./pool/thresholds.ts";
export {
  type AfterSending,
  afterSending,
  destinationArn,
  destinationKey,
  destinationOfArn,
  lanesOf,
  type NoRoom,
  placeOfReplica,
  type ReplicatedVersion,
  type Replication,
  type ReplicationDestination,
  type ReplicationLeave,
  type ReplicationOutcome,
  type ReplicationRule,
  type ReplicationState,
  replicationOutcomes,
  replicationStatus,
  roomAfter,
  rulesCovering,
  type VersionPlace,
  waitsForRoom,
} from "./replication.ts";
export {
  afterPage,
  type CopyFacts,
  type CopyOutcome,
  copySent,
  copyStep,
  type ExistingScan,
  existingAwaited,
  gatherUntaken,
  lanesToSend,
  type QueueWaits,
  queueRestMs,
  type Retry,
  retryAfter,
  scannedPage,
  scanOf,
  type UntakenVersions,
} from "./replication-turns.ts";
export {
  checkDeletable,
  checkRetentionChange,
  type DefaultRetention,
  defaultRetention,
  type Held,
  holdsAsMuch,
  type Retention,
  type RetentionChange,
  type RetentionMode,
  retentionModes,
  retentionOfReplica,
} from "./retention.ts";
export { distrustCorrupt, inScope, nextScrubAt, orphanStep, type ScrubScope, scopeKey, scrubbedDevices } from "./scrub/plan.ts";
export { type FragmentPlace, planRebuild, type Rebuild, type RepairRecord } from "./scrub/repair-plan.ts";
export {
  countVerdict,
  emptyScrubReport,
  type ScrubReport,
  type ScrubVerdict,
  scrubSeverity,
  scrubVerdict,
  scrubVerdicts,
} from "./scrub/verdict.ts";
export {
  diskPercent,
  type InlineFacts,
  type InlineReason,
  inlineLimits,
  inlineThresholdFor,
  isInline,
  smallFileBudget,
  stepInlineThreshold,
} from "./shard/inline-threshold.ts";
export {
  coordinates,
  electLeader,
  hasQuorum,
  moveVoters,
  type NodesSeen,
  splitGrown,
  wantedVoters,
} from "./shard/lead.ts";
export {
  hashSpace,
  initialShardCount,
  initialShards,
  needsSplit,
  type Shard,
  shardAt,
  shardPoint,
  splitShard,
} from "./shard/map.ts";
export { type MigrationStep, migrationInterval, migrationLimit, migrationRefusal, nextMigrationStep } from "./shard/migration.ts";
export { requireKey, stepTenant, type Tenant, type TenantCommand, type TenantStep } from "./tenant/step.ts";
export { defaultTuning, type Tuning, type TuningName, type TuningProblem, tuningProblems, tuningTable } from "./tuning.ts";
export { type Absences, stepAbsences } from "./watch/absences.ts";
export {
  type Announcement,
  announceChange,
  announceDisk,
  announceFlags,
  announceFollowing,
  announceInlineThreshold,
  announceNode,
  announcePool,
  announceRoom,
  type CommittedChange,
} from "./watch/announcements.ts";
export {
  type ClusterSight,
  healthFacts,
  lostAfter,
  type NodeView,
  nodeStatus,
  type PoolFilling,
  roleIn,
  type SeenBy,
  scrubOverdueHours,
} from "./watch/cluster-view.ts";
export {
  createEdges,
  createEventLog,
  type EventCategory,
  type EventLog,
  type EventQuery,
  eventCategories,
  type Severity,
  type StorageEvent,
  severities,
} from "./watch/events.ts";
export { type CapacityForecast, type CapacityPoint, forecastCapacity } from "./watch/forecast.ts";
export {
  type Alert,
  activeAlerts,
  type ClusterHealth,
  clusterHealth,
  type HealthFacts,
  type NodeStatus,
  type SystemDisk,
} from "./watch/health.ts";
export { createHistory, type History, type Sample } from "./watch/history.ts";
export { createRing, type Ring } from "./watch/ring.ts";
export { pageKey, redirectOf, type Website, type WebsiteRedirect, type WebsiteRule, type WebsiteTarget } from "./website.ts";
