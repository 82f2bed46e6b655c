import { checkArgument } from "@seneschal/kernel";
import type { ExternalBudget, QuotaState } from "../state/state.ts";
import { userKey } from "../state/state.ts";
import type { Tenant } from "../state/tenant.ts";
import type { Timeline } from "../state/timeline.ts";

export const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;

/** Hours used inside `[from, to]`, both milliseconds. */
export interface Usage {
  readonly gpuHours: number;
  readonly nodeHours: number;
  readonly from: number;
  readonly to: number;
}

/**
 * The internal ledger: hours that a tenant's allocations held nodes and GPUs in the last `days` days, finished work
 * included, clipped to the window. Two binary searches, whatever the number of allocations.
 */
export function tenantUsage(state: QuotaState, tenant: string, days: number, now: number): Usage {
  checkArgument("state", state, "object");
  checkArgument("tenant", tenant, "string");
  checkArgument("days", days, "number");
  checkArgument("now", now, "number");
  return usageOf(state.tenantUsage.get(tenant), days, now);
}

/** The same for one user in one tenant. */
export function userUsage(state: QuotaState, user: string, tenant: string, days: number, now: number): Usage {
  checkArgument("state", state, "object");
  checkArgument("user", user, "string");
  checkArgument("tenant", tenant, "string");
  checkArgument("days", days, "number");
  checkArgument("now", now, "number");
  return usageOf(state.userUsage.get(userKey(user, tenant)), days, now);
}

/** The tenants that a user has ever run in. */
export function* tenantsOfUser(state: QuotaState, user: string): IterableIterator<string> {
  const prefix = userKey(user, "");
  for (const key of state.userUsage.keys(prefix, `${user}\u0001`)) yield key.slice(prefix.length);
}

function usageOf(line: Timeline | undefined, days: number, now: number): Usage {
  const from = now - days * DAY_MS;
  const used = line?.used(from, now) ?? { nodeMs: 0n, gpuMs: 0n };
  return { gpuHours: Number(used.gpuMs) / HOUR_MS, nodeHours: Number(used.nodeMs) / HOUR_MS, from, to: now };
}

/** Where a tenant stands against one budget. */
export interface BudgetMetric {
  readonly used: number;
  readonly budget: number | null;
  /** used / budget, may exceed 1; 1 for a budget of 0; null without a budget. */
  readonly fraction: number | null;
}

export interface BudgetStatus {
  readonly gpu: BudgetMetric;
  readonly node: BudgetMetric;
  /** The higher fraction drives the penalty; 0 without budgets. */
  readonly fraction: number;
  readonly source: "external" | "ledger";
  readonly from: number;
  readonly to: number;
}

/** An answer of the accounting system older than this is not believed any more. */
const EXTERNAL_TTL_MS = 90_000;

/**
 * A tenant's budgets over the budget period. The accounting system's **remaining** budget, where it answered, stands in
 * for the ledger metric by metric: used is then budget - remaining.
 */
export function budgetStatus(state: QuotaState, tenant: Tenant, now: number): BudgetStatus {
  checkArgument("state", state, "object");
  checkArgument("tenant", tenant, "object");
  checkArgument("now", now, "number");
  const answer = state.external.get(tenant.id);
  const external = answer !== undefined && now - answer.at <= EXTERNAL_TTL_MS ? answer : undefined;
  return statusOf(tenant, tenantUsage(state, tenant.id, state.system.budgetPeriodDays, now), external);
}

/** Where a tenant stands over the last `days` days; other windows than the budget period are always answered by the ledger. */
export function usageOver(state: QuotaState, tenant: Tenant, days: number, now: number): BudgetStatus {
  checkArgument("state", state, "object");
  checkArgument("tenant", tenant, "object");
  checkArgument("days", days, "number");
  checkArgument("now", now, "number");
  if (days === state.system.budgetPeriodDays) return budgetStatus(state, tenant, now);
  return statusOf(tenant, tenantUsage(state, tenant.id, days, now), undefined);
}

function statusOf(tenant: Tenant, usage: Usage, external: ExternalBudget | undefined): BudgetStatus {
  const gpu = metric(usage.gpuHours, tenant.gpuHoursBudget, external?.gpuHours ?? null);
  const node = metric(usage.nodeHours, tenant.nodeHoursBudget, external?.nodeHours ?? null);
  return {
    gpu,
    node,
    fraction: Math.max(gpu.fraction ?? 0, node.fraction ?? 0),
    source: external === undefined ? "ledger" : "external",
    from: usage.from,
    to: usage.to,
  };
}

function metric(ledger: number, budget: number | null, remaining: number | null): BudgetMetric {
  if (budget === null) return { used: ledger, budget, fraction: null };
  if (remaining === null) return { used: ledger, budget, fraction: budget === 0 ? 1 : ledger / budget };
  const used = Math.max(0, budget - remaining);
  const fraction = budget === 0 ? 1 : used / budget;
  return { used, budget, fraction: remaining <= 0 ? Math.max(1, fraction) : fraction };
}
