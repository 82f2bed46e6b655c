import { newId, sha256 } from "@seneschal/adapters/log";
import { systemClock } from "@seneschal/adapters/system";
import { isCoded } from "@seneschal/core";
import { openReplicated, type Replicated } from "@seneschal/core/log";
import type { ReplicatedLog } from "@seneschal/core/ports";
import { expect } from "vitest";
import { type AllotmentCommand, allotment } from "../log/allotment.ts";

export type Replica = Replicated<typeof allotment.initial, AllotmentCommand, unknown>;

export const openReplica = (log: ReplicatedLog): Promise<Replica> =>
  openReplicated({ log, machine: allotment, clock: systemClock, sha256, newId });

/** What callers were told, and the longest time in which nobody was told anything. */
export interface LoadReport {
  /** Command id and answer. */
  readonly answers: ReadonlyMap<string, unknown>;
  readonly commands: ReadonlyMap<string, AllotmentCommand>;
  readonly unknown: number;
  readonly longestGapMs: number;
}

/**
 * `callers` callers take and give back until `work` is done; each insists on an answer with the same id when the outcome
 * is unknown or there is no quorum.
 */
export async function insistentLoad(
  replicas: readonly Replica[],
  callers: number,
  work: (answered: () => number) => Promise<void>,
): Promise<LoadReport> {
  const answers = new Map<string, unknown>();
  const commands = new Map<string, AllotmentCommand>();
  let unknown = 0;
  let longestGapMs = 0;
  let last = Date.now();
  let working = true;
  const run = newId().slice(0, 8);
  const caller = async (at: number): Promise<void> => {
    let held = 0;
    for (let n = 0; working; n += 1) {
      const giving = held > 0 && n % 2 === 1;
      const command: AllotmentCommand = {
        id: `${run}-${at}-${n}`,
        kind: giving ? "give" : "take",
        tenant: `t${at % 8}`,
        amount: giving ? held : 1 + (n % 3),
      };
      commands.set(command.id, command);
      const result = await insist(replicas[at % replicas.length] as Replica, command);
      answers.set(command.id, result);
      if (result === "ok") held = giving ? 0 : command.kind === "take" ? command.amount : held;
      longestGapMs = Math.max(longestGapMs, Date.now() - last);
      last = Date.now();
    }
  };
  const insist = async (replica: Replica, command: AllotmentCommand): Promise<unknown> => {
    for (;;) {
      try {
        return (await replica.propose([command]))[0]?.result;
      } catch (error) {
        if (!isCoded(error, "outcome_unknown", "no_quorum")) throw error;
        unknown += 1;
      }
    }
  };
  const load = Array.from({ length: callers }, (_, at) => caller(at));
  await Promise.race([work(() => answers.size), Promise.all(load)]);
  working = false;
  await Promise.all(load);
  return { answers, commands, unknown, longestGapMs };
}

/** Replays the log by itself: every answer is true exactly once, no limit is ever passed, no entry is missing. */
export async function checkHistory(
  log: ReplicatedLog,
  { answers, commands }: Pick<LoadReport, "answers" | "commands">,
): Promise<void> {
  const used = new Map<string, number>();
  const applied = new Map<string, number>();
  let seq = 0;
  for (;;) {
    const { head, entries } = await log.read(seq, { limit: 1000 });
    for (const entry of entries) {
      seq += 1;
      expect(entry.seq).toBe(seq);
      for (const raw of entry.commands) {
        const command = raw as unknown as Extract<AllotmentCommand, { amount: number }>;
        applied.set(command.id, (applied.get(command.id) ?? 0) + 1);
        const next = (used.get(command.tenant) ?? 0) + (command.kind === "take" ? command.amount : -command.amount);
        if (next < 0 || next > 10) throw new Error(`entry ${seq}: ${command.tenant} holds ${next}`);
        used.set(command.tenant, next);
      }
    }
    if (seq >= head.seq) break;
  }
  const wrong = [...answers].filter(([id, answer]) => (applied.get(id) ?? 0) !== (answer === "ok" ? 1 : 0));
  expect(wrong, "answers that the log does not bear out").toEqual([]);
  expect(
    [...applied.values()].every((times) => times === 1),
    "a command twice in the log",
  ).toBe(true);
  expect([...applied.keys()].every((id) => commands.has(id))).toBe(true);
}

/** Replicas that read the same head hold the same state. */
export async function checkAgreement(replicas: readonly Replica[]): Promise<void> {
  const states = await Promise.all(replicas.map((replica) => replica.read()));
  expect(new Set(states.map((state) => allotment.hash(state))).size).toBe(1);
}

/** Waits for a condition that other callers bring about. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
