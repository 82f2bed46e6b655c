import { deviceClasses, deviceStates, eventCategories, severities, tuningTable } from "@seneschal/core/storage";
import * as z from "zod";

/** RFC 3339 UTC with milliseconds. */
const time = z.iso.datetime({ precision: 3 });
export const id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/);
const count = z.int().min(0);
const bytes = z.number().min(0);

/** Hours in a query: any positive number. */
export function hoursParam(fallback: number) {
  const message = "expected a number of hours above 0 and at most 8760";
  return z
    .string()
    .regex(/^\d{1,6}(\.\d{1,6})?$/, message)
    .transform(Number)
    .refine((n) => n > 0 && n <= 8760, message)
    .optional()
    .transform((n) => n ?? fallback)
    .meta({ parameter: { type: "number", exclusiveMinimum: 0, maximum: 8760, default: fallback } });
}

/** The six figures, under the names that existing clients read. */
const figures = z
  .object({
    raft_entries: count,
    chunk_write_bytes: bytes,
    chunk_read_bytes: bytes,
    gateway_requests: count,
    transport_connections: count,
    shard_deltas: count,
  })
  .meta({ id: "StorageFigures" });

const poolState = z.enum(["normal", "warning", "critical", "read_only", "full"]);
const nodeStatus = z.enum(["healthy", "degraded", "unreachable", "draining"]);

const thresholds = z.object({
  warning: z.int(),
  critical: z.int(),
  read_only: z.int(),
  full: z.int(),
  target_fill: z.int(),
});

export const pool = z
  .object({
    pool_id: z.string(),
    class: z.enum(deviceClasses),
    durability: z.string(),
    state: poolState,
    capacity_bytes: bytes,
    used_bytes: bytes,
    free_bytes: bytes,
    used_percent: z.number(),
    device_count: count,
    thresholds,
    growth_bytes_per_day: z.number().nullable().describe("Over the last day at most; null until an hour was seen"),
    full_at: time.nullable().describe("When the pool is full at that rate; null when it does not fill within a year"),
  })
  .meta({ id: "StoragePool" });

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "expected 1 to 63 of a-z, 0-9 and hyphen");

/** A device that is to be added. */
export const newDevice = z.strictObject({
  device_id: name,
  node_id: id.optional().describe("The node that has the directory; absent: the one that answers"),
  pool_id: name,
  directory: z.string().min(1).max(4096).describe("Below one of `storage.device_roots` of that node; new or empty"),
  capacity_bytes: z.int().min(1 << 20),
});

/** A pool that is to be made. Durability: by its class on one node, by the number of nodes on several. */
export const newPool = z.strictObject({
  pool_id: name,
  class: z.enum(deviceClasses),
  durability: z
    .union([
      z.strictObject({ data: z.int().min(2).max(16), parity: z.int().min(1).max(8) }),
      z.strictObject({ copies: z.int().min(2).max(5) }),
    ])
    .optional(),
});

export type NewPool = z.output<typeof newPool>;

export const device = z
  .object({
    device_id: z.string(),
    node_id: z.string(),
    pool_id: z.string(),
    class: z.enum(deviceClasses),
    state: z.enum(deviceStates),
    evacuated: z.boolean(),
    on_hold: z.boolean(),
    reason: z.string(),
    since: time,
    capacity_bytes: bytes,
    used_bytes: bytes,
    used_percent: z.number(),
    wear_percent: z.number().nullable(),
    bad_sectors: z.number().nullable(),
    temperature_celsius: z.number().nullable(),
    flags: z.array(z.string()),
    evacuation: z.object({ job_id: z.string(), moved: count, total: count, bytes }).nullable(),
  })
  .meta({ id: "StorageDevice" });

const alert = z.object({ severity: z.enum(["warning", "critical"]), subject: z.string(), message: z.string() });

export const cluster = z
  .object({
    node_count: count,
    shard_count: count,
    pool_count: count,
    device_count: count,
    total_capacity_bytes: bytes,
    used_capacity_bytes: bytes,
    free_capacity_bytes: bytes,
    health: z.enum(["healthy", "degraded", "down"]),
    maintenance_mode: z.boolean(),
    leader_node: z.string(),
    active_repairs: count,
    evacuating_devices: count,
    pools: z.array(pool),
    active_alerts: z.array(alert),
    sampled_at: time,
    total_nodes: count,
    healthy_nodes: count,
    aggregate: figures,
  })
  .meta({ id: "StorageCluster" });

export const node = z
  .object({
    node_id: z.string(),
    address: z.string(),
    healthy: z.boolean(),
    status: nodeStatus,
    device_count: count,
    shard_count: count,
    role: z.record(z.string(), z.enum(["leader", "follower"])),
    last_seen: time,
    metrics: z.record(z.string(), z.number()),
    summary: figures,
  })
  .meta({ id: "StorageNode" });

export const historyPoint = z.object({
  timestamp: time,
  /** The same, under the name that other clients of the interface read. */
  time,
  timestamp_ms: count,
  capacity_bytes: bytes,
  used_bytes: bytes,
  healthy_nodes: count,
  total_nodes: count,
  summary: figures,
});

export const event = z
  .object({
    id: count,
    timestamp: time,
    severity: z.enum(severities),
    category: z.enum(eventCategories),
    message: z.string(),
    source: z.string(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "StorageEvent" });

export const shard = z
  .object({
    shard_id: z.string(),
    leader: z.string(),
    voters: z.array(z.string()),
    maintenance: z.boolean(),
    inline_threshold_bytes: count,
    generation: count,
    delta_count: count,
    bytes,
    object_count: count,
    lag_seconds: z.number(),
  })
  .meta({ id: "StorageShard" });

export const job = z
  .object({
    job_id: z.string(),
    kind: z.string(),
    state: z.enum(["queued", "running", "succeeded", "failed", "cancelled"]),
    scope: z.string(),
    progress: z.object({ done: count, total: count, fraction: z.number() }),
    created_at: time,
    started_at: time.nullable(),
    finished_at: time.nullable(),
    created_by: z.string(),
    result: z.record(z.string(), z.unknown()).nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: "StorageJob" });

export const backup = z
  .object({
    snapshot_id: z.string(),
    created_at: time,
    elapsed_millis: z.number(),
    metadata_bytes: bytes,
    data_bytes: bytes,
    shard_count: count,
    chunk_count: count,
    object_count: count,
    include_data: z.boolean(),
  })
  .meta({ id: "StorageBackup" });

export const repair = z
  .object({
    repair_id: z.string(),
    chunk_id: z.string(),
    trigger: z.enum(["scrub", "manual", "under_replication"]),
    state: z.enum(["running", "succeeded", "failed"]),
    started_at: time,
    finished_at: time.nullable(),
    detail: z.string(),
  })
  .meta({ id: "StorageRepair" });

/** A device's own health data; an absent value was not reported. NVMe wear may exceed 100. */
export const smartReading = z.strictObject({
  wear_percent: z.number().min(0).max(255).optional(),
  bad_sectors: z.int().min(0).optional(),
  temperature_celsius: z.number().min(-50).max(200).optional(),
  uncorrectable_reads: z.int().min(0).optional(),
});

const tuningNames = Object.keys(tuningTable) as (keyof typeof tuningTable)[];

export const tuning = z
  .object(Object.fromEntries(tuningNames.map((name) => [name, z.int()])) as Record<(typeof tuningNames)[number], z.ZodInt>)
  .meta({ id: "StorageTuning" });

/** A change of some parameters, each within its inclusive range. */
export const tuningChange = z
  .strictObject(
    Object.fromEntries(
      tuningNames.map((name) => {
        const { min, max } = tuningTable[name];
        const message = `expected an integer from ${min} to ${max}`;
        return [name, z.int(message).min(min, message).max(max, message).optional()];
      }),
    ) as Record<(typeof tuningNames)[number], z.ZodOptional<z.ZodInt>>,
  )
  .refine((change) => Object.keys(change).length > 0, "name at least one parameter")
  .meta({ minProperties: 1 });

/** What every operation answers, beside what it made. */
export const accepted = z.object({ status: z.literal("ok"), message: z.string(), job_id: z.string() });
