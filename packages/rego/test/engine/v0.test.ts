import { check, parseModule } from "@seneschal/rego";
import { describe, expect, test } from "vitest";
import { bothWays } from "../both-ways.ts";

const v0 = (source: string) => [{ name: "p.rego", source, version: "v0" as const }];
const value = (source: string, input?: unknown): unknown => {
  const result = bothWays(v0(`package p\n${source}\n`), "data.p.x", input);
  return result.kind === "defined" ? result.value : result;
};

describe("Rego v0", () => {
  test.each<readonly [string, string, unknown]>([
    ["bodies have no `if`", "x { input.a }", true],
    ["`p[x]` before a body is an element of a set", 'x[m] { m := "no" } { m := "never" }', ["never", "no"]],
    ["`p[x]` alone is an element of a set", 'x["a"]\nx["b"]', ["a", "b"]],
    ["`p.x` before a body is an element of a set", "x.a { true }", ["a"]],
    ["a head with a value is an object", 'x[k] = v { v := {"a": 1}[k] }', { a: 1 }],
    ["a head of three parts is a value", "x.a.b { true }", { a: { b: true } }],
    ["a ref of three parts alone is true", "x.a.b", { a: { b: true } }],
    ["`else` has a body without `if`", "x = 1 { false } else = 2 { true }", 2],
    ["functions have bodies without `if`", "f(a) = b { b := a + 1 }\nf(null) { true }\nx := [f(1), f(null)]", [2, true]],
    ["defaults take `=`", "default x = 3\nx = 1 { false }", 3],
    [
      "words that v1 reserves are names",
      "x { contains := 1; in := 2; every := 3; if := 4; contains + in + every + if == 10 }",
      true,
    ],
    ["keywords are imported one by one", "import future.keywords.in\nx { if := 1; if in [1] }", true],
    ["all keywords are imported together", "import future.keywords\nx if every y in [1] { y == 1 }", true],
    ["`if` with `p[k]` is an object, without it a set", 'import future.keywords.if\nx[k] if k := "a"', { a: true }],
    ["imported `contains` needs no `if`", 'import future.keywords.contains\nx contains "a" { true }', ["a"]],
    [
      "deprecated builtins are there",
      'x { any([false, true]); not all({true, false}); re_match("^a", "ab"); cast_array({1}) == [1]; set_diff({1, 2}, {2}) == {1} }',
      true,
    ],
    ["a later import replaces an earlier one", "import input.a as y\nimport input.b as y\nx := y", 2],
  ])("%s", (_, source, expected) => {
    expect(value(source, { a: true, b: 2 })).toEqual(expected);
  });

  test.each([
    ["a name alone is no rule", "x"],
    ["there are no template strings", 'x = $"a"'],
    ["an import does not end with a keyword", "import data.default"],
    ["`if` is no keyword until it is imported", "x if { true }"],
  ])("%s", (_, source) => {
    expect(check(v0(`package p\n${source}\n`))[0]?.code).toBe("rego_parse_error");
  });

  describe("with `import rego.v1`", () => {
    test("is v1: its keywords and its rules hold", () => {
      expect(value("import rego.v1\nx contains m if { some m in [1] }")).toEqual([1]);
      expect(parseModule(v0("package p\nimport rego.v1\n")[0] as never).module?.version).toBe("v1");
      for (const source of [
        "x { true }",
        "x[m] { m := 1 }",
        "x := any([true])",
        "import data.a\nimport input.a\nx := a",
        "x = 1 else = 2 { true }",
      ]) {
        expect(check(v0(`package p\nimport rego.v1\n${source}\n`)), source).not.toEqual([]);
      }
    });
  });

  test("sources of both versions are one policy, each by its own rules", () => {
    const old = { name: "old.rego", source: 'package old\n\ndeny[m] { m := "no"; any([true]) }\n', version: "v0" as const };
    const fresh = { name: "new.rego", source: "package new\n\nx := data.old.deny\n" };
    expect(bothWays([old, fresh], "data.new.x")).toEqual({ kind: "defined", value: ["no"] });
    expect(check([old, { ...fresh, source: "package new\n\nx := any([true])\n" }])).toMatchObject([{ file: "new.rego" }]);
    expect(check([{ ...old, version: "v1" }])).toMatchObject([{ code: "rego_parse_error" }]);
  });
});
