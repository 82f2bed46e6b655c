import { checkArgument } from "@seneschal/kernel";
import { type Allocation, isSensitive } from "../state/allocation.ts";
import type { PreemptionMode } from "../state/tenant.ts";

/** At most this many allocations give way to one. */
const MAX_VICTIMS = 3;

/** A running allocation that may have to give way, with the nodes that this would free for the one that waits. */
export interface Candidate {
  readonly allocation: Allocation;
  readonly burst: boolean;
  readonly cost: number;
  readonly frees: number;
}

/**
 * What it costs to interrupt an allocation: its checkpoint, and the value of what it has nearly finished
 * (quota brief, section 11.4).
 */
export function preemptionCost(allocation: Allocation, now: number): number {
  checkArgument("allocation", allocation, "object");
  checkArgument("now", now, "number");
  const elapsed = now - (allocation.startedAt ?? now);
  const checkpoint =
    allocation.checkpoint === "auto"
      ? 5
      : allocation.checkpoint === "manual"
        ? 10
        : allocation.assigned.length * (elapsed / 60_000);
  const fraction = elapsed / (allocation.walltimeHours * 3_600_000);
  const value = fraction >= 0.9 ? 1000 : fraction < 0.1 ? 1 : fraction * 100;
  return checkpoint + value;
}

/** Whether running work may give way by the rule of its tenant or cluster: it has run long enough, and comes back unless any may end. */
export function givesWay(
  running: Allocation,
  { mode, exemptMs, now }: { readonly mode: PreemptionMode; readonly exemptMs: number; readonly now: number },
): boolean {
  if (mode === "off" || running.state !== "running" || now - (running.startedAt ?? now) < exemptMs) return false;
  const comesBack =
    running.checkpoint !== "none" || (running.requeuePolicy === "always" && running.requeues < running.maxRequeue);
  return mode === "cancel" || comesBack;
}

/** Whether `running` may have to give way to `pending` at all. */
export function mayPreempt(
  pending: Allocation,
  running: Allocation,
  facts: { readonly burst: boolean; readonly belowShare: boolean },
): boolean {
  if (running.state !== "running" || isSensitive(running) || running.priorityClass === 10) return false;
  if (running.priorityClass < pending.priorityClass) return true;
  const reclaim = facts.burst && facts.belowShare && running.tenant !== pending.tenant;
  return reclaim && running.priorityClass <= pending.priorityClass;
}

/** Burst work before any other, then the cheapest, then the latest started, then by id. */
export function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    Number(b.burst) - Number(a.burst) ||
    a.cost - b.cost ||
    (b.allocation.startedAt ?? 0) - (a.allocation.startedAt ?? 0) ||
    (a.allocation.id < b.allocation.id ? -1 : 1)
  );
}

/**
 * Chooses who gives way, from candidates in the order of {@link compareCandidates}: the set that frees at least `need`
 * nodes with the fewest non-burst members, then the fewest members, then the earliest in order; empty when three do not
 * suffice.
 */
export function chooseVictims(candidates: readonly Candidate[], need: number): readonly Candidate[] {
  const useful = candidates.filter(({ frees }) => frees > 0);
  const burst = useful.filter((candidate) => candidate.burst);
  const other = useful.filter((candidate) => !candidate.burst);
  const [burstBest, otherBest] = [bestSums(burst), bestSums(other)];
  for (let others = 0; others <= MAX_VICTIMS; others++) {
    for (let bursts = 0; bursts + others <= MAX_VICTIMS; bursts++) {
      const fromOther = otherBest[others]?.[0] ?? 0;
      const fromBurst = burstBest[bursts]?.[0] ?? 0;
      if (bursts + others === 0 || fromBurst === NEVER || fromOther === NEVER || fromBurst + fromOther < need) continue;
      const first = earliest(burst, burstBest, bursts, need - fromOther);
      const freed = first.reduce((sum, { frees }) => sum + frees, 0);
      return [...first, ...earliest(other, otherBest, others, need - freed)];
    }
  }
  return [];
}

const NEVER = Number.NEGATIVE_INFINITY;

/** `best[k][i]`: the most that k candidates from position i on can free. */
function bestSums(candidates: readonly Candidate[]): readonly (readonly number[])[] {
  const best: number[][] = [new Array<number>(candidates.length + 1).fill(0)];
  for (let k = 1; k <= MAX_VICTIMS; k++) {
    const row = new Array<number>(candidates.length + 1).fill(NEVER);
    for (let i = candidates.length - 1; i >= 0; i--)
      row[i] = Math.max(row[i + 1] as number, (candidates[i] as Candidate).frees + (best[k - 1]?.[i + 1] as number));
    best.push(row);
  }
  return best;
}

/** The lexicographically first k candidates that free at least `need`; they exist. */
function earliest(
  candidates: readonly Candidate[],
  best: readonly (readonly number[])[],
  k: number,
  need: number,
): readonly Candidate[] {
  const chosen: Candidate[] = [];
  let missing = need;
  for (let i = 0; i < candidates.length && chosen.length < k; i++) {
    const candidate = candidates[i] as Candidate;
    const rest = best[k - chosen.length - 1]?.[i + 1] as number;
    if (candidate.frees + rest < missing) continue;
    chosen.push(candidate);
    missing -= candidate.frees;
  }
  return chosen;
}
