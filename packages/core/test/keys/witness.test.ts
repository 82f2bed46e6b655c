import {
  foundationOf,
  type LogWitness,
  stepLogWitness,
  stepWitnessedLog,
  timestamp,
  type WitnessedLog,
  type WitnessFound,
  witnessTroubles,
} from "@seneschal/core/keys";
import fc from "fast-check";
import { expect, test } from "vitest";
import { offeredCheckpoints } from "../../src/arbitraries/index.ts";

const start = Date.UTC(2026, 0, 1);
const parties = { federation_id: "f", org_id: "acme", partner_org_id: "globex" };
const gap = fc.integer({ min: 0, max: 40_000 });

test("a witness cosigns a log that is first seen, the same or grown, and no other; what it cosigned last stays until then, and of one partner it tells once a minute", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(offeredCheckpoints, gap), { maxLength: 40 }), (offers) => {
      let kept: WitnessedLog | undefined;
      let now = start;
      const told: number[] = [];
      for (const [offered, later] of offers) {
        now += later;
        const step = stepWitnessedLog(kept, offered, parties, now);
        const goesOn = ["first", "same", "grown"].includes(offered.growth);
        expect(step.kind).toBe(goesOn ? "cosigned" : offered.growth === "other_size" ? "other_size" : "refused");
        if (step.kind === "cosigned") {
          expect(step.log).toMatchObject({ ...parties, size: offered.size, trouble: null, log_key: offered.log_key });
          if (kept?.trouble == null && kept !== undefined) expect(step.tell).toBe(false);
          if (kept === undefined) expect(step.tell).toBe(true);
        } else {
          expect([step.size, step.note]).toEqual([kept?.size ?? 0, kept?.note ?? ""]);
          if (step.kind === "refused" && step.log !== undefined) {
            const { trouble, told_at: _, ...same } = step.log;
            expect(kept).toMatchObject(same);
            expect(trouble).toEqual({
              growth: offered.growth,
              before: kept?.note ?? "",
              now: offered.note,
              since: timestamp(now),
            });
          }
          if (step.kind === "refused" && step.tell) expect(step.log).toBeDefined();
        }
        if (step.kind !== "other_size" && step.tell) told.push(now);
        if (step.kind !== "other_size" && step.log !== undefined) kept = step.log;
      }
      for (const [i, at] of told.entries()) if (i > 0) expect(at - (told[i - 1] ?? 0)).toBeGreaterThanOrEqual(60_000);
    }),
  );
});

const found: fc.Arbitrary<WitnessFound> = fc.oneof(
  fc.record({ size: fc.nat(9), note: fc.constant("n"), cosigned_at: fc.constant(timestamp(start)) }),
  fc.record({ growth: fc.constantFrom(...witnessTroubles), before: fc.constant("b"), note: fc.constant("n") }),
);

test("of our own log: trouble is told once until it is another or over, keeps what was cosigned, and only a newer cosignature takes its place", () => {
  fc.assert(
    fc.property(fc.array(found, { maxLength: 20 }), (history) => {
      let known: LogWitness | undefined;
      for (const one of history) {
        const step = stepLogWitness(known, one, parties, start);
        if ("growth" in one) {
          expect(step === undefined).toBe(known?.trouble?.growth === one.growth);
          if (step !== undefined) {
            expect(step.tell).toBe(one.growth);
            expect([step.log.size, step.log.note]).toEqual([known?.size ?? 0, known?.note ?? null]);
          }
        } else if (step === undefined) expect(known?.size).toBeGreaterThan(one.size);
        else {
          expect(step.log).toEqual({ ...parties, ...one, trouble: null });
          expect(step.tell).toBe(known?.trouble == null ? undefined : "grown");
          if (known !== undefined && known.trouble === null) expect(one.size).toBeGreaterThanOrEqual(known.size);
        }
        known = step?.log ?? known;
      }
    }),
  );
});

test("a refusal convicts us of no more than our own key has signed, whatever the witness says", () => {
  const log = fc.record({ origin: fc.constantFrom("one", "two"), size: fc.nat(3) });
  const maybe = fc.option(log, { nil: undefined });
  const said = fc.constantFrom("put_back" as const, "forked" as const, "unproven" as const, "other_log" as const);
  fc.assert(
    fc.property(said, maybe, maybe, fc.boolean(), (growth, shown, own, sameRoot) => {
      const judged = foundationOf(growth, { shown, own, sameRoot });
      if (shown === undefined) expect(judged).toBe(growth === "other_log" ? "other_log" : "unfounded");
      if (judged === "put_back") expect(shown?.size).toBeGreaterThan(own?.size ?? Number.POSITIVE_INFINITY);
      if (judged === "put_back" || judged === "forked") expect(shown?.origin).toBe(own?.origin);
      if (judged === "forked") expect(sameRoot).toBe(false);
      if (judged === "unproven") expect([shown === undefined, own]).toEqual([false, undefined]);
    }),
  );
});
