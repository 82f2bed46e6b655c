import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CompileOptions, check, compile, format, readJson, type Source, writeJson } from "@seneschal/rego";
import { describe, expect, test } from "vitest";

const v0 = (source: string) => ({ name: "p.rego", source, version: "v0" as const });
const CASES = fileURLToPath(new URL("../../../../../shared/data/rego/conformance", import.meta.url));
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

  /** The sources as v1, by format; `undefined` where one of them is refused. */
  const converted = (sources: readonly Source[]): readonly Source[] | undefined => {
    const written = sources.flatMap((source) => {
      const { text } = format(source, { to: "v1" });
      return text === undefined ? [] : [{ name: source.name, source: text }];
    });
    return written.length < sources.length ? undefined : written;
  };
  const compiles = (sources: readonly Source[], options: CompileOptions): boolean => check(sources, options).length === 0;

  test.skipIf(!existsSync(CASES))("answers as v1 what the source answers as v0, over the conformance data", async () => {
    interface Case {
      readonly note: string;
      readonly query: string;
      readonly modules?: readonly string[];
      readonly data?: unknown;
      readonly input?: unknown;
    }
    const allow = ["opa.runtime", "io.jwt.encode_sign", "io.jwt.encode_sign_raw"];
    const wrong: string[] = [];
    let compared = 0;
    for (const name of (await readdir(CASES)).sort())
      for (const one of (readJson(await readFile(join(CASES, name), "utf8")) as unknown as { cases: readonly Case[] }).cases) {
        // as v0 has it: its keywords have to be imported
        const sources = (one.modules ?? []).map((source, i) => ({
          name: `${i}.rego`,
          source: source.replace(/^(package [^\n]*)$/m, "$1\n\nimport future.keywords"),
          version: "v0" as const,
        }));
        if (sources.length === 0 || !compiles(sources, { allow })) continue;
        const written = converted(sources);
        if (written === undefined) continue;
        if (!compiles(written, { allow })) {
          wrong.push(`${one.note}: ${check(written, { allow })[0]?.message}`);
          continue;
        }
        const asked = { now: 0, seed: "same", exact: true, ...(one.data === undefined ? {} : { data: one.data }) };
        const answer = (all: readonly Source[]) => writeJson(compile(all, { allow }).query(one.query, one.input, asked));
        compared++;
        if (answer(written) !== answer(sources)) wrong.push(`${one.note}: ${answer(sources)} became ${answer(written)}`);
      }
    expect([compared > 500, wrong]).toEqual([true, []]);
  });

  test.skipIf(!existsSync(SUITES))("has as v1 the outcome of each test as v0, over public policy sets", async () => {
    const names = (await readdir(SUITES, { recursive: true })).filter((name) => name.endsWith(".rego"));
    const folders = new Map<string, string[]>();
    for (const name of names.sort()) folders.set(dirname(name), [...(folders.get(dirname(name)) ?? []), name]);
    const wrong: string[] = [];
    let compared = 0;
    for (const [folder, files] of folders) {
      if (!files.some((name) => name.endsWith("_test.rego"))) continue;
      const sources: Source[] = [];
      for (const name of files) sources.push({ name, source: await readFile(join(SUITES, name), "utf8"), version: "v0" });
      if (!compiles(sources, { tests: true })) continue;
      const written = converted(sources);
      if (written === undefined || !compiles(written, { tests: true })) {
        wrong.push(`${folder}: is not written as v1`);
        continue;
      }
      const outcomes = (all: readonly Source[]) => {
        const policy = compile(all, { tests: true });
        return policy.tests.map((each) => {
          const { rule, result, failed } = policy.runTest(each, {}, { now: 0, seed: "same", exact: true });
          return writeJson({ rule, result: result.kind === "error" ? { kind: result.kind, code: result.code } : result, failed });
        });
      };
      const before = outcomes(sources);
      compared += before.length;
      if (outcomes(written).join("\n") !== before.join("\n")) wrong.push(folder);
    }
    expect([compared > 500, wrong]).toEqual([true, []]);
  });
});
