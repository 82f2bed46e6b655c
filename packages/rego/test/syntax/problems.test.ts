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

  test.each<readonly [string, (n: number) => string]>([
    ["a cycle of rules", (n) => Array.from({ length: n }, (_, i) => `r${i} := r${(i + 1) % n}`).join("\n")],
    [
      "rules that all read each other",
      (n) =>
        Array.from({ length: n / 10 }, (_, i) => `r${i} if ${Array.from({ length: n / 10 }, (_, j) => `r${j}`).join("; ")}`).join(
          "\n",
        ),
    ],
    ["names as long as a source", (n) => `${"x".repeat(n * 10)} := y\nz := ${"v".repeat(n * 10)}(1)`],
    ["errors of syntax", (n) => Array.from({ length: n }, (_, i) => `r${i} := := 1`).join("\n\n")],
    ["unknown functions", (n) => Array.from({ length: n }, (_, i) => `r${i} := nope${i}(1)`).join("\n")],
    ["arguments of the wrong type", (n) => Array.from({ length: n }, (_, i) => `r${i} := lower(${i})`).join("\n")],
  ])("what is told of %s is bounded", (_what, rules) => {
    for (const head of ["package t", `package ${"p".repeat(5_000)}`]) {
      const problems = check([{ name: "t.rego", source: `${head}\n\n${rules(3_000)}\n` }]);
      expect(problems.length).toBeGreaterThan(0);
      expect(JSON.stringify(problems).length).toBeLessThan(150_000);
    }
  });

  test("goes on after a syntax error at the next statement", () => {
    const source =
      "package t\n\np if {\n\tinput.x ==\n}\n\nq := 1\n\nr := := 2\n\nimport nope.x\n\ns if { 1 2 }\n\nt := 3\n\nu := [1,\n";
    expect(codes(source)).toEqual([
      "rego_parse_error 5:1",
      "rego_parse_error 9:6",
      "rego_parse_error 11:1",
      "rego_parse_error 13:10",
      "rego_parse_error 18:1",
    ]);
  });

  test("names no more than ten syntax errors, and none that follows from another's line", () => {
    const bad = Array.from({ length: 50 }, (_, i) => `r${i} := (`).join("\n");
    expect(codes(`package t\n\n${bad}\n`)).toHaveLength(10);
    expect(codes("package t\n\np if {\n\tx := )\n\ty := )\n}\n\nq := 1\n")).toHaveLength(1);
  });

  test.each([
    ["a variable of every that is not used", "p if every x in [1] { input.y }", "declared var x unused"],
    ["the key of every, too", "p if every k, x in [1] { x > 0 }", "declared var k unused"],
    ["a rule that replaces itself", "r := y if { y := input.z with data.t.r as 2 }", "rule data.t.r is recursive"],
    ["a pattern that takes a comprehension apart", 'p if { {"a": y} = {k: v | some k, v in input} }', "var y is unsafe"],
    ["a variable declared twice", "p if { x := 1; some x in [1] }", "var x assigned above"],
  ])("refuses %s", (_what, rule, message) => {
    expect(
      check([{ name: "t.rego", source: `package t\n\n${rule}\n` }])
        .map((problem) => problem.message)
        .join(),
    ).toContain(message);
  });

  test("what a collection is made of is not declared by taking from it", () => {
    expect(codes("package t\n\np if {\n\tx := 1\n\tsome x in [x | some x in [1]]\n}\n")).toEqual([]);
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

  test("ten thousand rules compile, more are refused", () => {
    const rules = (count: number) => `package t\n\n${Array.from({ length: count }, (_, i) => `q${i} := ${i}`).join("\n")}\n`;
    expect(codes(rules(10_000))).toEqual([]);
    expect(codes(rules(10_001))).toEqual(["rego_limit_error 10004:1"]);
  });

  test("two thousand variables in one body compile", () => {
    const literals = Array.from({ length: 2_000 }, (_, i) => `x${i + 1} = x${i} + 1`).reverse();
    expect(codes(`package t\n\np := x2000 if {\n\tx0 := 0\n\t${literals.join("\n\t")}\n}\n`)).toEqual([]);
  });
});
