import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deliveries } from "../../src/arbitraries/index.ts";
import {
  createMessage,
  judgeReceipt,
  type Lane,
  LaneTurns,
  nextDelivery,
  reachesPartner,
  stepDelivery,
  timestamp,
  unsuccessful,
} from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const DAY = 86_400_000;
const people = { sender_org_id: "acme", sender_id: "ada", recipient_org_id: "globex", recipient_id: "bob" };
const letter = { ...people, id: "m", conversation_id: null, subject: "s", body: "AA==" };

describe("a message in the outbox", () => {
  it("leaves it once, with one event that says how; until then it waits longer each time, and never beyond its expiry", () => {
    const tries = fc.array(fc.record({ delivery: deliveries, late: fc.integer({ min: 0, max: DAY }) }), { maxLength: 30 });
    fc.assert(
      fc.property(tries, fc.integer({ min: 1, max: 30 * DAY }), (all, lifetime) => {
        let message = createMessage({ ...letter, expires_at: timestamp(now + lifetime) }, now);
        let waited = 0;
        let events = 0;
        for (const { delivery, late } of all) {
          const at = nextDelivery(message) + late;
          const before = message;
          const step = stepDelivery(message, delivery, at);
          if (before.status !== "pending") {
            expect(step).toBeUndefined();
            continue;
          }
          message = step?.message ?? message;
          expect(message.attempts).toBe(before.attempts + 1);
          if (message.status === "pending") {
            expect([delivery.kind === "done", at < now + lifetime]).toEqual([false, true]);
            expect(nextDelivery(message) - at).toBeGreaterThanOrEqual(waited);
            expect(step?.event).toBeUndefined();
            waited = nextDelivery(message) - at;
            continue;
          }
          events += 1;
          expect(message.status).toBe(delivery.kind === "done" ? "delivered" : "failed");
          expect(step?.event?.result).toBe(delivery.kind === "done" ? "success" : "error");
          expect(step?.event?.metadata).toEqual({ message_id: "m", recipient_org_id: "globex", attempts: message.attempts });
        }
        expect(events).toBe(message.status === "pending" ? 0 : 1);
      }),
    );
  });

  it("is delivered only by an answer that took this one; what is no success is for good or tried again, by its status alone", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 599 }),
        fc.option(fc.constantFrom("NOT_FOUND", "RATE_LIMITED"), { nil: undefined }),
        fc.constantFrom("m", "other", undefined),
        (status, code, message_id) => {
          const judged = judgeReceipt("m", { status, code, message_id });
          expect(judged.kind === "done").toBe(status === 201 && message_id === "m");
          const failed = unsuccessful({ status, code });
          if (judged.kind !== "done") expect(judged).toEqual(failed);
          expect(unsuccessful({ status }).kind).toBe(failed.kind);
          expect(reachesPartner(failed)).toBe(true);
        },
      ),
    );
    for (const status of [301, 401, 403, 408, 425, 429, 500, 502, 503, 504])
      expect(unsuccessful({ status }).kind, `${status}`).toBe("retry");
  });
});

/** The lanes of an index in its order, one behind the other. */
const indexOf = (count: () => number) => async (lane: Lane | undefined) => {
  const next = lane === undefined ? 0 : Number(lane[0]) + 1;
  return next < count() ? [String(next)] : undefined;
};

async function roundOf(turns: LaneTurns, count: () => number): Promise<readonly number[]> {
  const lanes: number[] = [];
  for await (const lane of turns.round(indexOf(count))) lanes.push(Number(lane[0]));
  return lanes;
}

describe("lanes of an outbox", () => {
  it("each have their turn before any has its second, however many there are", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 200 }), async (count) => {
        const turns = new LaneTurns();
        const had: number[] = [];
        while (had.length < count) {
          const lanes = await roundOf(turns, () => count);
          expect(lanes.length).toBeGreaterThan(0);
          for (const lane of lanes) turns.done([String(lane)]);
          had.push(...lanes);
        }
        expect(new Set(had.slice(0, count)).size).toBe(count);
      }),
    );
  });

  it("are worked on once at a time, and one that is not done keeps no other from its turn", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 80 }),
        fc.array(fc.nat(), { maxLength: 60 }),
        fc.integer({ min: 1, max: 12 }),
        async (count, stuck, rounds) => {
          const turns = new LaneTurns();
          const slow = new Set(stuck.map((lane) => lane % count));
          const times = new Map<number, number>();
          for (let round = 0; round < rounds; round++)
            for (const lane of await roundOf(turns, () => count)) {
              times.set(lane, (times.get(lane) ?? 0) + 1);
              if (!slow.has(lane)) turns.done([String(lane)]);
            }
          for (const [lane, n] of times) if (slow.has(lane)) expect(n).toBe(1);
          const quick = Array.from({ length: count }, (_, lane) => lane).filter((lane) => !slow.has(lane));
          // A round begins at most so many, and passes the slow ones in any case.
          if (rounds * 32 >= 2 * count) for (const lane of quick) expect(times.get(lane), `${lane}`).toBeGreaterThan(0);
        },
      ),
    );
  });
});
