import { newId, sha256 } from "@seneschal/adapters/log";
import { systemClock } from "@seneschal/adapters/system";
import { isCoded } from "@seneschal/kernel";
import { openReplicated, type Proposed, type Replicated } from "@seneschal/kernel/log";
import type { ReplicatedLog } from "@seneschal/kernel/ports";
import { expect } from "vitest";
import { type AllotmentCommand, allotment } from "../log/allotment.ts";

export type Replica = Replicated<typeof allotment.initial, AllotmentCommand, unknown>;

export const openReplica = (log: ReplicatedLog): Promise<Replica> =>
  openReplicated({ log, machine: allotment, clock: systemClock, sha256, newId });

/** One operation of the history: what was told, at which entry of the log, and the newest entry known when it was asked. */
export interface Told {
  readonly result: unknown;
  readonly seq: number;
  readonly askedAfter: number;
}

/** What callers were told, and the longest time in which nobody was told anything. */
export interface LoadReport {
  /** By command id. */
  readonly answers: ReadonlyMap<string, Told>;
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
  const answers = new Map<string, Told>();
  let newest = 0;
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
      const askedAfter = newest;
      const { result, seq } = await insist(replicas[at % replicas.length] as Replica, command);
      answers.set(command.id, { result, seq, askedAfter });
      newest = Math.max(newest, seq);
      if (result === "ok") held = giving ? 0 : command.kind === "take" ? command.amount : held;
      longestGapMs = Math.max(longestGapMs, Date.now() - last);
      last = Date.now();
    }
  };
  const insist = async (replica: Replica, command: AllotmentCommand): Promise<Proposed<unknown>> => {
    for (;;) {
      try {
        return (await replica.propose([command]))[0] as Proposed<unknown>;
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

/**
 * Replays the log by itself and judges the history: every accepted command is in the log once and every refused one never;
 * no limit is passed at any entry; and the history is linearizable with the log as the witness: an accepted command takes
 * effect at its entry, a refusal is true within the entry it names, and both lie behind everything that was answered before
 * the command was asked.
 */
export async function checkHistory(
  log: ReplicatedLog,
  { answers, commands }: Pick<LoadReport, "answers" | "commands">,
): Promise<void> {
  const used = new Map<string, number>();
  const placeOf = new Map<string, number>();
  const refusals = new Map<number, { readonly id: string; readonly result: unknown }[]>();
  for (const [id, { result, seq }] of answers)
    if (result !== "ok") refusals.set(seq, [...(refusals.get(seq) ?? []), { id, result }]);
  /** A refusal travels in a batch: it is true between two commands of its entry, or before or behind them. */
  const checkRefusals = (seq: number, visited: ReadonlyMap<string, ReadonlySet<number>>): void => {
    for (const { id, result } of refusals.get(seq) ?? []) {
      const { kind, tenant, amount } = commands.get(id) as Extract<AllotmentCommand, { amount: number }>;
      const possible = [...(visited.get(tenant) ?? [used.get(tenant) ?? 0])].map((current) =>
        kind === "give" ? `rejected: ${current} held` : `rejected: current ${current} requested ${amount} limit 10`,
      );
      expect(possible, `refusal of ${id} at entry ${seq}`).toContain(result);
    }
  };
  let seq = 0;
  checkRefusals(0, new Map());
  for (;;) {
    const { head, entries } = await log.read(seq, { limit: 1000 });
    for (const entry of entries) {
      seq += 1;
      expect(entry.seq).toBe(seq);
      const visited = new Map<string, Set<number>>();
      for (const raw of entry.commands) {
        const command = raw as unknown as Extract<AllotmentCommand, { amount: number }>;
        if (placeOf.has(command.id)) throw new Error(`${command.id} is twice in the log`);
        if (!commands.has(command.id)) throw new Error(`${command.id} was never asked for`);
        placeOf.set(command.id, seq);
        const current = used.get(command.tenant) ?? 0;
        const next = current + (command.kind === "take" ? command.amount : -command.amount);
        if (next < 0 || next > 10) throw new Error(`entry ${seq}: ${command.tenant} holds ${next}`);
        used.set(command.tenant, next);
        visited.set(command.tenant, (visited.get(command.tenant) ?? new Set([current])).add(next));
      }
      checkRefusals(seq, visited);
    }
    if (seq >= head.seq) break;
  }
  const wrong = [...answers].filter(([id, { result, seq: told, askedAfter }]) => {
    const place = placeOf.get(id);
    if (result !== "ok") return place !== undefined || told < askedAfter;
    return place === undefined || place > told || place <= askedAfter;
  });
  expect(wrong, "answers that the log does not bear out").toEqual([]);
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
