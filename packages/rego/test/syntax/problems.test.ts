import { check } from "@seneschal/rego";
import { describe, expect, test } from "vitest";

function codes(source: string): string[] {
  return check([{ name: "t.rego", source }]).map(({ code, row, col }) => `${code} ${row}:${col}`);
}

describe("check", () => {
  test.each([
    ["a missing brace", "package t\n\np if {\n\ttrue\n", "rego_parse_error 5:1"],
    ["a leading zero", "package t\n\np := 01\n", "rego_parse_error 3:6"],
    ["a body without if", "package t\n\np { true }\n", "rego_parse_error 3:3"],
    ["a variable that nothing binds", "package t\n\np := x if true\n", "rego_unsafe_var_error 3:1"],
    ["an unknown function", "package t\n\np := nope(1)\n", "rego_type_error 3:6"],
    ["too many arguments", 'package t\n\np := upper("a", "b")\n', "rego_type_error 3:6"],
    ["an argument of the wrong type", "package t\n\np := lower(1)\n", "rego_type_error 3:6"],
    ["a rule that reads itself", "package t\n\np if not q\n\nq if p\n", "rego_recursion_error 3:1"],
    ["a second assignment", "package t\n\np if {\n\tx := 1\n\tx := 2\n}\n", "rego_compile_error 5:2"],
    ["two kinds of one rule", "package t\n\np := 1\n\np contains 2\n", "rego_type_error 5:1"],
    ["an impossible comparison", 'package t\n\np if 1 == "a"\n', "rego_type_error 3:6"],
    ["I/O", 'package t\n\np := http.send({"method": "get", "url": "http://x"})\n', "rego_type_error 3:6"],
    ["a deprecated builtin", "package t\n\np := any([true])\n", "rego_type_error 3:6"],
  ])("reports %s with its place", (_what, source, problem) => {
    expect(codes(source)).toContain(problem);
  });

  test("reports every problem, not the first only", () => {
    expect(codes("package t\n\np := nope(1)\n\nq if x == 1\n\nr := lower(2)\n")).toHaveLength(3);
  });

  test.each([
    ["deep arrays", `package t\n\np := ${"[".repeat(100_000)}\n`],
    ["deep parentheses", `package t\n\np := ${"(".repeat(100_000)}1${")".repeat(100_000)}\n`],
    ["a long sum", `package t\n\np := 1${" + 1".repeat(100_000)}\n`],
    ["a long ref", `package t\n\np := input${".a".repeat(100_000)}\n`],
    ["nested comprehensions", `package t\n\np := ${"[x | x := ".repeat(20_000)}\n`],
    ["a large source", `package t\n\n# ${"x".repeat(1_000_001)}\n`],
  ])("refuses %s", (_what, source) => {
    expect(check([{ name: "t.rego", source }]).length).toBeGreaterThan(0);
  });

  test("twenty thousand rules compile", () => {
    const rules = Array.from({ length: 20_000 }, (_, i) => `q${i} := ${i}`).join("\n");
    expect(codes(`package t\n\n${rules}\n`)).toEqual([]);
  });

  test("two thousand variables in one body compile", () => {
    const literals = Array.from({ length: 2_000 }, (_, i) => `x${i + 1} = x${i} + 1`).reverse();
    expect(codes(`package t\n\np := x2000 if {\n\tx0 := 0\n\t${literals.join("\n\t")}\n}\n`)).toEqual([]);
  });
});
