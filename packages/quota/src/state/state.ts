import type { JsonObject } from "@seneschal/kernel";
import type { Rejection } from "../errors.ts";
import type { Allocation } from "./allocation.ts";
import type { ComputeNode } from "./node.ts";
import { Owners } from "./owners.ts";
import { SortedMap } from "./sorted-map.ts";
import type { Tenant } from "./tenant.ts";
import type { Timeline } from "./timeline.ts";

/** System-wide settings and the sensitive pool. */
export interface SystemQuotas {
  readonly sensitivePoolSize: number;
  readonly budgetPeriodDays: number;
  readonly version: number;
  readonly updatedAt: number;
  readonly updatedBy: string;
  readonly updateReason: string | null;
}

/** What a tenant holds now, its descendants included. Derived from the allocations; never encoded. */
export interface Holding {
  readonly nodes: number;
  readonly allocations: number;
  /** Nodes that count against the parent's pool: held, or guaranteed to a child that does not hold them. */
  readonly reserved: number;
  readonly gpus: Readonly<Record<string, number>>;
}

export interface UserHolding {
  readonly nodes: number;
  readonly allocations: number;
}

/**
 * The answer that a finished command got; a repeat of its id gets it again. A refusal is kept where a caller chose the id: whoever was
 * told no must not be given it later, by a request of the same key that waited somewhere.
 */
export type Receipt =
  | { readonly digest: string | null; readonly result: JsonObject }
  | { readonly digest: string; readonly refusal: Rejection };

/** Finished command ids in two generations; the older one is dropped when the younger is full or a day old. */
export interface Receipts {
  /** When the younger generation began. */
  readonly since: number;
  /** When the older one began: what finished since then is known. */
  readonly horizon: number;
  readonly young: SortedMap<Receipt>;
  readonly old: SortedMap<Receipt>;
}

/** What the accounting system said was left of a tenant's budgets, and when. */
export interface ExternalBudget {
  readonly gpuHours: number | null;
  readonly nodeHours: number | null;
  readonly at: number;
}

/** How far a budget metric has crossed: one event per upward crossing, whoever leads. */
export type BudgetLevel = "none" | "warning" | "exhausted";

/** Something worth telling. Those with a `seq` are kept in the state (the newest 10,000). */
export interface QuotaEvent {
  readonly seq: number;
  readonly type: string;
  readonly tenant: string | null;
  readonly at: number;
  readonly payload: JsonObject;
}

/** One administrative act. `hash` is SHA-256 over the previous hash and the canonical entry. */
export interface AuditRecord {
  readonly seq: number;
  readonly at: number;
  readonly action: string;
  readonly user: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly details: JsonObject;
  readonly hash: string;
}

/**
 * Everything that quotas are decided on. Immutable: `apply` returns a new one that shares what did not change.
 * The maps below the line are derived from those above and rebuilt from a snapshot.
 */
export interface QuotaState {
  /** Time of the last applied entry. */
  readonly at: number;
  readonly system: SystemQuotas;
  readonly tenants: SortedMap<Tenant>;
  readonly nodes: SortedMap<ComputeNode>;
  /** Who holds which node, by the place of the node. */
  readonly owners: Owners;
  readonly allocations: SortedMap<Allocation>;
  /** Usage over time by tenant, and by `user NUL tenant`. */
  readonly tenantUsage: SortedMap<Timeline>;
  readonly userUsage: SortedMap<Timeline>;
  readonly budgetMarks: SortedMap<BudgetLevel>;
  readonly external: SortedMap<ExternalBudget>;
  readonly receipts: Receipts;
  readonly events: SortedMap<QuotaEvent>;
  readonly nextEvent: number;
  /** Every event up to this sequence was delivered. */
  readonly delivered: number;
  readonly audit: SortedMap<AuditRecord>;
  readonly nextAudit: number;
  readonly auditHead: string;
  /** The parts of a backup that is being restored, until its last one is there. */
  readonly restoring: { readonly backup: string; readonly texts: readonly string[] } | null;
  // derived
  readonly holdings: SortedMap<Holding>;
  readonly userHoldings: SortedMap<UserHolding>;
  /** Nodes under a sensitive claim. */
  readonly claimed: number;
  /** Allocations that are not terminal. */
  readonly live: SortedMap<true>;
}

/** A shallow, writable copy: what a command builds its next state in. */
export type Draft = { -readonly [K in keyof QuotaState]: QuotaState[K] };

const DEFAULT_PERIOD_DAYS = 90;

export function emptyState(): QuotaState {
  return {
    at: 0,
    system: {
      sensitivePoolSize: 0,
      budgetPeriodDays: DEFAULT_PERIOD_DAYS,
      version: 0,
      updatedAt: 0,
      updatedBy: "",
      updateReason: null,
    },
    tenants: SortedMap.empty(),
    nodes: SortedMap.empty(),
    owners: Owners.none,
    allocations: SortedMap.empty(),
    tenantUsage: SortedMap.empty(),
    userUsage: SortedMap.empty(),
    budgetMarks: SortedMap.empty(),
    external: SortedMap.empty(),
    receipts: { since: 0, horizon: 0, young: SortedMap.empty(), old: SortedMap.empty() },
    events: SortedMap.empty(),
    nextEvent: 1,
    delivered: 0,
    audit: SortedMap.empty(),
    nextAudit: 1,
    auditHead: "",
    restoring: null,
    holdings: SortedMap.empty(),
    userHoldings: SortedMap.empty(),
    claimed: 0,
    live: SortedMap.empty(),
  };
}

/** The key of what a user uses in a tenant; `NUL` cannot occur in ids. */
export function userKey(user: string, tenant: string): string {
  return `${user}\u0000${tenant}`;
}

/** The key of a numbered record: sorts by number. */
export function seqKey(seq: number): string {
  return String(seq).padStart(15, "0");
}
