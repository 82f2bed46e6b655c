import { DAY_MS } from "../soft/ledger.ts";
import { type Allocation, countedGpus, holdsNodes, isSensitive } from "../state/allocation.ts";
import { type ComputeNode, ownerOf } from "../state/node.ts";
import type { QuotaState } from "../state/state.ts";
import type { Tenant } from "../state/tenant.ts";
import { slowUsage } from "./slow-quota.ts";

function tenantOf(state: QuotaState, id: string): Tenant {
  const tenant = state.tenants.get(id);
  if (tenant === undefined) throw new TypeError(`the state has no tenant ${id}`);
  return tenant;
}

/** Free nodes that the allocation could be given. */
export function slowFree(state: QuotaState, a: Allocation): readonly ComputeNode[] {
  return [...state.nodes.values()].filter(
    (node) =>
      node.state === "ready" &&
      ownerOf(state, node) === null &&
      (node.claim === null || (isSensitive(a) && node.claim.claimant === a.user && node.claim.tenant === a.tenant)) &&
      (a.gpuType === null || node.gpuType === a.gpuType) &&
      (a.gpusPerNode === null || countedGpus(node.gpuCount) >= a.gpusPerNode),
  );
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The terms of the cost function by their definitions, for an allocation that nothing else competes with: the nodes that it
 * would be given are told, everything else is recomputed from the objects of the state.
 */
export function slowTerms(state: QuotaState, a: Allocation, given: readonly string[], now: number): Record<string, number> {
  const nodes = [...state.nodes.values()];
  const allocations = [...state.allocations.values()];
  const schedulable = nodes.filter(
    (node) => node.state === "ready" || (ownerOf(state, node) !== null && !["down", "failed"].includes(node.state)),
  );
  const busy = schedulable.filter((node) => ownerOf(state, node) !== null).length / Math.max(1, schedulable.length);
  const tenant = tenantOf(state, a.tenant);
  const held = allocations.filter((other) => other.tenant === a.tenant).flatMap(({ assigned }) => assigned).length;
  const burst = tenant.burstAllowance ?? 1;
  const target = tenant.fairShareTarget * (busy < 0.8 ? 1 + (Math.max(1, burst) - 1) * ((0.8 - busy) / 0.8) : 1);
  const queued = allocations.filter(({ state: is }) => is === "pending").length;
  const running = allocations.filter(({ state: is }) => holdsNodes(is)).length;
  const free = nodes.filter((node) => node.state === "ready" && ownerOf(state, node) === null);
  const prints = free.flatMap(({ conformance }) => (conformance === null ? [] : [conformance]));
  const most = Math.max(0, ...prints.map((print) => prints.filter((other) => other === print).length));
  const would = given.flatMap((id) => state.nodes.get(id) ?? []);
  const prices = schedulable.flatMap(({ energyPrice }) => (energyPrice === null ? [] : [energyPrice]));
  const [least, greatest] = [Math.min(...prices), Math.max(...prices)];
  const paid = would.flatMap(({ energyPrice }) => (energyPrice === null ? [] : [energyPrice]));
  const groups = new Set(would.map(({ group }) => group));
  const inGroups = slowFree(state, a).filter(({ group }) => groups.has(group)).length;
  return {
    priority: a.priorityClass / 10,
    wait: Math.log(1 + (now - a.createdAt) / 3_600_000),
    fairShare: target === 0 ? 0.5 : Math.max(0, (target - held / Math.max(1, schedulable.length)) / target),
    topology: would.length === 0 ? 0 : 0.7 / groups.size + 0.3 * (would.length / inGroups),
    data:
      would.length === 0 || a.datasets.length === 0
        ? 0.5
        : mean(would.map((node) => mean(a.datasets.map((name) => Number(node.datasets.includes(name)))))),
    backlog: running === 0 ? Math.min(1, queued) : Math.min(1, queued / running),
    energy: paid.length === 0 || greatest <= least ? 0.5 : 1 - (mean(paid) - least) / (greatest - least),
    checkpoint: { auto: 1 / 6, manual: 1 / 11, none: 0 }[a.checkpoint],
    conformance: prints.length === 0 ? 0.5 : Math.min(1, most / a.nodes),
  };
}

/** The penalty by the formula of docs/scheduler.md, from usage summed over every attempt. */
export function slowPenalty(state: QuotaState, tenant: string, now: number): number {
  const { gpuHoursBudget, nodeHoursBudget } = tenantOf(state, tenant);
  const mine = [...state.allocations.values()].filter((a) => a.tenant === tenant);
  const used = slowUsage(mine, now - state.system.budgetPeriodDays * DAY_MS, now);
  const part = (hours: number, budget: number | null): number => (budget === null ? 0 : budget === 0 ? 1 : hours / budget);
  const u = Math.max(part(used.gpuHours, gpuHoursBudget), part(used.nodeHours, nodeHoursBudget));
  if (u <= 0.8) return 1;
  return u >= 1 ? 0.05 : 0.05 + (0.95 * (1 + Math.cos((Math.PI * (u - 0.8)) / 0.2))) / 2;
}
