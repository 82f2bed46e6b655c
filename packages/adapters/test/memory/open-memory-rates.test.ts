import { openMemoryRates } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";
import { rateCounterSuite } from "@seneschal/kernel/testing";
import { describe, expect, test } from "vitest";
import { rounds, runner, seed } from "../suite-runner.ts";

describe("the rate counter of one process", () => {
  rateCounterSuite(runner, { shared: false, open: async () => openMemoryRates(systemRandom), seed, rounds: rounds(100) });

  test("keys are bounded, the least recently seen goes first", async () => {
    const counter = openMemoryRates(systemRandom, 2);
    const allowed = async (key: string) => (await counter.take(key, { limit: 1, window: 1000 }, 1)).allowed;
    for (const key of ["a", "b", "a", "c"]) await allowed(key);
    expect([await allowed("a"), await allowed("b")]).toEqual([false, true]);
  });
});
