import type { SuiteRunner } from "@seneschal/core/testing";
import { expect, test } from "vitest";

/** The exported suites of core on vitest. */
export const runner: SuiteRunner = {
  test: (name, body) => test(name, body),
  equal: (actual, expected, message) => expect(actual, message).toStrictEqual(expected),
};

/** Property runs and suite rounds: FC_RUNS deepens, FC_SEED replays. */
export const rounds = (usual: number): number => Math.max(usual, Number(process.env["FC_RUNS"] ?? 0));
export const seed = Number(process.env["FC_SEED"] ?? Date.now() % 1_000_000);
