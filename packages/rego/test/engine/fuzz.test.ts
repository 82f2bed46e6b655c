import { check, compile, RegoCompileError } from "@seneschal/rego";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rounds } from "../rounds.ts";

const SEEDS = [
  'package t\n\nimport data.lib\n\ndefault p := false\n\np if {\n\tsome i, x in input.xs\n\tx.k == {"a": [1, y]}[i]\n\ty := lib.f(x) with input.a as 3\n\tnot x in {1, 2}\n}\n\nelse := $"no {x}" if x := 1\n',
  "package t.u\n\nf(x, [y, _]) := z if {\n\tz := x + y\n} else := [a | a := {k: v | some k, v in input}[_]]\n\nq contains r if every s in [1, 2] { s > input.n; r := s }\n",
  'package a\n\np[x].y[z] := w if {\n\tx := ["a", "b"][_]\n\tz = w\n\tw = `raw`\n}\n\np.a.y.c contains 1\n\nr := -1.5e3 % 2 | {1} & set()\n',
];

const PIECES =
  'package import default if else contains some every in not with as true false null input data _ x y p q f t . , ; : := = == != < <= > >= + - * / % & | ( ) [ ] { } set() count( sprintf( \n \t # " ` $" 1 0 1.5 1e9 "a" [x| {x| {x:y| every x in some x in walk( regex.match( object.get('.split(
    " ",
  );

const grammar = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => `package t\n\np ${pieces.join(" ")}\n`);

const mutated = fc
  .tuple(
    fc.constantFrom(...SEEDS),
    fc.array(fc.tuple(fc.nat(400), fc.nat(6), fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 3 }))), {
      minLength: 1,
      maxLength: 6,
    }),
  )
  .map(([seed, edits]) => edits.reduce((text, [at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut), seed));

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
      fc.assert(fc.property(grammar, fc.jsonValue({ maxDepth: 2 }), survives), { numRuns: rounds(1_000) });
    },
    timeout,
  );

  test(
    "damaged policies end in a policy or in problems",
    () => {
      fc.assert(fc.property(mutated, fc.jsonValue({ maxDepth: 2 }), survives), { numRuns: rounds(1_000) });
    },
    timeout,
  );
});
