import * as z from "zod";
import { jsonValue } from "../json-value.ts";
import { flagParam, integerParam, limitParam, offsetParam, timeParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { name, text, time, userName, why } from "./nouns.ts";

const systemQuotas = z
  .strictObject({
    sensitive_pool_size: z.int(),
    sensitive_claimed: z.int(),
    budget_period_days: z.int(),
    version: z.int(),
    updated_at: time.nullable(),
    updated_by: z.string(),
    update_reason: z.string().nullable(),
  })
  .meta({ id: "SystemQuotas" });

const event = z
  .strictObject({
    id: z.string(),
    seq: z.int(),
    type: z.string(),
    tenant: z.string().nullable(),
    timestamp: time,
    payload: z.record(z.string(), jsonValue),
  })
  .meta({ id: "Event" });

const audit = z
  .strictObject({
    id: z.string(),
    timestamp: time,
    action: z.string(),
    user_id: z.string(),
    resource_type: z.string(),
    resource_id: z.string(),
    details: z.record(z.string(), jsonValue),
    hash: z.string(),
  })
  .meta({ id: "AuditEntry" });

const backup = z.strictObject({ success: z.boolean(), message: z.string(), backup_id: z.string(), timestamp: time });
const of = { tag: "system", auth: "principal" } as const;
const open = { tag: "system", auth: "public", method: "GET", status: 200 } as const;

/** The service itself. */
export const systemRoutes = {
  healthz: {
    ...open,
    path: "/healthz",
    uncounted: true,
    summary: "Liveness, as JSON",
    reply: z.strictObject({ status: z.literal("ok") }),
  },
  health: {
    ...open,
    path: "/health",
    uncounted: true,
    summary: "Health of the service and its components",
    reply: z.strictObject({
      status: z.enum(["healthy", "degraded"]),
      version: z.string(),
      components: z.record(
        z.string(),
        z.strictObject({ status: z.enum(["healthy", "unhealthy"]), message: z.string().optional() }),
      ),
    }),
    alsoStatus: [503],
  },
  ready: {
    ...open,
    path: "/ready",
    uncounted: true,
    summary: "Is everything there that it depends on: a log with a quorum first of all",
    reply: z.strictObject({ ready: z.boolean(), components: z.record(z.string(), z.enum(["healthy", "unhealthy"])) }),
    alsoStatus: [503],
  },
  metrics: { ...open, uncounted: true, path: "/metrics", summary: "Metrics, Prometheus text format", produces: "text/plain" },
  authDiscovery: {
    ...open,
    path: "/api/v1/auth/discovery",
    summary: "How to get a token",
    reply: z.strictObject({ issuer: z.string(), audiences: z.array(z.string()), schemes: z.array(z.string()) }),
  },
  raftStatus: {
    ...of,
    method: "GET",
    path: "/api/v1/raft/status",
    summary: "Who leads, how far the log has come and how far this process has applied it",
    action: "system:status",
    query: z.strictObject({ hash: flagParam().optional() }),
    status: 200,
    reply: z.strictObject({
      node_id: z.string(),
      role: z.enum(["leader", "follower", "candidate"]),
      term: z.int(),
      leader_id: z.string(),
      members: z.array(z.string()),
      commit_index: z.int(),
      last_applied: z.int(),
      available: z.boolean(),
      leader: z.string(),
      state: z.string(),
      storage: z.enum(["memory only", "durable"]),
      /** With `hash=true`: equal on every process that has applied as much. */
      state_hash: z.string().nullable(),
    }),
  },
  getSystemQuotas: {
    ...of,
    method: "GET",
    path: "/api/v1/system/quotas",
    entity: "system-quotas",
    summary: "System-wide quotas",
    action: "system:status",
    status: 200,
    reply: systemQuotas,
    extension: true,
  },
  updateSystemQuotas: {
    ...of,
    method: "PUT",
    path: "/api/v1/system/quotas",
    entity: "system-quotas",
    summary: "Change system-wide quotas; a smaller pool only blocks new claims",
    action: "system:update",
    body: z.strictObject({
      sensitive_pool_size: z.int().min(0).max(1_000_000).optional(),
      budget_period_days: z.int().min(1).max(3660).optional(),
      reason: why.optional(),
    }),
    status: 200,
    reply: systemQuotas,
    errors: [409, 503],
    extension: true,
  },
  listEvents: {
    ...of,
    method: "GET",
    path: "/api/v1/events",
    summary: "Budget, quota, node and preemption events that are kept, oldest first",
    action: "event:list",
    query: z.strictObject({
      tenant: name.optional(),
      since: timeParam().optional(),
      after: integerParam(0, 1_000_000_000_000).optional(),
      type: text(64).optional(),
      limit: limitParam(100),
    }),
    status: 200,
    reply: z.array(event),
    extension: true,
  },
  watchEvents: {
    ...of,
    method: "GET",
    path: "/api/v1/events/stream",
    summary: "Server-sent events from now on, those of allocations included",
    action: "event:list",
    query: z.strictObject({ tenant: name.optional(), type: text(64).optional() }),
    status: 200,
    produces: "text/event-stream",
    extension: true,
  },
  listAudit: {
    ...of,
    method: "GET",
    path: "/api/v1/audit",
    summary: "The audit chain, newest first",
    action: "audit:read",
    query: z.strictObject({
      user_id: userName.optional(),
      action: text(64).optional(),
      /** What was done to the tenant, or named it. */
      tenant_id: name.optional(),
      /** The newest entry that is answered, by its number: a page begins behind the last one whatever is written meanwhile. */
      through: integerParam(0, Number.MAX_SAFE_INTEGER).optional(),
      limit: limitParam(100),
      offset: offsetParam(),
    }),
    status: 200,
    reply: z.array(audit),
  },
  auditCheckpoint: {
    ...of,
    method: "GET",
    path: "/api/v1/audit/checkpoint",
    summary: "The head of the audit chain, signed (Ed25519)",
    action: "audit:read",
    status: 200,
    reply: z.strictObject({
      entries: z.int(),
      head: z.string(),
      timestamp: time,
      signature: z.string(),
      public_key: z.string(),
      /** The same as a C2SP signed note, which witnesses cosign, and the key that verifies it; an empty chain has none. */
      note: z.string().optional(),
      verifier_key: z.string().optional(),
    }),
    extension: true,
  },
  runCycle: {
    ...of,
    method: "POST",
    path: "/api/v1/admin/cycle",
    summary: "Run a scheduling cycle now",
    action: "system:cycle",
    keyed: true,
    body: z.strictObject({}),
    bodyOptional: true,
    status: 200,
    reply: z.strictObject({
      proposed: z.int(),
      started: z.int(),
      refused: z.int(),
      waiting: z.array(
        z.strictObject({
          allocation_id: z.string(),
          code: z.string(),
          reason: z.string(),
          details: z.record(z.string(), jsonValue),
        }),
      ),
    }),
    errors: [503],
    extension: true,
  },
  advanceClock: {
    ...of,
    method: "POST",
    path: "/api/v1/admin/clock",
    summary: "Advance time; only where the test control is switched on",
    action: "system:clock",
    keyed: true,
    body: z.strictObject({ advance_seconds: z.number().positive().max(400_000_000) }),
    status: 200,
    reply: z.strictObject({ now: time }),
    errors: [503],
    extension: true,
  },
  backup: {
    ...of,
    method: "POST",
    path: "/api/v1/admin/backup",
    summary: "Write the state, with its hash, into the backup directory",
    action: "system:backup",
    keyed: true,
    body: z.strictObject({}),
    bodyOptional: true,
    status: 200,
    reply: backup,
    errors: [501, 503],
  },
  verifyBackup: {
    ...of,
    method: "POST",
    path: "/api/v1/admin/backup/verify",
    summary: "Read a backup, the newest if none is named, and recompute its hash",
    action: "system:backup",
    safe: true,
    body: z.strictObject({ backup_id: name.optional() }),
    bodyOptional: true,
    status: 200,
    reply: backup,
    errors: [501],
  },
  restoreBackup: {
    ...of,
    method: "POST",
    path: "/api/v1/admin/backup/restore",
    summary:
      "Put the state of a backup, the newest if none is named, in place of the present one; refused while work holds nodes or nodes are claimed",
    action: "system:backup",
    keyed: true,
    body: z.strictObject({ backup_id: name.optional() }),
    bodyOptional: true,
    status: 200,
    reply: backup,
    errors: [409, 501, 503],
  },
  forwardProposals: {
    ...of,
    method: "POST",
    path: "/api/v1/internal/proposals",
    uncounted: true,
    summary: "Proposals that another process of the same log forwards to this one",
    action: "log:propose",
    body: z.strictObject({
      commands: z
        .array(z.looseObject({ kind: z.string(), id: z.string().min(1).max(256), by: z.string() }))
        .min(1)
        .max(512),
    }),
    bodyLimit: 2 * 1024 * 1024,
    values: 16_384,
    status: 200,
    produces: "application/json",
    errors: [503],
    extension: true,
  },
} as const satisfies Contract;
