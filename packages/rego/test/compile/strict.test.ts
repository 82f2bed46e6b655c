import { expect, test } from "vitest";
import { check, compileCached, type RegoVersion } from "../../src/index.ts";

/** The rows and messages of what strict mode refuses and the compiler takes otherwise. */
function refused(body: string, version: RegoVersion = "v1"): readonly string[] {
  const sources = [{ name: "t.rego", source: `package t\n\n${body}\n`, version }];
  expect(check(sources), body).toEqual([]);
  return check(sources, { strict: true }).map(({ code, row, message }) => `${code} ${row - 2} ${message}`);
}

test.each([
  ["import data.a", "import data.a unused"],
  ["import data.b as bb", "import data.b as bb unused"],
  ["import input.y as yy", "import input.y as yy unused"],
  ["import data.a\n\np if { some a in input.as; a }", "import data.a unused"],
])("an import that nothing uses is refused: %s", (body, message) => {
  expect(refused(body)).toEqual([`rego_compile_error 1 ${message}`]);
});

test.each([
  ["p if { z := 1 }", "z"],
  ["p := [z | z := 1; w := 2]", "w"],
  ["p if { z := 1; [1 | z := 2; z == 2] }", "z"],
  ["p if { [a, q] := input.l; a }", "q"],
  ["p if { every v in input.l { t := v } }", "t"],
  ["p := u if { false; u := 2 } else := u if { u := 2; w := 3 }", "w"],
  ["p if { z := abs(1) }", "z"],
])("a variable that is assigned and not used is refused: %s", (body, name) => {
  expect(refused(body)).toEqual([`rego_compile_error 1 assigned var ${name} unused`]);
});

test.each([["f(x) := 1"], ["f(x, y) := y"], ["f([x, y]) := y"], ['f({"a": x}) := 1']])(
  "an argument that nothing uses is refused: %s",
  (body) => {
    expect(refused(body)).toEqual(["rego_compile_error 1 unused argument x. (hint: use _ (wildcard variable) instead)"]);
  },
);

test.each([
  ["import data.a\n\np if a.x"],
  ["import rego.v1"],
  ["import future.keywords.in"],
  ["p if { some k, v in input.z; v }"],
  ["p if { x = 1 }"],
  ["p if { z := 1; [1 | z == 1] }"],
  ['p if { u := 1; input.q == $"{u}" }'],
  ["p if { u := 1; print(u) }"],
  ["p if { u := 1; true with input as u }"],
  ["p contains u if { u := 1 }"],
  ['p[u] := 1 if { u := "x" }'],
  ["p if { z := 1; not z }"],
  ["p if { walk(input, [a, v]); v }"],
  ["f(x) := 1 if { false } else := x"],
  ["f(_) := 1"],
  ["f([x, x]) := 1"],
])("what is used anywhere is taken: %s", (body) => {
  expect(refused(body)).toEqual([]);
});

test("an import of a function is used where it is called", () => {
  const called = { name: "b.rego", source: "package b\n\na(x) := x\n" };
  const caller = { name: "t.rego", source: "package t\n\nimport data.b.a\n\np if a(1)\n" };
  expect(check([called, caller], { strict: true })).toEqual([]);
});

test("of v0 it refuses what v1 does: deprecated builtins and two imports of a name", () => {
  expect(refused("p { any([true]) }", "v0")).toEqual(["rego_type_error 1 undefined function any"]);
  expect(refused("import data.a.x\nimport data.b.x\np { x }", "v0")).toEqual([
    "rego_compile_error 2 import must not shadow import data.b.x",
  ]);
});

test("a policy that was cached is none of another strictness", () => {
  const sources = [{ name: "t.rego", source: "package t\n\nf(x) := 1\n" }];
  expect([compileCached(sources).ok, compileCached(sources, { strict: true }).ok]).toEqual([true, false]);
});
