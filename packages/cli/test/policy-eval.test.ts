import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

describe("policy eval", () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "seneschal-eval-"));
    await writeFile(
      join(cwd, "p.rego"),
      [
        "package p",
        "next := input.id + 1",
        'time := time.parse_rfc3339_ns("2023-11-14T22:13:20.123456789Z")',
        "third := 1 / 3",
        'loud if print("heard", input.id)',
        'roles := [{"level": 1}, {"level": 2}, {"level": 3}]',
        "",
      ].join("\n"),
    );
    await writeFile(join(cwd, "input.json"), '{"id": 9007199254740992}');
    await writeFile(join(cwd, "marked.json"), '\ufeff{"id": 9007199254740992}');
    await writeFile(join(cwd, "input.yaml"), "id: 9007199254740992\n");
  });
  afterAll(() => rm(cwd, { recursive: true, force: true }));
  const call = async (args: readonly string[], stdin = "") => {
    const host = scriptedHost({ cwd, stdin });
    const code = await run(["policy", ...args], host);
    return { code, text: host.lines.join("\n"), errors: host.errors };
  };
  const asked = async (query: string, ...options: string[]) => {
    const { code, text } = await call(["eval", query, "p.rego", ...options]);
    return [code, text];
  };

  test.each([
    ["data.p.next", "9007199254740993"],
    ["data.p.time", "1700000000123456789"],
    ["data.p.third", "0.33333333333333333334"],
  ])("prints %s as it was computed, with every digit, in every way", async (path, digits) => {
    const from = ["-i", "input.json"];
    expect(await asked(path, ...from)).toEqual([0, digits]);
    expect(await asked(path, ...from, "--json")).toEqual([0, `{"kind":"defined","value":${digits}}`]);
    expect((await asked(path, ...from, "-f", "json"))[1]).toContain(`"value": ${digits},`);
    expect(await asked(path, ...from, "-f", "raw")).toEqual([0, digits]);
    expect(await asked(`x := ${path}`, ...from, "-f", "bindings")).toEqual([0, `{\n  "x": ${digits}\n}`]);
    const explained = await call(["explain", path, "p.rego", ...from]);
    expect(explained.text.split("\n")[0]).toBe(digits);
    const session = await call(["repl", "p.rego", ...from], `${path}\n`);
    expect(session.text).toBe(digits);
  });

  test("answers the query that docs/rego.md says to type", async () => {
    const page = await readFile(new URL("../../../docs/rego.md", import.meta.url), "utf8");
    const [, query = "", rest = ""] = /^seneschal policy eval '([^']+)' (.*?) +#/m.exec(page) ?? [];
    await mkdir(join(cwd, "policies"));
    await writeFile(join(cwd, "policies/p.rego"), "package none\n");
    await writeFile(join(cwd, "data.json"), '{"roles": [{"level": 1}, {"level": 2}]}');
    const { code, text } = await call(["eval", query, ...rest.split(" ")]);
    expect([code, JSON.parse(text)]).toEqual([0, { x: { level: 2 } }]);
  });

  test("takes input as JSON with or without a byte order mark, as YAML, and from standard input", async () => {
    for (const name of ["input.json", "marked.json", "input.yaml"])
      expect([name, ...(await asked("data.p.next", "-i", name))]).toEqual([name, 0, "9007199254740993"]);
    const piped = await call(["eval", "input.a", "-I"], '{"a": 1}');
    expect([piped.code, piped.text]).toEqual([0, "1"]);
    expect((await call(["eval", "input", "-I"], "{")).code).toBe(2);
    expect((await call(["eval", "input", "-I", "-i", "input.json"], "{}")).code).toBe(2);
  });

  test("reads the data files beside policies, each at the path of its directory, links to files as well", async () => {
    await mkdir(join(cwd, "dir/roles"), { recursive: true });
    await writeFile(join(cwd, "dir/p.rego"), "package q\n\nimport data.roles\n\nallow if roles.ada\n\ntest_allow if allow\n");
    await writeFile(join(cwd, "ada.yaml"), "ada: true\n");
    await symlink(join(cwd, "ada.yaml"), join(cwd, "dir/roles/data.yaml"));
    for (const paths of [["dir"], ["-d", "dir"], ["dir", "-d", "dir"], ["dir/p.rego", "-d", "dir"]]) {
      const { code, text } = await call(["eval", "data.q.allow", ...paths]);
      expect([paths, code, text]).toEqual([paths, 0, "true"]);
    }
    expect((await call(["test", "dir"])).code).toBe(0);
    await writeFile(join(cwd, "dir/odd.json"), "{");
    expect((await call(["eval", "data.q.allow", "dir"])).errors.join("")).toContain("odd.json");
    expect((await call(["check", "dir"])).code).toBe(0);
  });

  test("tells what a policy prints on standard error, and nowhere else", async () => {
    const { code, text, errors } = await call(["eval", "data.p.loud", "p.rego", "-i", "input.json"]);
    expect([code, text, errors]).toEqual([0, "true", ["heard 9007199254740992"]]);
  });

  /** What `opa eval` 1.12 writes. */
  test.each([
    ["1+1", "values", "[\n  2\n]"],
    ["1+1", "raw", "2"],
    ["1+1", "pretty", "2"],
    ["1 == 2", "raw", "false"],
    ["1 == 2", "values", "[\n  false\n]"],
    ["x := [1,2,3][_]; x > 1", "values", "[\n  true,\n  true\n]\n[\n  true,\n  true\n]"],
    ["x := [1,2,3][_]; x > 1", "bindings", '{\n  "x": 2\n}\n{\n  "x": 3\n}'],
    ["x := [1,2,3][_]; x > 1", "raw", "true true\ntrue true"],
    ["x := [1,2,3][_]; x > 1", "pretty", "x\n-\n2\n3"],
    ["[false, true][_]", "raw", "true"],
    ["1;x:=2;[1]", "raw", "1 true [1]"],
    ['"text"', "raw", "text"],
    ['{"a": [1]}', "raw", '{"a":[1]}'],
    ["1+1", "discard", '{\n  "result": "discarded"\n}'],
    ["print(1)", "raw", "true"],
    ["data.p.roles[i].level == 3", "bindings", '{\n  "i": 2\n}'],
    ["1+1 # two", "raw", "2"],
  ] as const)("%s is written as opa eval writes it: %s", async (query, format, text) => {
    expect(await asked(query, "-f", format)).toEqual([0, text]);
  });

  test("has the fields of opa eval in JSON", async () => {
    const [code, text] = await asked("x = 1; not false; y := x + 1; y > 1 with input as 3", "-f", "json");
    expect([code, JSON.parse(String(text))]).toEqual([
      0,
      {
        result: [
          {
            expressions: [
              { value: true, text: "x = 1", location: { row: 1, col: 1 } },
              { value: true, text: "not false", location: { row: 1, col: 8 } },
              { value: true, text: "y := x + 1", location: { row: 1, col: 19 } },
              { value: true, text: "y > 1 with input as 3", location: { row: 1, col: 31 } },
            ],
            bindings: { x: 1, y: 2 },
          },
        ],
      },
    ]);
    expect(await asked("x := 1; x == 2", "-f", "json")).toEqual([1, "{}"]);
    const [failed, errors] = await asked("1/0", "-f", "json", "--strict-builtin-errors");
    expect([failed, JSON.parse(String(errors))]).toEqual([
      1,
      { errors: [{ message: expect.stringContaining("divide by zero"), code: "eval_builtin_error" }] },
    ]);
  });

  test.each([
    [["data.p.roles"], 0],
    [["data.p.none"], 1],
    [["data.p.none", "--fail"], 1],
    [["data.p.none", "--fail-defined"], 0],
    [["data.p.roles", "--fail-defined"], 1],
    [["1/0", "--strict-builtin-errors", "--fail-defined"], 1],
    [["x := 1; x == 2"], 1],
    [["1 +"], 2],
    [[""], 2],
    [["allow"], 2],
    [["data.p.roles["], 2],
    [["data.p.roles", "--fail", "--fail-defined"], 2],
    [["data.p.roles", "--format", "xml"], 2],
    [["data.p.roles", "--format", "raw", "--json"], 2],
    [["1+1", "--profile"], 2],
  ] as const)("%j ends with %i", async ([query, ...options], code) => {
    expect((await asked(query, ...options))[0]).toBe(code);
  });
});
