import { compile, define } from "@seneschal/rego";
import { describe, expect, test } from "vitest";
import { documentOf } from "../document-of.ts";

const LIMIT = "eval_limit_error";

describe("budgets", () => {
  test.each([
    ["nested loops", "p if {\n\tsome a in numbers.range(1, 9000)\n\tsome b in numbers.range(1, 9000)\n\ta + b == 0\n}"],
    ["a huge range", "p := count(numbers.range(1, 1000000000000))"],
    ["a huge shift", "p := bits.lsh(1, 100000000000)"],
    ["a huge width", 'p := sprintf("%1000000000d", [1])'],
    ["a huge network", 'p := count(net.cidr_expand("2001:db8::/32"))'],
    ["a product of many factors", "p := product([x | some i in numbers.range(1, 200000); x := 1000000007])"],
    [
      "doubling strings",
      `s0 := "aaaaaaaa"\n${Array.from({ length: 40 }, (_, i) => `s${i + 1} := concat("", [s${i}, s${i}])`).join("\n")}\np := count(s40)`,
    ],
    [
      "shared structure in the result",
      `s0 := [1, 2]\n${Array.from({ length: 40 }, (_, i) => `s${i + 1} := [s${i}, s${i}]`).join("\n")}\np := s40`,
    ],
    [
      "a deep chain of rules",
      `r0 := 1\n${Array.from({ length: 5000 }, (_, i) => `r${i + 1} := r${i} + 1`).join("\n")}\np := r5000`,
    ],
  ])("%s end in a limit, not in undefined", (_what, module) => {
    expect(documentOf(module)).toBe(LIMIT);
  });

  const LOOP = "count([x | some x in numbers.range(1, 1000)])";
  test.each([
    ["ticks", { ticks: 500 }, LOOP],
    ["elements", { elements: 500 }, LOOP],
    ["characters", { characters: 500 }, 'count(concat("", ["aaaaaaaaaa" | some x in numbers.range(1, 100)]))'],
    ["bits of an integer", { integerBits: 128 }, "product([1000000007, 1000000007, 1000000007, 1000000007, 1000000007])"],
    ["nested calls", { depth: 5 }, "r9"],
  ])("a lack of %s is a limit wherever it is met", (_what, budgets, expression) => {
    const chain = `r0 := 1\n${Array.from({ length: 9 }, (_, i) => `r${i + 1} := r${i} + 1`).join("\n")}`;
    for (const module of [
      `p := ${expression}`,
      `p if not ${expression} > 0`,
      `default p := true\n\np := false if ${expression} == 0`,
      `p := [y | y := ${expression}]`,
      `p := x if x := ${expression}\n\nelse := "other"`,
      `p if every y in [${expression}] { y > 0 }`,
      `f(x) := x\n\np := f(${expression})`,
      `p contains ${expression}`,
      `p if { input.z } with input as {"z": ${expression}}`.replace("{ input.z } with", "input.z with"),
      `p := $"{${expression}}"`,
    ]) {
      const source = `${chain}\n\n${module}`;
      expect(documentOf(source, undefined, { budgets }), module).toBe(LIMIT);
      expect(documentOf(source), module).not.toBe(LIMIT);
    }
  });

  test.each([
    ["values", { outputNodes: 10 }, "p := numbers.range(1, 100)"],
    ["text", { outputCharacters: 10 }, 'p := "aaaaaaaaaaaaaaaaaaaaaaa"'],
  ])("a result of too much %s is a limit", (_what, budgets, module) => {
    expect(documentOf(module, undefined, { budgets })).toBe(LIMIT);
  });

  test("a chain of four hundred rules is within them", () => {
    const chain = Array.from({ length: 400 }, (_, i) => `r${i + 1} := r${i} + 1`).join("\n");
    expect(documentOf(`r0 := 1\n${chain}\np := r400`)).toBe(401);
  });

  test("a limit below a negation is still a limit", () => {
    expect(documentOf("q if count(numbers.range(1, 1000000000)) > 0\n\np if not q")).toBe(LIMIT);
  });

  test("the same evaluation stops at the same tick", () => {
    const module = "p contains x if some x in numbers.range(1, 400)";
    const needs = (ticks: number): unknown => documentOf(module, undefined, { budgets: { ticks } });
    let enough = 1;
    while (needs(enough) === LIMIT) enough++;
    expect(needs(enough)).toHaveLength(400);
    expect(needs(enough - 1)).toBe(LIMIT);
  });

  test("the wall clock is the one that is given", () => {
    let now = 0;
    const clock = (): number => (now += 100);
    const module = "p if {\n\tsome a in numbers.range(1, 3000)\n\tsome b in numbers.range(1, 1000)\n\ta + b == 0\n}";
    expect(documentOf(module, undefined, { clock })).toBe(LIMIT);
  });

  test("a nested evaluation has a budget of its own", () => {
    const inner = compile([{ name: "i.rego", source: "package i\n\np := count(numbers.range(1, 1000000000))\n" }]);
    const ask = define("test.ask", "-> string", () => inner.evaluate("data.i.p").kind);
    const outer = compile([{ name: "o.rego", source: "package o\n\np := [test.ask(), count(numbers.range(1, 1000))]\n" }], {
      builtins: [ask],
    });
    expect(outer.evaluate("data.o.p")).toEqual({ kind: "defined", value: ["error", 1000] });
  });

  test("regular expressions are linear", () => {
    expect(documentOf(`p := regex.match("^(a|a|a|a)*$", "${"a".repeat(60)}!")`)).toBe(false);
    expect(documentOf(`p := glob.match("${"*a".repeat(40)}b", [], "${"a".repeat(200)}")`)).toBe(false);
  });
});
