import type { Rejection } from "../errors.ts";
import { isRejection } from "../errors.ts";
import type { Allocation } from "../state/allocation.ts";
import { type AllocationPatch, moveAllocation } from "./keep-allocation.ts";
import type { Work } from "./work.ts";

/** Why an allocation ended badly: its node went, its command failed, or it had to give way. */
export interface Failure {
  readonly cause: "node" | "exit" | "preempted";
  readonly reason: string;
  readonly exitCode?: number;
}

/** Fails an allocation and, where its policy says so, puts it back into the queue in the same command. */
export function failAllocation(work: Work, allocation: Allocation, failure: Failure): Allocation | Rejection {
  const patch: AllocationPatch = {
    statusReason: failure.reason,
    ...(failure.exitCode === undefined ? {} : { exitCode: failure.exitCode }),
    preemptedFor: null,
  };
  const failed = moveAllocation(work, allocation, "failed", patch);
  if (isRejection(failed)) return failed;
  const policy = failed.requeuePolicy;
  const again = policy === "always" || (policy === "on_node_failure" && failure.cause === "node");
  if (!again || failed.requeues >= failed.maxRequeue) return failed;
  return moveAllocation(work, failed, "pending", {
    statusReason: `requeued: ${failure.reason}`,
    requeues: failed.requeues + 1,
    exitCode: null,
  });
}
