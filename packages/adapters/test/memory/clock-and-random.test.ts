import { seededRandom, settableClock } from "@seneschal/adapters/memory";
import { clockSuite, randomSuite } from "@seneschal/kernel/testing";
import { describe, expect, test } from "vitest";
import { runner } from "../suite-runner.ts";

describe("settable clock", () => {
  clockSuite(runner, settableClock(1_700_000_000_000));

  test("stands still until it is told", () => {
    const clock = settableClock(1000);
    expect([clock.now(), clock.now()]).toEqual([1000, 1000]);
    clock.advance(5);
    expect(clock.now()).toBe(1005);
    clock.set(7);
    expect(clock.now()).toBe(7);
  });
});

describe("seeded random", () => {
  randomSuite(runner, seededRandom(42));

  test("equal seeds give equal sequences, other seeds others", () => {
    const draw = (seed: number): string => String(seededRandom(seed)(64));
    expect(draw(1)).toBe(draw(1));
    expect(draw(1)).not.toBe(draw(2));
    expect(draw(0)).not.toBe(draw(1));
  });
});
