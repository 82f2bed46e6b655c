import { webhookKey } from "@seneschal/adapters/webhook";
import { PREEMPTION_MODES, PROFILES, TERMS } from "@seneschal/quota";
import * as z from "zod";
import {
  auditSinksSetting,
  authSettings,
  capabilityUrl,
  duration,
  etcdSettings,
  logSettings,
  rateSettings,
  secret,
  serverSettings,
} from "../platform/index.ts";

const weights = z.strictObject(
  Object.fromEntries(TERMS.map((term) => [term, z.number().min(0).max(1)])) as Record<(typeof TERMS)[number], z.ZodNumber>,
);

/** The settings of the scheduler service. Names of the interface document stand where it gives them. */
export const schedulerSettings = z.strictObject({
  server: serverSettings(8445),
  log: logSettings,
  auth: authSettings,
  /** Where the events of the audit chain go beside it. */
  audit_sinks: auditSinksSetting,
  /** Opaque bearer tokens by their SHA-256, for services and agents without an identity provider. */
  tokens: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(128),
        role: z.enum(["user", "tenant-admin", "system-admin", "accounting", "auditor", "agent"]),
        tenant: z.string().max(128).default(""),
        sha256: z.string().regex(/^[0-9a-f]{64}$/, "expected 64 lower-case hex digits"),
      }),
    )
    .default([]),
  rate_limit: z
    .strictObject({
      authenticated: rateSettings(1200, "1m"),
      anonymous: rateSettings(60, "1m"),
      /** Of each token of a service: accounting, administration. */
      service: rateSettings(12_000, "1m"),
      /** Of each token of agents, which may stand for a whole machine room. */
      agent: rateSettings(60_000, "1m"),
    })
    .prefault({}),
  scheduling: z
    .strictObject({
      /** 5 to 30 s. */
      cycle: duration("5s").refine((ms) => ms >= 5000 && ms <= 30_000, "expected 5s to 30s"),
      /** Put into force at start; absent: what is in force stays, 90 at first. */
      budget_period_days: z.int().min(1).max(3660).optional(),
      /** Weights by virtual cluster: a profile's name, or one number per term, summing to 1. */
      weights: z.record(z.string(), z.union([z.enum(Object.keys(PROFILES) as [keyof typeof PROFILES]), weights])).default({}),
      /** A node that was not heard from for so long is down. */
      heartbeat_timeout: duration("60s"),
      /** Work that was asked to write a checkpoint and did not, fails. */
      checkpoint_timeout: duration("10m"),
      /** Keeps nodes for the first that waits for nodes, by walltimes; off, large work relies on ageing alone. */
      reservations: z.boolean().default(true),
      /** How running work gives way: `off`, `requeue` (only what comes back) or `cancel` (any); a tenant may say otherwise of its own. */
      preemption: z.enum(PREEMPTION_MODES).default("requeue"),
      /** What has not run so long yet does not give way. */
      preemption_exempt: duration("0s"),
      /** Bounded work that has run so much longer than its walltime fails; else the walltime is an estimate. */
      end_at_walltime: z.boolean().default(false),
      walltime_grace: duration("5m"),
      /** Records of ended work are kept so long; their hours stay in the ledger. */
      keep_ended: duration("7d"),
      /** Creates the tenant of a submission where there is none, with the limits below. */
      auto_create_tenants: z.boolean().default(false),
      auto_create_max_nodes: z.int().min(0).default(10),
    })
    .prefault({}),
  storage: z
    .strictObject({
      /** `level`: a directory, one process; `etcd`: a quorum; `postgres`: one primary, no quorum of its own; `memory` forgets everything at the end. */
      kind: z.enum(["level", "etcd", "postgres", "memory"]).default("level"),
      /** Directory of `level`, and of this process's keys. */
      path: z.string().optional(),
      ...etcdSettings,
      /** Shorter than of other services: whoever asks is told within 3 s that there is no quorum. */
      etcd_try_timeout: duration("500ms"),
      etcd_total_timeout: duration("1500ms"),
      prefix: z.string().min(1).default("/seneschal/scheduler"),
      /** The etcd cluster's `--quota-backend-bytes`; absent: etcd's own 2 GiB. New work is refused from 80 % of it on. */
      etcd_quota_bytes: z.int().min(1).optional(),
      /** `postgres://...` */
      url: secret().optional(),
      backups: z.string().optional(),
      /** So many of the newest audit entries stay in the replicated state; older ones are in the log's archive. */
      audit_kept: z.int().min(100).default(10_000),
    })
    .prefault({}),
  /** How the processes of one log reach each other; without it each proposes for itself, which is as safe and slower. */
  cluster: z.strictObject({ address: z.url().optional(), token: secret().optional(), timeout: duration("1s") }).prefault({}),
  accounting: z
    .strictObject({
      url: z.url().optional(),
      token: secret().optional(),
      timeout: duration("2s"),
      refresh: duration("30s"),
      flush: duration("60s"),
      buffer: z.string().optional(),
    })
    .prefault({}),
  /** The secret as standardwebhooks.com gives it: `whsec_` and the base64 of 24 to 64 bytes. */
  webhook: z
    .strictObject({
      url: capabilityUrl().optional(),
      secret: secret()
        .refine((text) => webhookKey(text) !== undefined, "expected whsec_ and the base64 of 24 to 64 bytes")
        .optional(),
    })
    .prefault({}),
  /** Executes entrypoints as shell commands on this machine. Off unless asked for. */
  runner: z.strictObject({ enabled: z.boolean().default(false), nodes: z.int().min(1).max(10_000).default(4) }).prefault({}),
  grpc: z.strictObject({ enabled: z.boolean().default(false), port: z.int().min(0).max(65_535).default(50_051) }).prefault({}),
  /** Rego source in place of `policies/authz/scheduler.rego`. */
  authorization_policy: z.string().min(1).optional(),
  /** Lets a system administrator advance time; for tests. */
  test_clock: z.boolean().default(false),
});

export type SchedulerConfig = z.output<typeof schedulerSettings>;
