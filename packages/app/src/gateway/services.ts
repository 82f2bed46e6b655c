import type { TargetGuard } from "@seneschal/adapters/http";
import type { Logger } from "@seneschal/adapters/logging";
import type { PortableKeys } from "@seneschal/adapters/vault";
import type { Principal } from "@seneschal/contract";
import type { NamesOfInstance } from "@seneschal/core/keys";
import type { Clock, CryptoProvider, DocumentStore, PolicyEngine, Random, Vault } from "@seneschal/core/ports";
import type { ThresholdWork } from "@seneschal/crypto/threshold";
import type { Admission } from "../platform/admission.ts";
import type { Authorisation } from "../platform/authz/authorisation.ts";
import type { Health } from "../platform/health.ts";
import type { AuditLog } from "./ground/audit/log.ts";
import type { Call, GatewayUnit } from "./ground/call.ts";
import type { GatewayMetrics } from "./ground/metrics.ts";
import type { OrganizationKeys } from "./ground/organizations/keys.ts";
import type { Pki } from "./ground/pki/pki.ts";
import type { GatewayConfig } from "./ground/settings.ts";
import type { Signatures } from "./ground/signatures/signatures.ts";
import type { Reader } from "./ground/store/reader.ts";
import type { Channels } from "./partners/federation/channel.ts";
import type { PartnerStates } from "./partners/federation/partner-states.ts";
import type { PartnerRefusals } from "./partners/federation/refusals.ts";
import type { LastUse } from "./people/identities/last-use.ts";
import type { PolicyGate } from "./workspaces/policies/gate.ts";
import type { DekRing } from "./workspaces/workspaces/dek-ring.ts";
import type { DekUses } from "./workspaces/workspaces/dek-uses.ts";

/** Everything that handlers are given. One object per running gateway; a resource with a service of its own adds it here. */
export interface GatewayServices {
  readonly config: GatewayConfig;
  /** The id of this instance: the audience of what is signed for it. */
  readonly instance: string;
  readonly store: DocumentStore;
  readonly read: Reader;
  /** What `read` reads: the store, or what is remembered of it. */
  readonly remembered: DocumentStore;
  /** See `store/of-one-moment.ts`. */
  readonly quiet: () => (() => boolean) | undefined;
  /** What the caller of a request was let in on. */
  readonly admissionOf: (principal: Principal | undefined) => Admission | undefined;
  /** An embedded vault lets keys be carried in backups. */
  readonly vault: Vault & Partial<PortableKeys>;
  readonly crypto: CryptoProvider;
  readonly policyEngine: PolicyEngine;
  readonly authorisation: Authorisation;
  /** For keys and secrets. */
  readonly random: Random;
  /** For ids and nonces: drawn in large pieces. */
  readonly nonces: Random;
  readonly log: Logger;
  readonly metrics: GatewayMetrics;
  readonly audit: AuditLog;
  readonly organizationKeys: OrganizationKeys;
  readonly signatures: Signatures;
  readonly deks: DekRing;
  readonly dekUses: DekUses;
  readonly policies: PolicyGate;
  /** Work with root keys and shares, apart from this thread. */
  readonly threshold: ThresholdWork;
  readonly pki: Pki;
  /** The names that no organisation gets a certificate for, and those that each may. */
  readonly namesOfInstance: NamesOfInstance;
  /** To federated partners. */
  readonly channels: Channels;
  readonly partners: PartnerStates;
  readonly refusals: PartnerRefusals;
  /** Which addresses partners and edge nodes may have. */
  readonly targets: { readonly federation: TargetGuard; readonly edges: TargetGuard };
  readonly clock: Clock;
  readonly lastUse: LastUse;
  readonly version: string;
  readonly health: () => Promise<Health>;
  /** A fresh UUID of the moment. */
  newId(now: number): string;
  /** One transaction for one call, of a request with its admission; see `store/unit-of-work.ts`. */
  transact<R>(call: Call, work: (unit: GatewayUnit) => Promise<R>, admission?: Admission): Promise<R>;
}
