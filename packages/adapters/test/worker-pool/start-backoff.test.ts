import fc from "fast-check";
import { expect, test } from "vitest";
import { StartBackoff } from "../../src/worker-pool/start-backoff.ts";

/** In how many of so many looks a worker is started, whose module can never be loaded. */
function startsIn(looks: number): number {
  const backoff = new StartBackoff();
  let starts = 0;
  for (let i = 0; i < looks; i++) {
    if (backoff.mayStart) {
      starts += 1;
      backoff.failed("no such module");
    }
    backoff.look();
  }
  return starts;
}

test("what cannot be started is tried twice as seldom each time, at last once a minute, and never given up", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), (looks) => {
      expect(startsIn(looks)).toBeLessThanOrEqual(Math.ceil(Math.log2(looks + 1)) + looks / 1200 + 1);
      expect(startsIn(looks + 1200)).toBeGreaterThan(startsIn(looks));
    }),
  );
});

test("one that was started ends it: the next may be started at once", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("failed", "started", "look"), { maxLength: 40 }), (history) => {
      const backoff = new StartBackoff();
      for (const what of history) {
        if (what === "look") backoff.look();
        else if (what === "failed") backoff.failed(what);
        else backoff.started();
        if (what === "started") expect([backoff.failing, backoff.mayStart, backoff.cause]).toEqual([false, true, undefined]);
        if (what === "failed") expect([backoff.failing, backoff.mayStart, backoff.cause]).toEqual([true, false, "failed"]);
      }
    }),
  );
});
