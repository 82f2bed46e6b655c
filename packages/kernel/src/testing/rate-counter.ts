import { checkArgument } from "../argument.ts";
import type { RateCounter } from "../ports/rate-counter.ts";
import { seededIntegers } from "./seeded-integers.ts";
import type { SuiteRunner } from "./suite.ts";

/** Opens a counter on a place; `shared`: two counters on one place count together. */
export interface RateCounterUnderTest {
  readonly shared: boolean;
  readonly open: () => Promise<RateCounter>;
  readonly seed: number;
  readonly rounds: number;
}

/** The laws of the RateCounter port. Every test takes keys of its own. */
export function rateCounterSuite(runner: SuiteRunner, subject: RateCounterUnderTest): void {
  checkArgument("runner", runner, "object");
  checkArgument("subject", subject, "object");
  const { test, equal } = runner;
  const { shared, open, seed, rounds } = subject;
  let keys = 0;
  const freshKey = (): string => {
    keys += 1;
    return `suite ${seed} ${keys}`;
  };
  const opened = async (work: (counter: RateCounter) => Promise<void>): Promise<void> => {
    const counter = await open();
    try {
      await work(counter);
    } finally {
      await counter.close();
    }
  };

  test("no span of the window holds more than the limit, and waiting as long as it says lets one in", () =>
    opened(async (counter) => {
      const below = seededIntegers(seed);
      for (let round = 0; round < rounds; round++) {
        const key = freshKey();
        const rate = { limit: 1 + below(10), window: 100 + below(3000) };
        const admitted: number[] = [];
        let now = 1_700_000_000_000 + below(1000);
        for (let i = 0; i < 60; i++) {
          now += below(400);
          const take = await counter.take(key, rate, now);
          if (!take.allowed && below(4) === 0) {
            now += Math.ceil(take.retryMs);
            equal((await counter.take(key, rate, now)).allowed, true);
            admitted.push(now);
          } else if (take.allowed) admitted.push(now);
        }
        for (const [i, at] of admitted.entries()) {
          const inSpan = admitted.slice(i).filter((other) => other < at + rate.window);
          equal(inSpan.length <= rate.limit, true, `${inSpan.length} of ${rate.limit}, seed ${seed}`);
        }
      }
    }));

  test("of many that take at once as many get through as the limit says", () =>
    opened(async (counter) => {
      const key = freshKey();
      const takes = await Promise.all(Array.from({ length: 40 }, () => counter.take(key, { limit: 7, window: 60_000 }, 5000)));
      equal(takes.filter((take) => take.allowed).length, 7);
      equal(
        takes
          .filter((take) => take.allowed)
          .map((take) => take.remaining)
          .sort(),
        [0, 1, 2, 3, 4, 5, 6],
      );
    }));

  test("who was never seen is let in, whatever the clock says", () =>
    opened(async (counter) => {
      for (const now of [0, 1, 1_700_000_000_000]) {
        const { allowed, remaining } = await counter.take(freshKey(), { limit: 2, window: 600_000 }, now);
        equal([allowed, remaining], [true, 1], `at ${now}`);
      }
    }));

  test("after the reset the whole limit is free", () =>
    opened(async (counter) => {
      const key = freshKey();
      const rate = { limit: 3, window: 1000 };
      await counter.take(key, rate, 5000);
      await counter.take(key, rate, 5000);
      const last = await counter.take(key, rate, 5000);
      equal(last.remaining, 0);
      equal((await counter.take(key, rate, 5000 + Math.ceil(last.resetMs))).remaining, 2);
    }));

  test("one key's refusals do not touch another's places; a clock that jumps back opens nothing", () =>
    opened(async (counter) => {
      const [a, b] = [freshKey(), freshKey()];
      const rate = { limit: 1, window: 1000 };
      const allowed = async (key: string, now: number): Promise<boolean> => (await counter.take(key, rate, now)).allowed;
      equal(
        [await allowed(a, 9000), await allowed(a, 9000), await allowed(b, 9000), await allowed(a, 1)],
        [true, false, true, false],
      );
    }));

  if (!shared) return;
  test("two counters on one place are one, and hide keys alike", async () => {
    const [left, right] = await Promise.all([open(), open()]);
    try {
      const key = freshKey();
      const takes = await Promise.all(
        Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? left : right).take(key, { limit: 9, window: 60_000 }, 5000)),
      );
      equal(takes.filter((take) => take.allowed).length, 9);
      equal([...left.salt], [...right.salt]);
    } finally {
      await Promise.all([left.close(), right.close()]);
    }
  });
}
