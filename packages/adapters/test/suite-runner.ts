import type { SuiteRunner } from "@seneschal/kernel/testing";
import fc from "fast-check";
import { expect, test } from "vitest";

/** The exported suites of core on vitest. */
export const runner: SuiteRunner = {
  test: (name, body) => test(name, body),
  equal: (actual, expected, message) => expect(actual, message).toStrictEqual(expected),
};

/** Rounds and seed of the suites, by the rules of tools/fast-check-seed.ts: FC_RUNS deepens, FC_SEED replays or explores. */
export const rounds = (usual: number): number => Math.max(usual, Number(process.env["FC_RUNS"] ?? 0));
export const seed = fc.readConfigureGlobal().seed ?? Date.now() % 1_000_000;
