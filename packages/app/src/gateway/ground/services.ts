import type { Logger } from "@seneschal/adapters/logging";
import type { PortableKeys } from "@seneschal/adapters/vault";
import type { Principal } from "@seneschal/contract";
import type { NamesOfInstance } from "@seneschal/core/keys";
import type { Clock, CryptoProvider, DocumentStore, PolicyEngine, Random, Vault } from "@seneschal/kernel/ports";
import type { Admission } from "../../platform/admission.ts";
import type { Authorisation } from "../../platform/authz/authorisation.ts";
import type { Health } from "../../platform/health.ts";
import type { DecisionLog } from "./audit/decision-log.ts";
import type { AuditLog } from "./audit/log.ts";
import type { Call, GatewayUnit } from "./call.ts";
import type { GatewayMetrics } from "./metrics.ts";
import type { OrganizationKeys } from "./organization-keys.ts";
import type { Pki } from "./pki/pki.ts";
import type { GatewayConfig } from "./settings.ts";
import type { Signatures } from "./signatures.ts";
import type { Reader } from "./store/reader.ts";

/** What every floor stands on. One object per running gateway holds the services of all floors; each floor adds its own to those below. */
export interface GroundServices {
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
  /** The organisation of this instance that a caller's acts are recorded with: its own, of a partner the one that it is federated with. */
  readonly hostOf: (read: Reader, principal: Principal) => Promise<string>;
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
  readonly decisions: DecisionLog;
  readonly organizationKeys: OrganizationKeys;
  readonly signatures: Signatures;
  readonly pki: Pki;
  /** The names that no organisation gets a certificate for, and those that each may. */
  readonly namesOfInstance: NamesOfInstance;
  readonly clock: Clock;
  readonly version: string;
  readonly health: () => Promise<Health>;
  /** A fresh UUID of the moment. */
  newId(now: number): string;
  /** One transaction for one call, of a request with its admission; see `store/unit-of-work.ts`. */
  transact<R>(call: Call, work: (unit: GatewayUnit) => Promise<R>, admission?: Admission): Promise<R>;
}
