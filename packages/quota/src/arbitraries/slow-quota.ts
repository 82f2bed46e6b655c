import { type Allocation, countedGpus, holdsNodes, isActive } from "../state/allocation.ts";
import type { QuotaState } from "../state/state.ts";
import { guaranteedNodes } from "../state/tenant.ts";

/** What everybody holds, counted from the allocations alone, by the definitions of docs/scheduler.md. */
export function slowHolding(
  state: QuotaState,
  tenant: string,
): { nodes: number; allocations: number; reserved: number; gpus: Record<string, number> } {
  const mine = [...state.allocations.values()].filter((a) => a.tenant === tenant);
  const children = [...state.tenants.values()].filter((t) => t.parent === tenant);
  const own = mine.filter((a) => holdsNodes(a.state)).reduce((sum, a) => sum + a.assigned.length, 0);
  const total = {
    nodes: own,
    allocations: mine.filter((a) => isActive(a.state)).length,
    reserved: own,
    gpus: {} as Record<string, number>,
  };
  for (const a of mine) for (const [type, n] of Object.entries(a.gpusByType)) total.gpus[type] = (total.gpus[type] ?? 0) + n;
  for (const child of children) {
    const below = slowHolding(state, child.id);
    total.nodes += below.nodes;
    total.allocations += below.allocations;
    total.reserved += Math.max(below.reserved, guaranteedNodes(child));
    for (const [type, n] of Object.entries(below.gpus)) total.gpus[type] = (total.gpus[type] ?? 0) + n;
  }
  return total;
}

/** The ledger of docs/scheduler.md, recomputed from every attempt: hours clipped to the window. */
export function slowUsage(allocations: Iterable<Allocation>, from: number, to: number): { nodeHours: number; gpuHours: number } {
  let nodeMs = 0n;
  let gpuMs = 0n;
  for (const allocation of allocations)
    for (const { startedAt, endedAt, nodes, gpus } of allocation.attempts) {
      const ms = BigInt(Math.max(0, Math.min(endedAt ?? to, to) - Math.max(startedAt, from)));
      nodeMs += ms * BigInt(nodes);
      gpuMs += ms * BigInt(gpus);
    }
  return { nodeHours: Number(nodeMs) / 3_600_000, gpuHours: Number(gpuMs) / 3_600_000 };
}

/** GPUs of an allocation as the ledger counts them, from the counts written down at its assignment. */
export function slowGpus(allocation: Allocation): number {
  return allocation.perNodeGpus.map(countedGpus).reduce((a, b) => a + b, 0);
}
