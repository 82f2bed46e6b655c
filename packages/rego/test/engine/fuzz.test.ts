import { check, compile, RegoCompileError } from "@seneschal/rego";
import { damagedPolicies, tokenTexts } from "@seneschal/rego/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rounds } from "../rounds.ts";

const budgets = { ticks: 20_000, elements: 5_000, characters: 100_000 };

function survives(source: string, input: unknown): void {
  const sources = [
    { name: "t.rego", source },
    { name: "lib.rego", source: "package lib\n\nf(x) := x\n" },
  ];
  let policy: ReturnType<typeof compile>;
  try {
    policy = compile(sources);
  } catch (error) {
    if (!(error instanceof RegoCompileError))
      throw new Error(`not the engine's own error: ${String(error)}\n${source}`, { cause: error });
    expect(error.problems.length).toBeGreaterThan(0);
    expect(check(sources)).toEqual(error.problems);
    return;
  }
  expect(check(sources)).toEqual([]);
  for (const strict of [false, true]) {
    const result = policy.evaluate("data", input, { budgets, strict });
    if (result.kind === "error" && result.code === "eval_internal_error") throw new Error(`${result.message}\n${source}`);
  }
}

/** Deep runs take what they take. */
const timeout = 60_000 + rounds(0) * 20;

describe("whatever the text", () => {
  test(
    "tokens in any order end in a policy or in problems",
    () => {
      fc.assert(fc.property(tokenTexts, fc.jsonValue({ maxDepth: 2 }), survives), { numRuns: rounds(1_000) });
    },
    timeout,
  );

  test(
    "damaged policies end in a policy or in problems",
    () => {
      fc.assert(fc.property(damagedPolicies, fc.jsonValue({ maxDepth: 2 }), survives), { numRuns: rounds(1_000) });
    },
    timeout,
  );
});
