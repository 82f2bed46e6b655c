import type { MoveAllocation, PreemptAllocations, PruneAllocations, SetReasons } from "../command.ts";
import { isRejection, reject } from "../errors.ts";
import { type Allocation, isSensitive, isTerminal } from "../state/allocation.ts";
import { failAllocation } from "./fail-allocation.ts";
import { moveAllocation } from "./keep-allocation.ts";
import { staleVersion } from "./tenant.ts";
import { audit, type Handled, record, tell, type Work } from "./work.ts";

/** Moves an allocation on: end, cancel, suspend, resume, requeue. Assignments have a command of their own. */
export function moveCommand(work: Work, command: MoveAllocation): Handled {
  const before = work.draft.allocations.get(command.allocation);
  if (before === undefined)
    return reject("not_found", `allocation not found: ${command.allocation}`, { allocation: command.allocation });
  const stale = staleVersion("allocation", before.id, command.ifVersion, before.version);
  if (stale !== undefined) return stale;
  const { to } = command;
  if (before.state === "pending" && (to === "staging" || to === "running"))
    return reject("invalid_transition", "an allocation starts only by an assignment of nodes", {
      allocation: before.id,
      from: before.state,
      to,
    });
  if (before.state === "failed" && to === "pending") {
    if (before.requeuePolicy === "never" || before.requeues >= before.maxRequeue)
      return reject("invalid_transition", `allocation ${before.id} is failed and its policy allows no requeue`, {
        allocation: before.id,
        from: before.state,
        to,
      });
    if (command.expectedRequeues !== before.requeues)
      return reject("stale_state", `allocation ${before.id} was requeued ${before.requeues} times`, {
        allocation: before.id,
        expected: command.expectedRequeues ?? null,
        actual: before.requeues,
      });
  }
  const after = carryOut(work, before, command);
  if (isRejection(after)) return after;
  if (to === "cancelled" || (before.state === "failed" && to === "pending"))
    audit(
      work,
      command,
      "allocation",
      before.id,
      { from: before.state, to },
      `allocation.${to === "pending" ? "requeue" : "cancel"}`,
    );
  return { ok: true, result: { allocation: after.id, state: after.state, version: after.version } };
}

function carryOut(work: Work, before: Allocation, command: MoveAllocation): ReturnType<typeof moveAllocation> {
  const { to, reason, exitCode } = command;
  if (to === "failed" && before.state !== "pending" && before.state !== "suspended")
    return failAllocation(work, before, {
      cause: "exit",
      reason: reason ?? (exitCode === undefined ? "failed" : `exit code ${exitCode}`),
      ...(exitCode === undefined ? {} : { exitCode }),
    });
  const end = { ...(reason === undefined ? {} : { statusReason: reason }), ...(exitCode === undefined ? {} : { exitCode }) };
  if (before.state === "failed" && to === "pending")
    return moveAllocation(work, before, to, { ...end, requeues: before.requeues + 1, exitCode: null });
  const after = moveAllocation(work, before, to, end);
  // what gave way to another goes straight back into the queue
  if (isRejection(after) || to !== "suspended" || before.preemptedFor === null) return after;
  return moveAllocation(work, after, "pending", { statusReason: "preempted, waiting to resume", preemptedFor: null });
}

/** Only reasons of waiting allocations change; one that moved on meanwhile is passed over. */
export function setReasons(work: Work, command: SetReasons): Handled {
  let changed = 0;
  const kept: [string, Allocation][] = [];
  for (const [id, reason] of command.reasons) {
    const before = work.draft.allocations.get(id);
    if (before === undefined || before.state !== "pending" || before.statusReason === reason) continue;
    changed++;
    kept.push([id, { ...before, statusReason: reason }]);
    tell(work, "allocation.held", before.tenant, { allocation_id: id, user: before.user, to: "pending", reason });
  }
  if (changed === 0) return reject("stale_state", "no reason changed");
  work.draft.allocations = work.draft.allocations.setAll(kept);
  return { ok: true, result: { changed } };
}

/** Running work gives way: by a checkpoint where it has one, else it fails or is requeued by its policy. */
export function preemptAllocations(work: Work, command: PreemptAllocations): Handled {
  const pending = work.draft.allocations.get(command.for);
  if (pending === undefined || pending.state !== "pending")
    return reject("stale_state", `allocation ${command.for} is not waiting`, { allocation: command.for });
  for (const victim of command.victims) {
    const before = work.draft.allocations.get(victim.allocation);
    if (before === undefined)
      return reject("not_found", `allocation not found: ${victim.allocation}`, { allocation: victim.allocation });
    const stale = staleVersion("allocation", before.id, victim.version, before.version);
    if (stale !== undefined) return stale;
    if (before.state !== "running" || isSensitive(before) || before.priorityClass === 10)
      return reject("invalid_transition", `allocation ${before.id} cannot be preempted`, {
        allocation: before.id,
        from: before.state,
        to: "checkpointing",
      });
    const reason = `preempted for allocation ${command.for}`;
    const after =
      before.checkpoint === "none"
        ? failAllocation(work, before, { cause: "preempted", reason })
        : moveAllocation(work, before, "checkpointing", { statusReason: reason, preemptedFor: command.for });
    if (isRejection(after)) return after;
    audit(work, command, "allocation", before.id, { for: command.for, to: after.state });
    record(work, "allocation.preempted", before.tenant, { allocation_id: before.id, for: command.for, to: after.state });
  }
  return { ok: true, result: { victims: command.victims.map(({ allocation }) => allocation) } };
}

/** Forgets ended allocations; the usage over time stays. */
export function pruneAllocations(work: Work, command: PruneAllocations): Handled {
  let pruned = 0;
  for (const id of command.allocations) {
    const allocation = work.draft.allocations.get(id);
    if (allocation === undefined || !isTerminal(allocation.state)) continue;
    work.draft.allocations = work.draft.allocations.delete(id);
    pruned++;
  }
  return pruned === 0 ? reject("stale_state", "nothing to prune") : { ok: true, result: { pruned } };
}
