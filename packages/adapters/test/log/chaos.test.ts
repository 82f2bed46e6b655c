import { newId, sha256 } from "@seneschal/adapters/log";
import { createMemoryLog, settableClock } from "@seneschal/adapters/memory";
import { isCoded } from "@seneschal/kernel";
import { openReplicated, type Replicated } from "@seneschal/kernel/log";
import type { LogEntry } from "@seneschal/kernel/ports";
import { type AppendFault, chaosLog, seededIntegers } from "@seneschal/kernel/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rounds } from "../suite-runner.ts";
import { type AllotmentCommand, type AllotmentState, allotment } from "./allotment.ts";

type Replica = Replicated<typeof allotment.initial, AllotmentCommand, unknown>;
const faults: readonly AppendFault[] = ["none", "none", "request_dropped", "reply_dropped", "duplicated", "delayed", "rival"];

/** A caller that never gives up: the same commands with the same ids until there is an answer. */
async function insist(replica: Replica, command: AllotmentCommand): Promise<unknown> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    try {
      return (await replica.propose([command]))[0]?.result;
    } catch (error) {
      if (!isCoded(error, "outcome_unknown")) throw error;
    }
  }
  throw new Error("no answer after 200 attempts");
}

test("three proposers behind a network that loses, repeats, delays and races: every answer is true once, no limit is passed", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const pick = seededIntegers(seed);
      const shared = createMemoryLog();
      const clock = settableClock(1000);
      const replicas: Replica[] = [];
      const rival: Replica = await openReplicated({ log: shared.open(), machine: allotment, clock, sha256, newId });
      for (let n = 0; n < 3; n += 1) {
        const log = chaosLog(
          shared.open(),
          () => faults[pick(faults.length)] as AppendFault,
          async () => {
            // The rival is a replica with a good connection: it takes the place with a command of its own.
            await rival.propose([{ id: newId(), kind: "take", tenant: `r${pick(3)}`, amount: 1 }]);
            return undefined;
          },
        );
        replicas.push(
          await openReplicated({ log, machine: allotment, clock, sha256, newId, snapshotEvery: 7, keepEntries: 3, keepMs: 0 }),
        );
      }
      const answers = new Map<string, unknown>();
      const commands: AllotmentCommand[] = Array.from({ length: 40 }, (_, at) => ({
        id: `c${at}`,
        kind: pick(3) === 0 ? "give" : "take",
        tenant: `t${pick(3)}`,
        amount: 1 + pick(6),
      }));
      const mirror: LogEntry[] = [];
      const witness = await openReplicated({ log: shared.open(), machine: allotment, clock, sha256, newId });
      witness.subscribe(({ seq, at, commands: applied, state }) => {
        mirror.push({ v: 1, seq, batchId: "", prevHash: "", at, commands: applied });
        for (const used of Object.values(state.inner.used)) expect(used).toBeLessThanOrEqual(state.inner.limit);
      });
      await Promise.all(
        commands.map(async (command) => {
          clock.advance(pick(5));
          answers.set(command.id, await insist(replicas[pick(3)] as Replica, command));
        }),
      );
      await witness.read();

      // An independent replay: sums of what the log says, against what the callers were told.
      const counted = new Map<string, number>();
      const used: Record<string, number> = {};
      for (const entry of mirror)
        for (const raw of entry.commands) {
          const command = raw as unknown as Extract<AllotmentCommand, { amount: number }>;
          counted.set(command.id, (counted.get(command.id) ?? 0) + 1);
          used[command.tenant] = (used[command.tenant] ?? 0) + (command.kind === "take" ? 1 : -1) * command.amount;
          expect(used[command.tenant]).toBeGreaterThanOrEqual(0);
          expect(used[command.tenant]).toBeLessThanOrEqual(10);
        }
      expect(mirror.map((entry) => entry.seq)).toEqual(mirror.map((_, at) => at + 1));
      for (const command of commands)
        expect([command.id, counted.get(command.id) ?? 0]).toEqual([command.id, answers.get(command.id) === "ok" ? 1 : 0]);
      const states = await Promise.all([...replicas, witness].map((replica) => replica.read()));
      expect(new Set(states.map((state) => allotment.hash(state))).size).toBe(1);
      const final: AllotmentState = (states[0] as (typeof states)[0]).inner;
      expect(Object.entries(final.used).sort()).toEqual(Object.entries(used).sort());
    }),
    { numRuns: rounds(200) },
  );
});
