import { checkArgument } from "@seneschal/kernel";
import { type Allocation, holdsNodes } from "../state/allocation.ts";

/** Below this utilisation nodes count as idle, and bursting is allowed. */
const BURST_UTILISATION = 0.8;

/**
 * The share that a tenant may grow to at this utilisation: its target, or up to `burst` times it while nodes are idle
 * (1.5 is at most 150 %, reached at utilisation 0).
 *
 * @example
 * ```ts
 * import { effectiveShare } from "@seneschal/quota";
 * console.log(effectiveShare(0.25, 1.5, 0)); // 0.375
 * ```
 */
export function effectiveShare(target: number, burst: number | null, utilisation: number): number {
  if (burst === null || burst <= 1 || utilisation >= BURST_UTILISATION) return target;
  return target * (1 + ((burst - 1) * (BURST_UTILISATION - utilisation)) / BURST_UTILISATION);
}

/** The fair-share-deficit term: how far a tenant is below its share, 0..1; 0.5 without a target. */
export function shareDeficit(share: number, effective: number): number {
  return effective <= 0 ? 0.5 : Math.max(0, (effective - share) / effective);
}

/**
 * The allocations of one tenant that are burst: in order of start, then id, those whose nodes take the sum beyond
 * `target x capacity`. They are the first candidates for preemption.
 */
export function burstAllocations(running: readonly Allocation[], target: number, capacity: number): ReadonlySet<string> {
  checkArgument("running", running, "array");
  checkArgument("target", target, "number");
  checkArgument("capacity", capacity, "number");
  const burst = new Set<string>();
  let nodes = 0;
  const ordered = running
    .filter((allocation) => holdsNodes(allocation.state))
    .sort((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0) || (a.id < b.id ? -1 : 1));
  for (const allocation of ordered) {
    nodes += allocation.assigned.length;
    if (nodes > target * capacity) burst.add(allocation.id);
  }
  return burst;
}
