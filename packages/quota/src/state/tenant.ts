import type { Rejection } from "../errors.ts";
import { reject } from "../errors.ts";

/**
 * How running work gives way to work of a higher class, or of a tenant below its share: not at all; only what comes back, from a
 * checkpoint or by its requeue policy; or any, which may end for good.
 */
export const PREEMPTION_MODES = ["off", "requeue", "cancel"] as const;
export type PreemptionMode = (typeof PREEMPTION_MODES)[number];

/** What an administrator sets about a tenant. Hard limits count nodes and allocations; budgets are hours per budget period. */
export interface TenantSettings {
  /** Hard: nodes held at once. 0 means that nothing may run. */
  readonly maxNodes: number;
  /** Hard: allocations running at once; null is no limit. */
  readonly maxConcurrentAllocations: number | null;
  /** Soft; null is no budget. */
  readonly gpuHoursBudget: number | null;
  readonly nodeHoursBudget: number | null;
  /** Soft: the fraction of the schedulable nodes that the tenant should get, 0..1; 0 is neutral. */
  readonly fairShareTarget: number;
  /** Soft: a multiplier of the fair share while nodes are idle, >= 1; null counts as 1. */
  readonly burstAllowance: number | null;
  readonly isolationLevel: "standard" | "strict";
  /** Hard: nodes beyond maxNodes that may be taken from what the parent's other children leave unused. */
  readonly borrowingLimit: number;
  /** Hard: how many of its unused nodes others may take; null is all of them. */
  readonly lendingLimit: number | null;
  /** Hard: GPUs held at once, by flavour (`gpu_type`). A flavour that is not named is not limited. */
  readonly maxGpus: Readonly<Record<string, number>>;
  /** Hard: what any one user of the tenant may hold; null is no limit. */
  readonly userMaxNodes: number | null;
  readonly userMaxConcurrentAllocations: number | null;
  /** How the tenant's own work gives way; null: as the cluster says. */
  readonly preemption: PreemptionMode | null;
  /** Its work does not give way before it has run so long; null: as the cluster says. */
  readonly preemptionExemptHours: number | null;
}

/** A tenant as the state machine keeps it. */
export interface Tenant extends TenantSettings {
  readonly id: string;
  /** The tenant whose limits hold for the sum of its children too; fixed at creation. */
  readonly parent: string | null;
  readonly version: number;
  readonly createdAt: number;
  /** The last edit: when, who, and the reason they gave. */
  readonly updatedAt: number;
  readonly updatedBy: string;
  readonly updateReason: string | null;
}

export const DEFAULT_SETTINGS: TenantSettings = {
  maxNodes: 100,
  maxConcurrentAllocations: null,
  gpuHoursBudget: null,
  nodeHoursBudget: null,
  fairShareTarget: 0.1,
  burstAllowance: null,
  isolationLevel: "standard",
  borrowingLimit: 0,
  lendingLimit: null,
  maxGpus: {},
  userMaxNodes: null,
  userMaxConcurrentAllocations: null,
  preemption: null,
  preemptionExemptHours: null,
};

type Rule = (value: unknown) => string | undefined;
const count: Rule = (v) => (Number.isSafeInteger(v) && (v as number) >= 0 ? undefined : "must be an integer >= 0");
const hours: Rule = (v) => (Number.isFinite(v) && (v as number) >= 0 ? undefined : "must be a finite number >= 0");
const orNull =
  (rule: Rule): Rule =>
  (v) =>
    v === null ? undefined : rule(v)?.concat(" or null");

const RULES: { readonly [K in keyof TenantSettings]: Rule } = {
  maxNodes: count,
  maxConcurrentAllocations: orNull(count),
  gpuHoursBudget: orNull(hours),
  nodeHoursBudget: orNull(hours),
  fairShareTarget: (v) => (hours(v) === undefined && (v as number) <= 1 ? undefined : "must be a number from 0 to 1"),
  burstAllowance: orNull((v) => (Number.isFinite(v) && (v as number) >= 1 ? undefined : "must be a number >= 1")),
  isolationLevel: (v) => (v === "standard" || v === "strict" ? undefined : "must be standard or strict"),
  borrowingLimit: count,
  lendingLimit: orNull(count),
  maxGpus: (v) =>
    typeof v === "object" && v !== null && !Array.isArray(v) && Object.values(v).every((n) => count(n) === undefined)
      ? undefined
      : "must map flavours to integers >= 0",
  userMaxNodes: orNull(count),
  userMaxConcurrentAllocations: orNull(count),
  preemption: orNull((v) => (PREEMPTION_MODES.includes(v as PreemptionMode) ? undefined : "must be off, requeue or cancel")),
  preemptionExemptHours: orNull(hours),
};

/** Refuses the first field that is unknown or out of range, by its name. */
export function checkSettings(settings: Readonly<Record<string, unknown>>): Rejection | undefined {
  for (const [field, value] of Object.entries(settings)) {
    const rule = Object.hasOwn(RULES, field) ? RULES[field as keyof TenantSettings] : undefined;
    const problem = rule === undefined ? "is not a field of a tenant" : rule(value);
    if (problem !== undefined) return reject("invalid_argument", `${field} ${problem}`, { field });
  }
  return undefined;
}

/** The nodes of its own quota that nobody else may use while this tenant does not: 0 unless lending is limited. */
export function guaranteedNodes(tenant: TenantSettings): number {
  return tenant.lendingLimit === null ? 0 : Math.max(0, tenant.maxNodes - tenant.lendingLimit);
}
