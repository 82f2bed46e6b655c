import { type Rejection, reject } from "../errors.ts";
import {
  type Allocation,
  type AllocationState,
  type Attempt,
  canMove,
  holdsNodes,
  isActive,
  isTerminal,
} from "../state/allocation.ts";
import { addHolding } from "../state/holdings.ts";
import { userKey } from "../state/state.ts";
import { Timeline } from "../state/timeline.ts";
import { mustBeWiped } from "./wipe.ts";
import { tell, type Work } from "./work.ts";

/** What may change beside the state when an allocation moves. */
export type AllocationPatch = Partial<
  Pick<
    Allocation,
    | "statusReason"
    | "assigned"
    | "places"
    | "perNodeGpus"
    | "gpusByType"
    | "startedAt"
    | "exitCode"
    | "requeues"
    | "preemptedFor"
    | "wipes"
  >
>;

/** Moves an allocation along the transition table, releasing its nodes when the new state holds none. */
export function moveAllocation(
  work: Work,
  before: Allocation,
  to: AllocationState,
  patch: AllocationPatch = {},
): Allocation | Rejection {
  if (!canMove(before.state, to)) {
    return reject("invalid_transition", `allocation ${before.id} is ${before.state} and cannot become ${to}`, {
      allocation: before.id,
      from: before.state,
      to,
    });
  }
  const keeps = holdsNodes(to);
  const held = holdsNodes(before.state);
  const stays = keeps && held;
  // every field by name behind one spread: this is the hot path
  const after: Allocation = {
    ...before,
    state: to,
    since: work.at,
    completedAt: isTerminal(to) ? work.at : null,
    statusReason: patch.statusReason ?? null,
    assigned: keeps ? (patch.assigned ?? before.assigned) : NONE,
    places: keeps ? (patch.places ?? before.places) : NONE,
    perNodeGpus: keeps ? (patch.perNodeGpus ?? before.perNodeGpus) : NONE,
    gpusByType: keeps ? (patch.gpusByType ?? before.gpusByType) : NO_GPUS,
    startedAt: patch.startedAt ?? before.startedAt,
    exitCode: patch.exitCode === undefined ? before.exitCode : patch.exitCode,
    requeues: patch.requeues ?? before.requeues,
    attempts: stays ? before.attempts : turnAttempts(work, before, keeps, patch),
    preemptedFor: patch.preemptedFor === undefined ? before.preemptedFor : patch.preemptedFor,
    wipes: patch.wipes ?? before.wipes,
    lastAssigned: held && !keeps ? before.assigned : before.lastAssigned,
    lastPerNodeGpus: held && !keeps ? before.perNodeGpus : before.lastPerNodeGpus,
    version: before.version + 1,
  };
  keepAllocation(work, before, after);
  const last = after.attempts.at(-1);
  tell(work, `allocation.${to}`, after.tenant, {
    allocation_id: after.id,
    user: after.user,
    from: before.state,
    to,
    reason: after.statusReason,
    nodes: last?.nodes ?? 0,
    gpus: last?.gpus ?? 0,
    started_at: last?.startedAt ?? null,
    ended_at: last?.endedAt ?? null,
  });
  return after;
}

/** What work holds, in the order of its nodes. */
export type Held = Pick<Allocation, "assigned" | "places" | "perNodeGpus" | "gpusByType">;

/** Gives running work other nodes than it holds, more or fewer: one attempt ends and the next begins. */
export function resizeAllocation(work: Work, before: Allocation, holds: Held): Allocation {
  const after: Allocation = {
    ...before,
    ...holds,
    attempts: turnAttempts(work, before, true, holds),
    version: before.version + 1,
  };
  keepAllocation(work, before, after);
  const closed = before.attempts.at(-1);
  tell(work, "allocation.resized", after.tenant, {
    allocation_id: after.id,
    user: after.user,
    from: before.state,
    to: after.state,
    nodes: closed?.nodes ?? 0,
    gpus: closed?.gpus ?? 0,
    started_at: closed?.startedAt ?? null,
    ended_at: work.at,
    new_nodes: after.assigned.length,
  });
  return after;
}

const NONE: readonly never[] = [];
const NO_GPUS: Readonly<Record<string, number>> = {};

function turnAttempts(work: Work, before: Allocation, opens: boolean, patch: AllocationPatch): readonly Attempt[] {
  const last = before.attempts.at(-1);
  const closed =
    last !== undefined && last.endedAt === null ? before.attempts.with(-1, { ...last, endedAt: work.at }) : before.attempts;
  if (!opens) return closed;
  const gpus = (patch.perNodeGpus ?? []).reduce<number>((sum, n) => sum + (n ?? 1), 0);
  return [...closed, { startedAt: work.at, endedAt: null, nodes: patch.assigned?.length ?? 0, gpus }];
}

/**
 * Puts the new version of an allocation into the state, and with it everything that follows from it: owners of nodes,
 * holdings, usage over time, the live set.
 * INVARIANT: every change of an allocation goes through here, so the derived maps never drift.
 */
export function keepAllocation(work: Work, before: Allocation | undefined, after: Allocation): void {
  const { draft } = work;
  draft.allocations = draft.allocations.set(after.id, after);
  if (before === undefined || isTerminal(before.state) !== isTerminal(after.state)) {
    draft.live = isTerminal(after.state) ? draft.live.delete(after.id) : draft.live.set(after.id, true);
  }
  const held = before === undefined || !holdsNodes(before.state) ? 0 : before.assigned.length;
  const holds = holdsNodes(after.state) ? after.assigned.length : 0;
  const active = Number(isActive(after.state)) - Number(before !== undefined && isActive(before.state));
  if (held === holds && active === 0) return;
  const gpus: Record<string, number> = { ...after.gpusByType };
  for (const [type, n] of Object.entries(before?.gpusByType ?? {})) gpus[type] = (gpus[type] ?? 0) - n;
  addHolding(draft, after.tenant, after.user, { nodes: holds - held, allocations: active, gpus });
  if (held === holds) return;
  const gained = countGpus(after) - (before === undefined ? 0 : countGpus(before));
  const user = userKey(after.user, after.tenant);
  draft.tenantUsage = draft.tenantUsage.set(
    after.tenant,
    (draft.tenantUsage.get(after.tenant) ?? Timeline.empty).step(work.at, holds - held, gained),
  );
  draft.userUsage = draft.userUsage.set(user, (draft.userUsage.get(user) ?? Timeline.empty).step(work.at, holds - held, gained));
  if (held === 0) {
    draft.owners = draft.owners.set(after.places, after.id);
    return;
  }
  const lost = holds === 0 ? (before?.places ?? NONE) : without(before?.places ?? NONE, after.places);
  if (lost.length > 0) draft.owners = draft.owners.set(lost, null);
  if (holds > 0) draft.owners = draft.owners.set(without(after.places, before?.places ?? NONE), after.id);
  if (before?.wipes === true) mustBeWiped(work, holds === 0 ? before.assigned : without(before.assigned, after.assigned));
}

function without<T>(all: readonly T[], some: readonly T[]): readonly T[] {
  const gone = new Set(some);
  return all.filter((item) => !gone.has(item));
}

/** GPUs as the ledger counts them. */
function countGpus(allocation: Allocation): number {
  return allocation.perNodeGpus.reduce<number>((sum, n) => sum + (n ?? 1), 0);
}
