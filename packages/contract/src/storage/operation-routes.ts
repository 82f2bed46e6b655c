import { maxKeyBytes } from "@seneschal/core/storage";
import * as z from "zod";
import { limitParam, offsetParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { secret } from "../secret.ts";
import { accepted, backup, device, id, job, newDevice, newPool, pool, smartReading, tuning, tuningChange } from "./nouns.ts";

const post = {
  method: "POST",
  auth: "principal",
  action: "storage:operate",
  status: 200,
  tag: "operations",
  errors: [409, 503],
} as const;
const admin = { ...post, action: "storage:admin" } as const;
const extension = { extension: true } as const;
const done = z.object({ status: z.literal("ok"), message: z.string() });

const scope = z
  .union([
    z.strictObject({ scope: z.literal("cluster").optional() }),
    z.strictObject({ pool: id }),
    z.strictObject({ device: id }),
    z.strictObject({ scope: z.enum(["pool", "device"]), id }),
  ])
  .transform((body) => {
    if ("pool" in body) return { kind: "pool" as const, id: body.pool };
    if ("device" in body) return { kind: "device" as const, id: body.device };
    if ("id" in body) return { kind: body.scope, id: body.id };
    return { kind: "cluster" as const };
  });

const destination = z.enum(["fs", "s3"]);
const percent = z.int().min(0).max(100).optional();
const access = z.enum(["read_write", "read_only"]);
const limits = { access, resources: z.array(z.object({ bucket: z.string(), prefix: z.string() })).nullable() };
const tenantId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "expected 1 to 63 of a-z, 0-9 and hyphen");

const bucketName = z.string().regex(/^[a-z0-9.-]{3,63}$/, "expected the name of a bucket");
const limit = z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional();
const bucketQuota = z.object({
  bucket: z.string(),
  tenant_id: z.string(),
  max_bytes: z.int().nullable(),
  max_objects: z.int().nullable(),
  used_bytes: z.int().nullable().describe("Bytes of all versions; null where there is no quota"),
  used_objects: z.int().nullable().describe("Versions, without delete markers; null where there is no quota"),
  counting: z.boolean().describe("What was there before the quota is still counted: the figures are less than what there is"),
});
const ofBucket = { params: z.object({ bucket: bucketName }), path: "/ui/api/ops/buckets/:bucket/quota" } as const;
const ofTenant = { params: z.object({ tenant_id: tenantId }), path: "/ui/api/ops/tenants/:tenant_id/credentials" } as const;

/** Spec 3 A, /ui/api/ops, and the operations beside it. All need cluster admin authentication. */
export const operationRoutes = {
  setMaintenance: {
    ...admin,
    path: "/ui/api/ops/maintenance",
    summary: "Makes the cluster or one shard read-only, or writable again",
    body: z.strictObject({ enabled: z.boolean(), shard_id: id.nullable().optional() }),
    reply: z.object({ status: z.literal("ok"), message: z.string(), enabled: z.boolean(), shard_id: z.string().nullable() }),
  },
  startBackup: {
    ...admin,
    path: "/ui/api/ops/backup",
    summary: "Starts a backup",
    body: z.strictObject({
      destination: destination.optional(),
      include_data: z.boolean().optional(),
      retention_days: z.int().min(1).max(3650).optional(),
    }),
    bodyOptional: true,
    reply: accepted,
  },
  listBackups: {
    ...admin,
    ...extension,
    method: "GET",
    path: "/ui/api/ops/backups",
    summary: "Finished backups, oldest first",
    query: z.strictObject({ destination: destination.optional() }),
    reply: z.array(backup),
  },
  restoreBackup: {
    ...admin,
    ...extension,
    path: "/ui/api/ops/restore",
    summary: "Restores a backup into this cluster, which must be empty; it is read-only meanwhile",
    body: z.strictObject({ snapshot_id: id, destination: destination.optional(), pool_id: id.optional() }),
    reply: accepted,
  },
  startScrub: {
    ...post,
    path: "/ui/api/ops/scrub",
    summary: "Starts an integrity scrub of the cluster, a pool or a device",
    body: scope,
    bodyOptional: true,
    reply: accepted,
  },
  collectGarbage: { ...admin, ...extension, path: "/ui/api/ops/gc", summary: "Starts a garbage collection", reply: accepted },
  addDevice: {
    ...admin,
    ...extension,
    path: "/ui/api/ops/devices",
    summary: "Adds a device to a node, which opens its directory and keeps it over restarts",
    status: 201,
    body: newDevice,
    reply: device,
  },
  evacuateDevice: {
    ...admin,
    ...extension,
    path: "/ui/api/ops/devices/:device_id/evacuate",
    summary: "Moves everything off a device",
    params: z.object({ device_id: id }),
    reply: accepted,
  },
  cancelEvacuation: {
    ...admin,
    ...extension,
    path: "/ui/api/ops/devices/:device_id/cancel-evacuation",
    summary: "Cancels an evacuation: the device is Degraded again",
    params: z.object({ device_id: id }),
    reply: device,
  },
  clearHold: {
    ...admin,
    ...extension,
    path: "/ui/api/ops/devices/:device_id/clear-hold",
    summary: "Lets the automatic trigger evacuate a device again after a cancel",
    params: z.object({ device_id: id }),
    reply: device,
  },
  removeDevice: {
    ...admin,
    ...extension,
    method: "DELETE",
    path: "/ui/api/ops/devices/:device_id",
    summary: "Forgets a device in the state Removed",
    params: z.object({ device_id: id }),
    reply: done,
  },
  simulateSmart: {
    ...admin,
    ...extension,
    method: "PUT",
    path: "/ui/api/ops/devices/:device_id/smart",
    summary: "Simulates a device's SMART reading; without any value the device speaks for itself again. Needs storage.test_knobs",
    params: z.object({ device_id: id }),
    body: smartReading,
    reply: z.object({ status: z.literal("ok"), message: z.string(), device_id: z.string(), simulated: smartReading.nullable() }),
  },
  createPool: {
    ...admin,
    ...extension,
    path: "/ui/api/ops/pools",
    summary: "Makes a pool",
    status: 201,
    body: newPool,
    reply: pool,
  },
  removePool: {
    ...admin,
    ...extension,
    method: "DELETE",
    path: "/ui/api/ops/pools/:pool_id",
    summary: "Takes away a pool without devices and data",
    params: z.object({ pool_id: id }),
    reply: done,
  },
  drainNode: {
    ...admin,
    ...extension,
    path: "/ui/api/ops/nodes/:node_id/drain",
    summary: "Moves a node's shards and everything on its devices to other nodes. Refused where redundancy would not hold",
    params: z.object({ node_id: id }),
    reply: accepted,
  },
  cancelDrain: {
    ...admin,
    ...extension,
    path: "/ui/api/ops/nodes/:node_id/cancel-drain",
    summary: "Lets a node that drains stay; what was moved stays moved",
    params: z.object({ node_id: id }),
    reply: done,
  },
  evictNode: {
    ...admin,
    ...extension,
    method: "DELETE",
    path: "/ui/api/ops/nodes/:node_id",
    summary: "Takes a drained node out of the cluster",
    params: z.object({ node_id: id }),
    reply: done,
  },
  rebalancePool: {
    ...admin,
    ...extension,
    path: "/ui/api/ops/pools/:pool_id/rebalance",
    summary: "Moves fragments to where placement prefers them today",
    params: z.object({ pool_id: id }),
    reply: accepted,
  },
  setThresholds: {
    ...admin,
    ...extension,
    method: "PUT",
    path: "/ui/api/ops/pools/:pool_id/thresholds",
    summary: "Overrides a pool's thresholds; 0 is the default of its class",
    params: z.object({ pool_id: id }),
    body: z.strictObject({ warning: percent, critical: percent, read_only: percent, target_fill: percent }),
    reply: pool,
  },
  setTuning: {
    ...admin,
    ...extension,
    method: "PUT",
    path: "/ui/api/ops/tuning",
    summary: "Changes tuning parameters, all or none",
    body: tuningChange,
    reply: tuning,
  },
  cancelJob: {
    ...admin,
    ...extension,
    path: "/ui/api/ops/jobs/:job_id/cancel",
    summary: "Asks a job to end",
    params: z.object({ job_id: id }),
    reply: job,
  },
  rotateKeys: {
    ...admin,
    ...extension,
    path: "/ui/api/ops/keys/rotate",
    summary: "Makes the next master key epoch; old ones stay readable",
    reply: z.object({ status: z.literal("ok"), message: z.string(), epoch: z.int() }),
  },
  listTenants: {
    ...admin,
    ...extension,
    method: "GET",
    path: "/ui/api/ops/tenants",
    summary: "Tenants",
    reply: z.array(
      z.object({
        tenant_id: z.string(),
        state: z.enum(["active", "shredding", "shredded"]),
        dedup: z.boolean(),
        created_at: z.string(),
      }),
    ),
  },
  createTenant: {
    ...admin,
    ...extension,
    path: "/ui/api/ops/tenants",
    summary: "Creates a tenant with its own key",
    status: 201,
    body: z.strictObject({ tenant_id: tenantId, dedup: z.boolean().default(true) }),
    reply: z.object({ status: z.literal("ok"), message: z.string(), tenant_id: z.string() }),
  },
  shredTenant: {
    ...admin,
    ...extension,
    path: "/ui/api/ops/tenants/:tenant_id/shred",
    summary:
      "Destroys a tenant's key: its data can never be read again. Until its key service has confirmed, the state is `shredding`",
    params: z.object({ tenant_id: tenantId }),
    body: z.strictObject({ confirm: z.string().describe("The tenant id once more") }),
    reply: done,
  },
  getBucketQuota: {
    ...admin,
    ...extension,
    ...ofBucket,
    method: "GET",
    summary: "What a bucket may hold, and what it holds",
    reply: bucketQuota,
  },
  setBucketQuota: {
    ...admin,
    ...extension,
    ...ofBucket,
    method: "PUT",
    summary: "Limits what a bucket may hold, in bytes, in objects or in both; a limit that is not named is none",
    body: z
      .strictObject({ max_bytes: limit, max_objects: limit })
      .refine(
        (body) => body.max_bytes !== undefined || body.max_objects !== undefined,
        "expected max_bytes, max_objects or both",
      ),
    reply: bucketQuota,
  },
  removeBucketQuota: {
    ...admin,
    ...extension,
    ...ofBucket,
    method: "DELETE",
    summary: "Takes the quota of a bucket away",
    reply: bucketQuota,
  },
  listCredentials: {
    ...admin,
    ...extension,
    ...ofTenant,
    method: "GET",
    summary: "S3 access keys of a tenant, by their names, without their secrets",
    query: z.strictObject({ limit: limitParam(100), offset: offsetParam() }),
    reply: z.array(z.object({ access_key: z.string(), created_at: z.string(), ...limits })),
  },
  createCredential: {
    ...admin,
    ...extension,
    ...ofTenant,
    summary: "Makes an S3 access key; the secret is shown this once",
    status: 201,
    body: z.strictObject({
      access: access.default("read_write"),
      resources: z
        .array(
          z.strictObject({
            bucket: bucketName,
            prefix: z
              .string()
              .max(maxKeyBytes)
              // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what no prefix has
              .regex(/^[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]*$/u)
              .default("")
              .describe("What keys begin with; empty: the whole bucket"),
          }),
        )
        .min(1)
        .max(100)
        .optional()
        .describe("What the key reaches; absent: every bucket that the tenant reaches"),
    }),
    bodyOptional: true,
    reply: z.object({
      access_key: z.string(),
      secret_key: secret(z.string()),
      ...limits,
    }),
  },
  revokeCredential: {
    ...admin,
    ...extension,
    method: "DELETE",
    path: "/ui/api/ops/credentials/:access_key",
    summary: "Revokes an S3 access key at once",
    params: z.object({ access_key: id }),
    reply: done,
  },
} as const satisfies Contract;
