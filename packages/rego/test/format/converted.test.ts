import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { check, format } from "@seneschal/rego";
import { describe, expect, test } from "vitest";

const v0 = (source: string) => ({ name: "p.rego", source, version: "v0" as const });
const SUITES = fileURLToPath(new URL("../../../../../shared/suites/policies", import.meta.url));

describe("what format writes of a v0 source", () => {
  test.each([
    ["x { any([true]) }", "p.rego:2:5: deprecated built-in function calls in expression: any"],
    ["x { all([true]) }", "p.rego:2:5: deprecated built-in function calls in expression: all"],
    ['x { re_match("a", input.a) }', "p.rego:2:5: deprecated built-in function calls in expression: re_match"],
    ["y = cast_array(input.a)", "p.rego:2:5: deprecated built-in function calls in expression: cast_array"],
    ["x { y := {1} ; set_diff(y, y) == set() }", "p.rego:2:16: deprecated built-in function calls in expression: set_diff"],
    [
      'x { net.cidr_overlap("10.0.0.0/8", input.a) }',
      "p.rego:2:5: deprecated built-in function calls in expression: net.cidr_overlap",
    ],
  ])("%s is refused where it stands, as v1 has it no more", (rule, told) => {
    const { text, problems } = format(v0(`package p\n${rule}\n`), { to: "v1" });
    expect(text).toBeUndefined();
    expect(problems.map(({ file, row, col, message }) => `${file}:${row}:${col}: ${message}`)).toEqual([told]);
  });

  test("may call an own function by the name of a deprecated builtin", () => {
    const { text } = format(v0("package p\nany(xs) { xs[_] }\nx { any([true]) }\n"), { to: "v1" });
    expect(check([{ name: "p.rego", source: text ?? "" }])).toEqual([]);
  });

  test("is refused where two imports have one name, which only v0 takes", () => {
    const { text, problems } = format(v0("package p\nimport data.a\nimport data.b as a\nx { a }\n"), { to: "v1" });
    expect([text, problems.map(({ message }) => message)]).toEqual([undefined, [expect.stringMatching(/^as v1: .*import/)]]);
  });

  test("keeps what was wrong before and is not of the language: it belongs to other modules", () => {
    expect(format(v0("package p\nimport data.lib\nx { lib.f(1) }\n"), { to: "v1" }).text).toContain("lib.f(1)");
  });

  test("is written of tests whose rules stand in another file, however many there are", () => {
    const tests = Array.from(
      { length: 40 },
      (_, i) => `test_${i} {\n\tresults := violation with input as {}\n\tcount(results) == 0\n}\n`,
    );
    const { text, problems } = format(v0(`package p\n\n${tests.join("\n")}`), { to: "v1" });
    expect([text?.includes("test_39 if {"), problems]).toEqual([true, []]);
  });

  test.skipIf(!existsSync(SUITES))("passes check as v1 wherever the source passes as v0, over public policy sets", async () => {
    const names = (await readdir(SUITES, { recursive: true })).filter((name) => name.endsWith(".rego")).sort();
    expect(names.length).toBeGreaterThan(0);
    const wrong: string[] = [];
    let written = 0;
    for (const name of names) {
      const source = { name, source: await readFile(join(SUITES, name), "utf8"), version: "v0" as const };
      const { text } = format(source, { to: "v1" });
      if (text === undefined) continue;
      written++;
      const own = new Set(check([source]).map(({ message }) => message));
      const left = check([{ name, source: text }]).filter(({ message }) => !own.has(message));
      if (left.length > 0) wrong.push(`${name}: ${left[0]?.message}`);
    }
    expect([written > 0, wrong]).toEqual([true, []]);
  });
});
