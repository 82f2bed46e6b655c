import {
  budgetCrossings,
  type Command,
  type Housekeeping,
  housekeeping,
  type Plan,
  type PlanOptions,
  plan,
  type QuotaState,
  type Reason,
  type Score,
} from "@seneschal/quota";
import type { Quotas } from "../quotas.ts";

/** What a cycle came to. */
export interface CycleReport {
  readonly proposed: number;
  readonly started: number;
  /** Proposals that lost against another's, or that a quota stopped after all. */
  readonly refused: number;
  readonly waiting: readonly Reason[];
  readonly ms: number;
}

export interface Cycle {
  /** Runs one cycle; calls that overlap share one that begins after them. */
  run(): Promise<CycleReport>;
  /** The plan of the last cycle of this process. */
  last(): { readonly plan: Plan; readonly at: number } | undefined;
  /** The score that an allocation had when this process last planned it. */
  scored(allocation: string): { readonly score: Score; readonly at: number } | undefined;
}

/** Scores are remembered for this many allocations, those planned last. */
const SCORES_KEPT = 100_000;

export interface CycleOptions {
  readonly quotas: Quotas;
  readonly now: () => number;
  readonly newId: () => string;
  readonly plan: PlanOptions;
  readonly housekeeping: Housekeeping;
  /** What the cycle must know first: heartbeats that are not in the log yet. */
  readonly before: () => Promise<void>;
  readonly onReport?: (report: CycleReport) => void;
}

/**
 * The scheduling cycle: house-keeping, then plan, propose, and write down why the rest waits. It holds no lock and needs no
 * leader: a second scheduler that does the same meanwhile loses by version and is harmless.
 */
export function openCycle(options: CycleOptions): Cycle {
  const { quotas, now, newId, onReport } = options;
  let last: { readonly plan: Plan; readonly at: number } | undefined;
  const scores = new Map<string, { readonly score: Score; readonly at: number }>();
  let running: Promise<CycleReport> | undefined;
  let next: Promise<CycleReport> | undefined;

  async function once(): Promise<CycleReport> {
    const began = performance.now();
    await options.before();
    await tidy(await quotas.read());
    const at = now();
    const planned = plan(quotas.state(), at, options.plan);
    last = { plan: planned, at };
    remember(planned, at);
    const commands = planned.proposals.map((proposal) => ({ ...proposal, id: newId(), by: "system" }) as Command);
    const verdicts = await quotas.proposeAll(commands);
    const started = verdicts.filter((verdict) => verdict.ok).length;
    const reasons = afterRefusals(planned, commands, verdicts);
    if (reasons.length > 0) await quotas.proposeAll([{ kind: "allocation.reasons", id: newId(), by: "system", reasons }]);
    const report = {
      proposed: commands.length,
      started: planned.proposals.filter((p, i) => p.kind === "allocation.assign" && verdicts[i]?.ok === true).length,
      refused: commands.length - started,
      waiting: planned.reasons,
      ms: performance.now() - began,
    };
    onReport?.(report);
    return report;
  }

  function remember(planned: Plan, at: number): void {
    for (const [allocation, score] of planned.scores) {
      scores.delete(allocation);
      scores.set(allocation, { score, at });
    }
    for (const allocation of scores.keys()) {
      if (scores.size <= SCORES_KEPT) break;
      scores.delete(allocation);
    }
  }

  async function tidy(state: QuotaState): Promise<void> {
    const at = now();
    const commands: Command[] = housekeeping(state, at, options.housekeeping).map(
      (command) => ({ ...command, id: newId(), by: "system" }) as Command,
    );
    const crossings = budgetCrossings(state, at);
    if (crossings.length > 0) commands.push({ kind: "budget.record", id: newId(), by: "system", crossings });
    if (commands.length > 0) await quotas.proposeAll(commands);
  }

  return {
    last: () => last,
    scored: (allocation) => scores.get(allocation),
    run() {
      if (running === undefined) {
        running = once().finally(() => {
          running = undefined;
        });
        return running;
      }
      next ??= running
        .catch(() => undefined)
        .then(() => {
          next = undefined;
          return this.run();
        });
      return next;
    },
  };
}

/** A proposal that a quota refused carries the reason from now on, and is not proposed again without headroom. */
function afterRefusals(
  planned: Plan,
  commands: readonly Command[],
  verdicts: Awaited<ReturnType<Quotas["proposeAll"]>>,
): readonly (readonly [string, string])[] {
  const reasons = [...planned.changed];
  for (const [i, verdict] of verdicts.entries()) {
    const command = commands[i];
    if (verdict.ok || command?.kind !== "allocation.assign") continue;
    if (verdict.code === "quota_exceeded")
      reasons.push([
        command.allocation,
        verdict.details["quota"] === "sensitive_pool_size" ? "waiting for sensitive pool" : "waiting for quota headroom",
      ]);
  }
  return reasons;
}
