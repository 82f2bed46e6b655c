import { Counter, Gauge, Histogram, Registry } from "prom-client";

const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Every metric of the node; each has a producer. Labels are bounded: ids of pools, devices, shards, tenants, names of webhooks and destinations; buckets that wait to be copied, the hundred that are behind most. */
export type StorageMetrics = ReturnType<typeof createStorageMetrics>;

export function createStorageMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const gauge = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name: `store_${name}`, help, labelNames, registers });
  const counter = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name: `store_${name}`, help, labelNames, registers });
  const histogram = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Histogram<L>({ name: `store_${name}`, help, labelNames, buckets, registers });
  return {
    registry,
    raftState: gauge("raft_state", "1 for the consensus role of this node in the shard", ["shard", "state"]),
    raftEntries: counter("raft_entries_total", "Entries applied of the one log of the cluster, the same for every shard", [
      "shard",
    ]),
    raftLeaderChanges: counter("raft_leader_changes_total", "Leader changes seen", ["shard"]),
    raftCommitLatency: histogram(
      "raft_commit_latency_seconds",
      "Time from proposal to commit on the one log of the cluster, the same for every shard",
      ["shard"],
    ),
    chunkReads: counter("chunk_reads_total", "Chunks read", ["pool"]),
    chunkWrites: counter("chunk_writes_total", "Chunks written", ["pool"]),
    chunkDedupHits: counter("chunk_dedup_hits_total", "Chunk writes answered by an existing chunk", ["pool"]),
    chunkReadBytes: counter("chunk_read_bytes_total", "Plaintext bytes of chunks read"),
    chunkWriteBytes: counter("chunk_write_bytes_total", "Plaintext bytes of chunks written"),
    ecEncode: histogram("chunk_ec_encode_seconds", "Erasure encoding of one chunk", ["strategy"]),
    ecDecode: histogram("chunk_ec_decode_seconds", "Erasure decoding of one chunk with missing fragments", ["strategy"]),
    transportActive: gauge("transport_connections_active", "Connections with a request in flight", ["transport"]),
    transportIdle: gauge("transport_connections_idle", "Open connections without a request", ["transport"]),
    transportBytes: counter("transport_bytes_total", "Bytes on the wire", ["transport", "direction"]),
    transportErrors: counter("transport_errors_total", "Transport errors", ["transport", "kind"]),
    poolCapacity: gauge("pool_capacity_bytes", "Capacity of a pool", ["pool"]),
    poolUsed: gauge("pool_used_bytes", "Bytes on the devices of a pool", ["pool"]),
    poolFree: gauge("pool_free_bytes", "Capacity minus used", ["pool"]),
    poolTimeToFull: gauge(
      "pool_time_to_full_seconds",
      "Seconds until a pool is full at its present rate, where it fills within a year",
      ["pool"],
    ),
    poolState: gauge("pool_state", "1 for the state of a pool", ["pool", "state"]),
    deviceState: gauge("device_state", "1 for the state of a device", ["device", "state"]),
    deviceWear: gauge("device_wear_percent", "Wear as reported by SMART", ["device"]),
    deviceBadSectors: gauge("device_bad_sectors", "Reallocated sectors as reported by SMART", ["device"]),
    deviceTemperature: gauge("device_temperature_celsius", "Temperature as reported by SMART", ["device"]),
    deviceDiskFree: gauge(
      "device_disk_free_bytes",
      "What a device could take by the room of its file system, whatever its capacity",
      ["device"],
    ),
    shardDeltas: gauge("shard_delta_count", "Metadata changes of a shard", ["shard"]),
    shardBytes: gauge("shard_bytes", "Object bytes of a shard", ["shard"]),
    shardInlineThreshold: gauge("shard_inline_threshold_bytes", "Inline threshold in force", ["shard"]),
    maintenanceMode: gauge("maintenance_mode", "1 while the shard is read-only", ["shard"]),
    viewLag: gauge("view_lag_seconds", "Age of the last change not yet in the view; 0 when caught up", ["view"]),
    advisoryUsed: gauge("advisory_budget_used", "Use of a tenant's advisory budget: bytes read ahead of its readers", [
      "tenant",
      "budget",
    ]),
    advisoryLimit: gauge("advisory_budget_limit", "Limit of a tenant's advisory budget", ["tenant", "budget"]),
    memoryUsed: gauge("memory_budget_used_bytes", "Memory that bodies of clients take, of the node's budget"),
    memoryLimit: gauge("memory_budget_limit_bytes", "Memory that bodies of clients may take"),
    memoryWaiting: gauge("memory_budget_waiting", "Bodies that wait for memory"),
    memoryRefused: counter("memory_budget_refused_total", "Bodies that were refused for want of memory"),
    cryptoShreds: counter("crypto_shred_total", "Tenant keys destroyed"),
    keyRotations: counter("key_rotation_total", "Master key rotations"),
    keyManagerReachable: gauge("key_manager_reachable", "1 while the key manager answers"),
    tenantKmsReachable: gauge("tenant_kms_reachable", "1 while the tenant's key service answers", ["tenant"]),
    gatewayRequests: counter("gateway_requests_total", "Gateway requests", ["protocol", "method", "status"]),
    gatewayDuration: histogram("gateway_request_duration_seconds", "Gateway request duration", ["protocol", "method"]),
    scrubChunks: counter("scrub_chunks_total", "Chunks scrubbed", ["verdict"]),
    scrubLastSuccess: gauge(
      "scrub_last_success_timestamp_seconds",
      "When the last cluster-wide scrub finished; before the first, when the cluster began",
    ),
    repairs: counter("repair_total", "Chunk repairs", ["trigger", "outcome"]),
    gcRuns: counter("gc_runs_total", "Garbage collections"),
    gcReclaimed: counter("gc_reclaimed_bytes_total", "Bytes freed by garbage collection"),
    adminCalls: counter("admin_calls_total", "Calls of admin operations", ["op", "outcome"]),
    notifications: counter("notifications_total", "Notifications sent to a webhook, by whether it acknowledged", [
      "webhook",
      "outcome",
    ]),
    accessLogRecords: counter("access_log_records_total", "Requests that buckets have logged, by what came of the record", [
      "outcome",
    ]),
    notificationsWaiting: gauge("notifications_waiting", "Notifications that a webhook has not heard of yet", ["webhook"]),
    replications: counter("replication_versions_total", "Versions sent to a destination, by what came of it", [
      "destination",
      "outcome",
    ]),
    replicationBytes: counter("replication_bytes_total", "Bytes of versions that a destination took", ["destination"]),
    replicationVersions: gauge("replication_pending_versions", "Versions that wait to be copied", ["destination", "bucket"]),
    replicationWaitingBytes: gauge("replication_pending_bytes", "Bytes that wait to be copied, at least", [
      "destination",
      "bucket",
    ]),
    replicationLag: gauge("replication_lag_seconds", "Since when a version waits to be copied", ["destination", "bucket"]),
    backgroundFailures: counter("background_failures_total", "Failed runs of background work by step", ["step"]),
    backgroundFailing: gauge("background_failing", "1 while the last run of a step of background work failed", ["step"]),
    authFailures: counter("auth_failures_total", "Refused credentials", ["surface", "reason"]),
  };
}
