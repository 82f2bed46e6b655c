import { checkArgument } from "@seneschal/kernel";
import type { CommandDraft } from "../command.ts";
import { type Allocation, isTerminal } from "../state/allocation.ts";
import type { QuotaState } from "../state/state.ts";

/** What time alone may bring about, in milliseconds. */
export interface Housekeeping {
  readonly heartbeatTimeoutMs: number;
  readonly checkpointTimeoutMs: number;
  /** Absent: walltime ends nothing. */
  readonly walltimeGraceMs?: number;
  readonly keepEndedMs: number;
  /** When this process began to listen: silence from before is not held against a node. */
  readonly listeningSince: number;
}

/** Records of ended work that one cycle forgets at most. */
const PRUNE_AT_ONCE = 1000;

/**
 * What time alone brings about: silent nodes go down, checkpoints that do not come fail, old records are forgotten. Only
 * heartbeats tell whether a node lives; work that writes no output for hours is healthy.
 */
export function housekeeping(state: QuotaState, now: number, settings: Housekeeping): readonly CommandDraft[] {
  checkArgument("state", state, "object");
  checkArgument("now", now, "number");
  checkArgument("settings", settings, "object");
  const commands: CommandDraft[] = [];
  for (const node of state.nodes.values()) {
    if (node.agent === null || node.state === "down" || node.state === "failed") continue;
    const heard = Math.max(node.lastHeartbeat ?? 0, settings.listeningSince);
    if (now - heard > settings.heartbeatTimeoutMs)
      commands.push({ kind: "node.operate", node: node.id, verb: "fail", why: "no heartbeat" });
  }
  for (const id of state.live.keys()) {
    const allocation = state.allocations.get(id) as Allocation;
    const { state: is, since, version } = allocation;
    if (is === "running" && overdue(allocation, now, settings.walltimeGraceMs))
      commands.push({ kind: "allocation.move", allocation: id, to: "failed", reason: "walltime exceeded", ifVersion: version });
    if (is === "checkpointing" && now - since > settings.checkpointTimeoutMs)
      commands.push({
        kind: "allocation.move",
        allocation: id,
        to: "failed",
        reason: "checkpoint timed out",
        ifVersion: version,
      });
  }
  const old = oldest(state, now - settings.keepEndedMs);
  if (old.length > 0) commands.push({ kind: "allocation.prune", allocations: old });
  return commands;
}

function overdue({ lifecycle, startedAt, walltimeHours }: Allocation, now: number, graceMs: number | undefined): boolean {
  if (graceMs === undefined || lifecycle !== "bounded" || startedAt === null) return false;
  return now - startedAt > walltimeHours * 3_600_000 + graceMs;
}

/** Ids sort by time of submission, so the oldest come first. */
function oldest(state: QuotaState, before: number): readonly string[] {
  const found: string[] = [];
  for (const allocation of state.allocations.values()) {
    if (allocation.createdAt > before || found.length === PRUNE_AT_ONCE) break;
    if (isTerminal(allocation.state) && (allocation.completedAt ?? before) <= before) found.push(allocation.id);
  }
  return found;
}
