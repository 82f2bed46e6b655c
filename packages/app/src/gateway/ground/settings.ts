import { isOrganizationId } from "@seneschal/core/keys";
import * as z from "zod";
import { auditSetting } from "../../platform/audit-log/index.ts";
import { decisionSinksSetting } from "../../platform/audit-sinks/settings.ts";
import { duration } from "../../platform/config/duration.ts";
import { file } from "../../platform/config/file.ts";
import { authSettings, rateSettings, serverSettings } from "../../platform/config/schema.ts";
import { policyEngineSetting } from "../../platform/policy-engine.ts";
import { isAnchor } from "./anchors.ts";
import { hostName } from "./pki/pki.ts";

/** A host, or everything below a domain; in the one spelling that names are compared in. */
function isServerName(text: string): boolean {
  const host = hostName(text.replace(/^\./, ""));
  return host !== undefined && host.value.toLowerCase() === text.replace(/^\./, "") && !text.startsWith("*");
}

/** What the gateway is configured with. Durations are text such as `24h`; milliseconds come out. */
export const gatewaySettings = z.strictObject({
  server: serverSettings(8443),
  auth: authSettings,
  /** Organisations that exist from the start. With a CRK public key (base64) the first bootstrap is anchored in it. */
  organizations: z
    .array(
      z.strictObject({
        id: z.string().refine(isOrganizationId, "expected 1 to 128 printable characters without /"),
        crk_public_key: z.string().refine(isAnchor, "expected the 32 bytes of an Ed25519 key in base64").optional(),
      }),
    )
    .default([]),
  audit_sinks: decisionSinksSetting,
  audit: auditSetting,
  admin: z.strictObject({ cert_ttl: duration("90d") }).prefault({}),
  pki: z
    .strictObject({
      /** Where everybody can fetch revocation lists and ask for the status of certificates. Unset: certificates name no address. */
      public_url: z.url({ protocol: /^https?$/ }).optional(),
      /** For which hosts an organisation gets server certificates: a name, `.domain` for all below it, an address. */
      server_names: z
        .record(
          z.string().refine(isOrganizationId, "expected an organisation id"),
          z.array(z.string().refine(isServerName, "expected a host name, .domain or an address, in lower case")),
        )
        .default({}),
    })
    .prefault({}),
  lifetimes: z
    .strictObject({
      invitation: duration("7d"),
      enrollment_token: duration("24h"),
      ceremony: duration("24h"),
      generation_ceremony: duration("24h"),
      signing_request: duration("10m"),
      emergency_request: duration("24h"),
      emergency_token: duration("1h"),
      recovery: duration("24h"),
    })
    .prefault({}),
  services: z
    .strictObject({
      cert_ttl: duration("90d"),
      /** How long rotated credentials stay valid beside the new ones. */
      overlap: duration("24h"),
      /** Whose service-account tokens are taken, and which of its namespaces belongs to which organisation. */
      orchestrator: z
        .strictObject({
          issuer: z.string().min(1),
          audience: z.string().min(1).default("seneschal"),
          /** File: PEM public key or certificate, or a JWK set. */
          public_key: file("public key"),
          namespaces: z.record(z.string(), z.string().refine(isOrganizationId, "expected an organisation id")),
        })
        .optional(),
    })
    .prefault({}),
  federation: z
    .strictObject({
      certificate_ttl: duration("365d"),
      /** One call to a partner. */
      timeout: duration("10s"),
      /** How often partners are called to see whether they are there; `0s`: only when asked. */
      health_interval: duration("5m"),
      /** How long the keys of a partner's workspace may be used after its instance was last heard; `0s`: without an end. */
      replica_lease: duration("24h"),
      /** What a partner may have us keep that nobody here answered or read: `RATE_LIMITED` beyond. Of each federation. */
      budgets: z
        .strictObject({
          /** Invitations that wait for an answer. */
          offers: z.int().min(1).default(1000),
          /** Workspaces of the partner, offered or taken part in. */
          workspaces: z.int().min(1).default(10_000),
          /** Bytes of messages that were not read. */
          message_bytes: z
            .int()
            .min(128 << 10)
            .default(64 << 20),
        })
        .prefault({}),
      /** A certificate of a partner for us is good for so long at least when it is taken in. */
      certificate_min_life: duration("1h"),
      /** Private addresses, ranges and host names at which partners may be. */
      allowed_targets: z.array(z.string().min(1)).default([]),
    })
    .prefault({}),
  /**
   * What people may have an organisation keep that nobody of it decided or read yet: `RATE_LIMITED` beyond. Who has a record is counted by
   * what is their own, those who have none together with all there is: strangers keep no member from asking.
   */
  waiting: z
    .strictObject({
      emergency_requests: z.int().min(1).default(100),
      join_requests: z.int().min(1).default(1000),
      /** Messages that were not read, or did not reach the partner yet. */
      messages: z.int().min(1).default(10_000),
    })
    .prefault({}),
  edges: z
    .strictObject({
      probe_timeout: duration("5s"),
      /** Private addresses, ranges and host names at which edge nodes may be. */
      allowed_targets: z.array(z.string().min(1)).default([]),
      /** Accepts edge nodes without TLS; for development. */
      allow_http: z.boolean().default(false),
      /** The edge vault's key-value engine (version 2), into which policies and wrapped keys are written. */
      kv_mount: z.string().min(1).default("secret"),
    })
    .prefault({}),
  /** Threads beside the one that serves, at most so many each for work with root keys and for policies, and how long one piece of work may take. */
  workers: z
    .strictObject({
      threads: z.int().min(1).max(64).default(2),
      threshold_deadline: duration("60s"),
      policy_deadline: duration("5s"),
    })
    .prefault({}),
  /** How often keys that are due for rotation are looked for. */
  rotation: z.strictObject({ scan_interval: duration("1h") }).prefault({}),
  /** Directory that backups are written to; it must survive the database. Without one there are no backups. */
  backup: z.strictObject({ location: z.string().min(1).optional() }).prefault({}),
  /**
   * Identity providers whose users may be taken in, and which of their groups map to which of ours, by name. `issuer`: whose tokens
   * their users bring; by default the OpenID Connect issuer, or the only one that there is.
   */
  sso: z
    .strictObject({
      providers: z
        .array(
          z.strictObject({
            id: z.string().min(1).max(64),
            issuer: z.string().min(1).optional(),
            groups: z.record(z.string(), z.string()).default({}),
          }),
        )
        .default(["idp_a", "idp_b", "idp_c", "okta", "azure_ad", "google", "oidc"].map((id) => ({ id, groups: {} }))),
    })
    .prefault({}),
  /** How long, and how many, unwrapped workspace keys may stay in memory. */
  dek_cache: z.strictObject({ entries: z.int().min(0).default(1000), ttl: duration("60s") }).prefault({}),
  rate_limit: z
    .strictObject({
      authenticated: rateSettings(1200, "1m"),
      anonymous: rateSettings(300, "1m"),
      /** Of each service: what encrypts asks at every request of its own. */
      service: rateSettings(60_000, "1m"),
      /** Of each principal's batches, which are up to a thousand items each. */
      batch: rateSettings(1200, "1m"),
      /** Of each federated partner's gateway. */
      partner: rateSettings(600, "1m"),
      guarded: rateSettings(10, "1m"),
    })
    .prefault({}),
  /** What decides by the policies of organisations and workspaces. */
  policy_engine: policyEngineSetting,
  /** Rego source in place of `policies/authz/gateway.rego`. */
  authorization_policy: z.string().min(1).optional(),
  /** Says in `data.system.log` what of a decision its log leaves out, and which decisions. */
  decision_log_policy: file("policy").optional(),
});

export type GatewayConfig = z.output<typeof gatewaySettings>;
export type GatewaySettings = z.input<typeof gatewaySettings>;
