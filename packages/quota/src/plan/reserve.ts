import { fits } from "../apply/assign.ts";
import { checkQuotas } from "../hard-quota.ts";
import { type Allocation, isSensitive } from "../state/allocation.ts";
import type { QuotaState } from "../state/state.ts";
import { FreePool } from "./free-pool.ts";

/** Nodes kept for the first allocation that waits for nodes, and when the rest of them will be there. */
export interface Reservation {
  readonly head: Allocation;
  /** By the walltimes of what runs, milliseconds. */
  readonly at: number;
  /** The free nodes that it needs by then; who has ended by then may use them meanwhile. */
  readonly pool: FreePool;
}

interface Circumstances {
  readonly spec: QuotaState;
  readonly now: number;
  /** The free nodes; what is kept is taken out of it. */
  readonly pool: FreePool;
  readonly running: readonly Allocation[];
}

/**
 * EASY backfilling (Lifka, "The ANL/IBM SP Scheduling System", 1995): finds when the allocation can start if everything that
 * runs ends with its walltime, and keeps the free nodes that it will need. What comes behind it may start only if it has
 * ended by then, or needs neither these nodes nor the quota. Undefined when its nodes never become free by that reckoning.
 *
 * Work that is not bounded has no end; work beyond its walltime ends now.
 */
export function reserveFor(head: Allocation, { spec, now, pool, running }: Circumstances): Reservation | undefined {
  const ends = running
    .map((allocation) => ({ allocation, end: Math.max(now, estimatedEnd(allocation)) }))
    .filter(({ end }) => end < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.end - b.end);
  const free = pool.free(head);
  let released = 0;
  for (const [i, { allocation, end }] of ends.entries()) {
    released += usableNodes(spec, head, allocation);
    // all that ends at this moment counts
    if (ends[i + 1]?.end === end || free + released < head.minNodes) continue;
    return { head, at: end, pool: new FreePool(pool.take(head, Math.max(0, head.minNodes - released))) };
  }
  return undefined;
}

/** When running work has used its walltime; never, unless it is bounded. */
function estimatedEnd({ lifecycle, startedAt, walltimeHours }: Allocation): number {
  return lifecycle === "bounded" ? (startedAt ?? 0) + walltimeHours * 3_600_000 : Number.POSITIVE_INFINITY;
}

/** Started now, it has given its nodes back by then. Sensitive work has not: its claims outlive it. */
export function endsBy(pending: Allocation, now: number, at: number): boolean {
  return !isSensitive(pending) && estimatedEnd({ ...pending, startedAt: now }) <= at;
}

/** The quotas leave room for the reserved allocation, whatever else is released until then. */
export function admits(state: QuotaState, { head, pool }: Reservation): boolean {
  const { tenant, user, minNodes: nodes, gpuType, gpusPerNode } = head;
  const demand = {
    tenant,
    user,
    nodes,
    allocations: 1,
    sensitive: isSensitive(head) ? Math.max(0, nodes - pool.claimedFor(head)) : 0,
    gpus: gpuType === null ? {} : { [gpuType]: nodes * (gpusPerNode ?? 1) },
  };
  return checkQuotas(state, demand) === undefined;
}

/** How many of a running allocation's nodes a pending one could use after it. */
export function usableNodes(state: QuotaState, pending: Allocation, running: Allocation): number {
  let count = 0;
  for (const id of running.assigned) {
    const node = state.nodes.get(id);
    if (node?.state !== "ready" || !fits(node, pending)) continue;
    const { claim } = node;
    const own = isSensitive(pending) && claim?.claimant === pending.user && claim.tenant === pending.tenant;
    if (claim === null || own) count++;
  }
  return count;
}
