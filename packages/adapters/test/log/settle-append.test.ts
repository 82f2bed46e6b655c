import { createMemoryLog } from "@seneschal/adapters/memory";
import { isCoded } from "@seneschal/kernel";
import { emptyHead } from "@seneschal/kernel/log";
import type { AppendResult, LogEntry, LogHead } from "@seneschal/kernel/ports";
import { seededIntegers } from "@seneschal/kernel/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type AttemptError, settleAppend } from "../../src/log/settle-append.ts";
import { rounds } from "../suite-runner.ts";

class Failed extends Error {
  readonly kind: AttemptError;
  constructor(kind: AttemptError) {
    super(kind);
    this.kind = kind;
  }
}

const entryAfter = (head: LogHead, batchId: string): LogEntry => ({
  v: 1,
  seq: head.seq + 1,
  batchId,
  prevHash: "",
  at: 0,
  commands: [{ id: batchId }],
});
const classify = (error: unknown): AttemptError => (error instanceof Failed ? error.kind : "ambiguous");

/** The engine's bare transaction: compares the head and knows nothing of batches, as a real one does. */
function bareLog() {
  const log = createMemoryLog().open();
  return {
    log,
    attempt: async (head: LogHead, entry: LogEntry): Promise<AppendResult> => {
      const { head: current } = await log.read(0, { limit: 1 });
      if (current.seq === head.seq && current.batchId === head.batchId) return log.append(head, entry);
      const { entries } = await log.read(head.seq, { limit: 10 });
      return { ok: false, head: current, tail: entries };
    },
    look: async (head: LogHead) => {
      const found = await log.read(head.seq, { limit: 10 });
      return { head: found.head, tail: found.entries };
    },
  };
}

test("whatever the network does, an append is applied at most once and its answer is true", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const pick = seededIntegers(seed);
      const { log, attempt, look } = bareLog();
      const late: { readonly head: LogHead; readonly entry: LogEntry }[] = [];
      const answers = new Map<string, boolean | "unknown" | "full">();
      let head = emptyHead;
      for (let n = 0; n < 8; n += 1) {
        const entry = entryAfter(head, `mine-${n}`);
        let faults = pick(4);
        const network = async (): Promise<AppendResult> => {
          for (const delayed of late.splice(0)) await attempt(delayed.head, delayed.entry);
          if (faults === 0) return attempt(head, entry);
          faults -= 1;
          switch (pick(6)) {
            case 0:
              throw new Failed("not_sent");
            case 1:
              throw new Failed("ambiguous");
            case 2:
              await attempt(head, entry);
              throw new Failed("ambiguous");
            case 3:
              late.push({ head, entry });
              throw new Failed("ambiguous");
            case 4: {
              const { head: now } = await log.read(0, { limit: 1 });
              await attempt(now, entryAfter(now, `rival-${n}-${faults}`));
              return attempt(head, entry);
            }
            default:
              if (pick(2) === 0) await attempt(head, entry);
              throw new Failed("full");
          }
        };
        const outcome = await settleAppend(head, entry, {
          attempt: network,
          look: () => look(head),
          classify,
          totalMs: 1000,
          pauseMs: 0,
        }).catch((error: unknown) => error);
        if (isCoded(outcome, "outcome_unknown")) answers.set(entry.batchId, "unknown");
        else if (isCoded(outcome, "log_full")) answers.set(entry.batchId, "full");
        else answers.set(entry.batchId, (outcome as AppendResult).ok);
        head = (await log.read(0, { limit: 1 })).head;
      }
      for (const delayed of late) await attempt(delayed.head, delayed.entry);
      const { entries } = await log.read(0, { limit: 1000 });
      for (const [batchId, answer] of answers) {
        const times = entries.filter((entry) => entry.batchId === batchId).length;
        expect(times).toBeLessThanOrEqual(1);
        if (answer !== "unknown") expect([batchId, times === 1]).toEqual([batchId, answer === true]);
      }
      expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, at) => at + 1));
    }),
    { numRuns: rounds(60) },
  );
});

test("a definite error does not settle an earlier ambiguous attempt: the log is read, and silence stays unknown", async () => {
  for (const applied of [true, false]) {
    const { attempt, look } = bareLog();
    const entry = entryAfter(emptyHead, "mine");
    let attempts = 0;
    const outcome = settleAppend(emptyHead, entry, {
      attempt: async () => {
        attempts += 1;
        if (attempts > 1) throw new Failed("definite");
        if (applied) await attempt(emptyHead, entry);
        throw new Failed("ambiguous");
      },
      look: () => look(emptyHead),
      classify,
      totalMs: 1000,
      pauseMs: 0,
    });
    if (applied) expect(await outcome).toEqual({ ok: true, head: { seq: 1, batchId: "mine" } });
    else await expect(outcome).rejects.toMatchObject({ code: "outcome_unknown" });
    expect(attempts).toBe(2);
  }
});

test("what was never sent is no_quorum; what may have been is outcome_unknown; a lone definite error is definite", async () => {
  const { look } = bareLog();
  const outcome = (kind: AttemptError) =>
    settleAppend(emptyHead, entryAfter(emptyHead, "x"), {
      attempt: () => Promise.reject(new Failed(kind)),
      look: () => look(emptyHead),
      classify,
      totalMs: 30,
      pauseMs: 1,
    });
  await expect(outcome("not_sent")).rejects.toMatchObject({ code: "no_quorum" });
  await expect(outcome("ambiguous")).rejects.toMatchObject({ code: "outcome_unknown" });
  await expect(outcome("definite")).rejects.toMatchObject({ code: "log_misconfigured" });
  await expect(outcome("full")).rejects.toMatchObject({ code: "log_full" });
});
