import { compile, type Result } from "@seneschal/rego";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { documentOf } from "../document-of.ts";
import { rounds } from "../rounds.ts";

/** Traced policies try every rule and every element: the slow reference of rule index and selection. */
function agree(module: string, input: unknown, data: unknown): Result {
  const policy = compile([{ name: "t.rego", source: `package t\n\n${module}\n` }]);
  const fast = policy.evaluate("data.t", input, { data });
  expect(fast, `${module}\n${JSON.stringify({ input, data })}`).toEqual(policy.explain("data.t", input, { data }).result);
  return fast;
}

const scalar = fc.constantFrom<unknown>(null, true, false, 0, 1, 2 ** 53, 2 ** 60, "a", "b", "");
const term = fc.oneof(
  fc.constantFrom(
    "null",
    "true",
    "1",
    "9007199254740992",
    '"a"',
    '"b"',
    '""',
    "[1]",
    '{"k": "a"}',
    "input.k",
    "input.v",
    "input.none",
    "k",
  ),
);
const item = fc.oneof(
  scalar,
  fc.record({ k: scalar, v: scalar }, { requiredKeys: [] }),
  fc.record({ k: scalar, v: scalar, w: scalar }),
  fc.array(scalar, { maxLength: 2 }),
);
const comparison = fc
  .tuple(fc.constantFrom("x", "x.k", "x.v", "x.w", "x.length", "x.constructor", 'x["k"]'), fc.constantFrom("==", "="), term)
  .map(([of, is, wanted]) => `${of} ${is} ${wanted}`);
const literal = fc.oneof(
  { weight: 3, arbitrary: comparison },
  fc.tuple(term, term).map(([k, v]) => `x == {"k": ${k}, "v": ${v}}`),
  comparison.map((text) => `not ${text}`),
  comparison.map((text) => `${text} with input.k as "b"`),
  fc.constantFrom("y := x.k", "x.v == input.v", "data.lib.r", "1 / 0", "y := x.k; y == input.k"),
);

describe("what evaluation passes over", () => {
  test("elements of an enumeration that cannot match change no answer", () => {
    const module = fc
      .tuple(
        fc.constantFrom("data.xs", "input.xs", "{e | some e in data.xs}", "[e | some e in data.xs]", "data.named"),
        fc.array(literal, { minLength: 1, maxLength: 4 }),
      )
      .map(([xs, body]) => `k := "a"\n\np contains [i, x] if {\n\tsome i, x in ${xs}\n\t${body.join("\n\t")}\n}`);
    fc.assert(
      fc.property(module, fc.array(item, { maxLength: 6 }), scalar, scalar, (source, xs, k, v) => {
        fc.pre(compiles(source));
        const named = Object.fromEntries(xs.map((x, i) => [`n${i}`, x]));
        agree(source, { xs, k, v }, { xs, named, lib: { r: true } });
      }),
      { numRuns: rounds(200) },
    );
  });

  test("rules whose constants do not fit change no answer", () => {
    const condition = fc.oneof(
      term.filter((t) => !t.includes("input") && t !== "k").map((t) => `input.k == ${t}`),
      fc.array(fc.constantFrom("1", '"a"', '"b"', "null", "[1]"), { maxLength: 3 }).map((of) => `input.k in [${of.join(", ")}]`),
      fc.constantFrom('"a" = input.k', 'input.k.k == "a"', "input.v", 'not input.k == "a"', 'input.k == "b" with input.k as "b"'),
    );
    const bodies = fc.array(fc.array(condition, { minLength: 1, maxLength: 2 }), { minLength: 4, maxLength: 9 });
    fc.assert(
      fc.property(bodies, fc.boolean(), item, scalar, (rules, same, k, v) => {
        const body = (conditions: readonly string[]) => `if {\n\t${conditions.join("\n\t")}\n}`;
        const source = [
          "default p := 0",
          ...rules.map((conditions, i) => `p := ${same ? 1 : i} ${body(conditions)}`),
          ...rules.map((conditions, i) => `q contains ${i} ${body(conditions)}`),
          ...rules.map((conditions, i) => `r[input.v] := ${same ? 1 : i} ${body(conditions)}`),
        ].join("\n\n");
        fc.pre(compiles(source));
        agree(source, { k, v }, {});
      }),
      { numRuns: rounds(100) },
    );
  });

  test("a function is chosen by its constant arguments, else by its default", () => {
    const module = `default f(_, _) := "other"\n\n${["a", "b", "c", "d"].map((k) => `f("${k}", x) := [x, "${k}"]`).join("\n")}
f(["e"], _) := "list"
p := [f(k, 1) | some k in input]`;
    expect(documentOf(module, ["a", "d", ["e"], "z", 1, null])).toEqual([[1, "a"], [1, "d"], "list", "other", "other", "other"]);
  });

  test("an inherited property meets no requirement", () => {
    const module = "p contains x if {\n\tsome x in data.xs\n\tx.length == 1\n}";
    expect(documentOf(module, undefined, { data: { xs: [["a"], { length: 1 }, "b", {}] } })).toEqual([{ length: 1 }]);
  });

  test("a replaced comparison is asked for every element and every rule", () => {
    const rules = ["a", "b", "c", "d"].map((k) => `q contains "${k}" if input.k == "${k}"`).join("\n");
    const module = `${rules}\nyes(_, _) := true\np := x if x := q with equal as yes with input.k as "none"`;
    expect(documentOf(module)).toEqual(["a", "b", "c", "d"]);
  });

  test("of a hundred items that do not match, none costs more than its step", () => {
    const module = 'p if {\n\tsome x in data.xs\n\tx == {"k": input.k, "v": input.v}\n}';
    const xs = Array.from({ length: 100 }, (_, i) => ({ k: `k${i}`, v: "v" }));
    const result = documentOf(module, { k: "k99", v: "v" }, { data: { xs }, budgets: { ticks: 110 } });
    expect(result).toBe(true);
  });
});

function compiles(module: string): boolean {
  try {
    compile([{ name: "t.rego", source: `package t\n\n${module}\n` }]);
    return true;
  } catch {
    return false;
  }
}
