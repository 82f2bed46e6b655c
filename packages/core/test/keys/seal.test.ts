import fc from "fast-check";
import { expect, it } from "vitest";
import { attemptAt, giveShare, UNSEAL_ATTEMPT_MS, type UnsealAttempt } from "../../src/keys/index.ts";

/** What operators, strangers and time do to a sealed vault. `stale`: under the nonce of an attempt of before. */
const act = fc.record({
  index: fc.integer({ min: 1, max: 5 }),
  verdict: fc.constantFrom("right" as const, "right" as const, "right" as const, "wrong" as const, "foreign" as const),
  named: fc.constantFrom("current" as const, "current" as const, "stale" as const, "none" as const),
  after: fc.constantFrom(0, 1000, UNSEAL_ATTEMPT_MS - 1, UNSEAL_ATTEMPT_MS),
});

it("a vault opens by as many different right shares as its threshold says, all of one attempt, and by nothing else", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 4 }), fc.array(act, { maxLength: 60 }), (threshold, acts) => {
      let attempt: UnsealAttempt | undefined;
      let now = 0;
      const nonces = ["before"];
      /** Told anew: who came since the attempt began. */
      let came = new Set<number>();
      let began = 0;
      acts.forEach(({ index, verdict, named, after }, turn) => {
        now += after;
        const current = attemptAt(attempt, now)?.nonce;
        if (current === undefined) came = new Set();
        const nonce = { current, stale: nonces.at(-2) ?? "before", none: undefined }[named];
        const given = giveShare(attempt, { nonce, index, verdict }, { threshold, nonce: `n${turn}`, now });

        if (nonce !== current) expect(given).toMatchObject({ result: "refused", reason: "other_attempt" });
        else if (verdict === "right") {
          if (current === undefined) began = now;
          const again = came.has(index);
          came.add(index);
          expect(given.result).toBe(came.size >= threshold ? "complete" : again ? "repeated" : "kept");
        } else expect(given).toMatchObject({ result: "refused", reason: verdict });

        const over = given.result === "complete" || (nonce === current && verdict === "wrong");
        if (over) {
          came = new Set();
          expect(given.attempt).toBeUndefined();
        } else if (given.result === "refused") expect(given.attempt).toEqual(attemptAt(attempt, now));
        else {
          expect(new Set(given.attempt.indexes)).toEqual(came);
          expect(given.attempt.startedAt).toBe(began);
        }
        attempt = given.attempt;
        if (attempt !== undefined && attempt.nonce !== nonces.at(-1)) nonces.push(attempt.nonce);
      });
    }),
  );
});

it("a stranger who has no share of the seal changes nothing of an attempt", () => {
  const { attempt } = giveShare(
    undefined,
    { nonce: undefined, index: 2, verdict: "right" },
    { threshold: 3, nonce: "a", now: 0 },
  );
  for (const nonce of ["a", "b", undefined])
    expect(giveShare(attempt, { nonce, index: 0, verdict: "foreign" }, { threshold: 3, nonce: "c", now: 1 }).attempt).toBe(
      attempt,
    );
});
