import { API_SCOPES, redactionRule } from "@seneschal/contract/governance";
import * as z from "zod";
import { auditSetting } from "../platform/audit-log/index.ts";
import {
  decisionSinksSetting,
  duration,
  file,
  logSettings,
  operatorPolicyEngineSetting,
  rateSettings,
  secret,
  serverSettings,
} from "../platform/index.ts";
import { organizationSetting } from "./organization.ts";
import { recogniserSetting } from "./recogniser.ts";
import { sourcesSetting } from "./sources/settings.ts";

/** The settings of the data-governance service. */
export const governanceSettings = z.strictObject({
  server: serverSettings(8444),
  log: logSettings,
  /** The organisation that unscoped keys belong to. */
  organization: organizationSetting.default("default"),
  /** Keys that are configured instead of created: by the SHA-256 of the whole key. */
  api_keys: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(64),
        org: organizationSetting.optional(),
        sha256: z.string().regex(/^[0-9a-f]{64}$/, "expected 64 lower-case hex digits"),
        scopes: z.array(z.enum(API_SCOPES)).min(1),
      }),
    )
    .default([]),
  /** What callers without a key may do. */
  anonymous: z
    .strictObject({
      classify: z.boolean().default(true),
      evaluate: z.boolean().default(false),
      lineage: z.boolean().default(false),
    })
    .prefault({}),
  rate_limit: z.strictObject({ authenticated: rateSettings(1000, "1h"), anonymous: rateSettings(100, "1h") }).prefault({}),
  classification: z
    .strictObject({
      /** Threads that classify beside the one that serves, at most; 0: that one does it itself, and a hostile text stops it. */
      threads: z.int().min(0).max(64).default(2),
      /** One text may take so long; beyond, it counts as unreadable. */
      deadline: duration("3s"),
      /** Lowest first. */
      tiers: z.array(z.string().min(1).max(64)).min(2).max(16).optional(),
      /** Built-in tier -> its name in `tiers`, for a scale of one's own. */
      tier_names: z.record(z.string(), z.string()).default({}),
      /** Kind tag (`PII`, `PHI` or one's own) -> regimes that it falls under, over the built-in table. */
      regimes: z.record(z.string(), z.array(z.string().min(1).max(64)).max(20)).default({}),
      /** Entity -> tier and tags, over the built-in table. */
      entities: z.record(z.string(), z.strictObject({ tier: z.string(), tags: z.array(z.string()).default([]) })).default({}),
      /** Further recognisers; patterns run on RE2, with an end to every repetition. */
      recognisers: z
        .array(
          z.strictObject({
            entity: z.string().regex(/^[A-Z][A-Z0-9_]{1,63}$/),
            pattern: z.string().min(1).max(1000),
            score: z.number().min(0).max(1).default(0.6),
            context: z.array(z.string().min(1).max(64)).max(100).default([]),
            country: z.string().max(8).optional(),
          }),
        )
        .max(200)
        .default([]),
      /** A model that is asked about every text as well; without one none is. */
      recogniser: recogniserSetting.optional(),
    })
    .prefault({}),
  /** What becomes of values in texts that are redacted, before the rules of a request; the first that fits decides. */
  redaction: z.strictObject({ rules: z.array(redactionRule).max(200).default([]) }).prefault({}),
  /** Files that are classified, redacted and restored whole, in threads of their own. */
  files: z
    .strictObject({
      /** Bytes of a file. */
      max_bytes: z
        .int()
        .min(1024)
        .max(64 << 20)
        .default(8 << 20),
      /** At most; each may have a heap of 1 GiB. */
      threads: z.int().min(1).max(16).default(2),
      /** One file may take so long; beyond, it counts as unreadable. */
      deadline: duration("30s"),
    })
    .prefault({}),
  /** Language models that are reached through this service, below a path of it; without `upstream` there is none. */
  models: z
    .strictObject({
      /** Address of an interface like OpenAI's, with its version: `https://models.example.org/v1`. */
      upstream: z.url().max(2048),
      api_key_file: file("text").optional(),
      api_key: secret().optional(),
      /** CAs that the upstream's certificate is checked against; without it the host's. */
      ca_file: file("authorities").optional(),
      /** What stands in front of `/chat/completions`. */
      path_prefix: z
        .string()
        .regex(/^(?:\/[A-Za-z0-9_-]+){1,4}$/)
        .refine(
          (path) => !/^\/(?:api|docs|redoc|health|ready|metrics)(?:\/|$)/.test(path),
          "the service has paths of its own there",
        )
        .default("/v1"),
      /** Until the head of an answer is there, and between two pieces of it. */
      timeout: duration("100s"),
      /** The highest tier that the models are told after hiding; without it the tier of what nobody classified. */
      accepts_tier: z.string().optional(),
      /** Models that may be used; empty: all that the upstream has. */
      names: z.array(z.string().min(1).max(256)).max(1000).default([]),
      max_reply_bytes: z.int().min(1024).max(67_108_864).default(8_388_608),
      /** Characters of a streamed answer that wait for what comes behind them. */
      hold_back: z.int().min(64).max(16_384).default(256),
    })
    .optional(),
  /** Databases and buckets that are scanned into the catalogue. */
  sources: sourcesSetting,
  /** Places outside the catalogue that data may go to, by prefix, with the highest tier that they take. */
  destinations: z.array(z.strictObject({ prefix: z.string().min(1).max(1024), accepts_tier: z.string() })).default([]),
  /** Purposes that alternatives may propose. */
  purposes: z
    .array(z.string().min(1).max(64))
    .max(20)
    .default(["service_delivery", "fraud_prevention", "legal_obligation", "research", "statistics"]),
  /** What a masked edge does to a tier, and whether filters and joins pass it on. */
  propagation: z
    .strictObject({ masked: z.enum(["stop", "lower"]).default("lower"), indirect: z.boolean().default(true) })
    .prefault({}),
  /** Rego files that replace the shipped policy; their decision is `data.governance.decision`. */
  policy_files: z.array(file("policy")).default([]),
  /** What decides by `policy_files`, or by the shipped policy. */
  policy_engine: operatorPolicyEngineSetting,
  /** Rego source in place of `policies/authz/governance.rego`. */
  authorization_policy: z.string().min(1).optional(),
  /** Sinks with `tells: decisions` get the decisions of the policy in OPA's form. */
  audit_sinks: decisionSinksSetting,
  audit: auditSetting,
  /** A signed checkpoint of the audit log is written after so long. */
  checkpoint_interval: duration("60s"),
});

export type GovernanceConfig = z.output<typeof governanceSettings>;
