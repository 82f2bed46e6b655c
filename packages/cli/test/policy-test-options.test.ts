import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

const TESTS = `package a

test_ok if true

test_bad if {
	print("hello")
	false
}

todo_test_later if true

test_table[a][b] if {
	some a, all in {"k": {"one": 1, "two": 2}}
	some b, x in all
	x == 1
}

test_keys[key] if {
	some key in ["p", 3]
	key == "p"
}

test_failing if {
	1 / 0 == 1
}
`;
/** What \`opa test --format json\` of OPA 1.12.3 says of them, without \`duration\`, by the row. */
const OPAS = [
  { row: 3, name: "test_ok" },
  { row: 5, name: "test_bad", fail: true, output: "aGVsbG8K" },
  { row: 10, name: "todo_test_later", skip: true },
  {
    row: 12,
    name: "test_table",
    fail: true,
    sub_results: {
      k: { name: "k", fail: true, sub_results: { one: { name: "one" }, two: { name: "two", fail: true } } },
    },
  },
  { row: 18, name: "test_keys", fail: true, sub_results: { 3: { name: "3", fail: true }, p: { name: "p" } } },
  { row: 23, name: "test_failing", fail: true },
].map(({ row, ...rest }) => ({ location: { file: "a_test.rego", row, col: 1 }, package: "data.a", ...rest }));

describe("options of policy commands that OPA has", () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "seneschal-policy-options-"));
    await mkdir(join(cwd, "all", "sub", ".hid"), { recursive: true });
    await writeFile(join(cwd, "a_test.rego"), TESTS);
    await writeFile(join(cwd, "all", "b_test.rego"), "package b\n\ntest_b if data.k == 1\n");
    await writeFile(join(cwd, "all", "data.json"), '{"k": 1}');
    await writeFile(join(cwd, "all", "sub", "c_test.rego"), "package c\n\ntest_c if true\n");
    await writeFile(join(cwd, "all", "sub", ".hid", "broken.rego"), "package d\n\nx :=\n");
    await writeFile(
      join(cwd, "slow_test.rego"),
      "package s\n\ntest_slow if count([x | some x in numbers.range(1, 1000000); x < 0]) == 1\n",
    );
  });
  afterAll(() => rm(cwd, { recursive: true, force: true }));
  const call = async (...args: string[]) => {
    const host = scriptedHost({ cwd });
    const code = await run(["policy", ...args], host);
    return { code, text: host.lines.join("\n"), lines: host.lines, errors: host.errors.join("\n") };
  };
  const tested = async (...args: string[]) => {
    const { text } = await call("test", ...args, "-f", "json");
    const told = JSON.parse(text) as {
      readonly location: { readonly row: number };
      readonly name: string;
      readonly duration: number;
    }[];
    return told.sort((a, b) => a.location.row - b.location.row);
  };

  test("test --format json is the list of opa test, member by member", async () => {
    const { code } = await call("test", "a_test.rego", "-f", "json");
    const told = await tested("a_test.rego");
    expect(code).toBe(1);
    expect(told.map(({ duration: _, ...rest }) => rest)).toEqual(OPAS);
    for (const { duration, name } of told) expect([name, Number.isInteger(duration) && duration >= 0]).toEqual([name, true]);
  });

  test("what cannot be together is refused, and so is a format that is none", async () => {
    for (const options of [
      ["-f", "json", "--json"],
      ["-f", "json", "--coverage"],
      ["-f", "gobench"],
      ["--count", "0"],
      ["--timeout", "5"],
      ["--timeout", "0s"],
      ["--timeout", "5s x"],
    ])
      expect([options, (await call("test", "a_test.rego", ...options)).code]).toEqual([options, 2]);
  });

  test("--count runs the tests so many times, as long as none fails", async () => {
    const passed = await call("test", "all", "--ignore", ".hid", "--count", "3");
    expect([passed.code, passed.lines]).toEqual([0, Array(3).fill("2 passed, 0 failed")]);
    const failed = await call("test", "a_test.rego", "--count", "3");
    expect([failed.code, failed.text.match(/ failed/g)]).toEqual([1, [" failed"]]);
    expect((await call("bench", "data.b.x", "all", "--ignore", ".hid", "--count", "0")).code).toBe(2);
  });

  test("--timeout ends a test, or an evaluation, that takes longer", async () => {
    const told = await call("test", "slow_test.rego", "--timeout", "1us");
    expect([told.code, told.text]).toEqual([1, expect.stringContaining("eval_limit_error")]);
    const query = "count([x | some x in numbers.range(1, 1000000); x < 0])";
    const asked = await call("eval", query, "--timeout", "0.001ms");
    expect([asked.code, asked.text + asked.errors]).toEqual([1, expect.stringContaining("eval_limit_error")]);
  });

  test.each([
    [".hid", ["test_b", "test_c"]],
    [".*", ["test_b", "test_c"]],
    ["sub", ["test_b"]],
    ["s?b", ["test_b"]],
    ["[a-s]ub", ["test_b"]],
    ["[^a-s]ub,.hid", ["test_b", "test_c"]],
    ["\\\\.h*", ["test_b", "test_c"]],
    [".hid,c_test.rego", ["test_b"]],
    [".hid,*_test.rego", undefined],
  ])("--ignore %s passes over names below the paths", async (names, expected) => {
    const pattern = names.replaceAll("\\\\", "\\");
    const { code, errors } = await call("test", "all", "--ignore", pattern);
    if (expected === undefined) expect([code, errors]).toEqual([2, expect.stringContaining("no .rego file")]);
    else expect((await tested("all", "--ignore", pattern)).map(({ name }) => name).sort()).toEqual(expected);
  });

  test("names on the way to a path, and parts of names, are not ignored; data is, and files of a bundle", async () => {
    expect((await call("check", "all")).code).toBe(1);
    for (const pattern of ["sub/.hid", "./sub", "hid"]) expect((await call("check", "all", "--ignore", pattern)).code).toBe(1);
    expect((await call("check", "all/sub/.hid/broken.rego", "--ignore", "*")).code).toBe(1);
    for (const from of [["all"], ["-d", "all"], ["-b", "all"]]) {
      const { text } = await call("eval", "data.k", ...from, "--ignore", ".hid", "-f", "raw");
      expect([from, text]).toEqual([from, "1"]);
      expect([from, (await call("eval", "data.k", ...from, "--ignore", ".hid,data.json")).code]).toEqual([from, 1]);
    }
    for (const wrong of ["[", "a[]", "[z-a]", "a\\"]) {
      const { code, errors } = await call("check", "all", "--ignore", wrong);
      expect([wrong, code, errors]).toEqual([wrong, 2, expect.stringContaining("is no pattern of names")]);
    }
  });

  test("a release of OPA in the place of a capabilities file is refused with what writes one", async () => {
    const { code, errors } = await call("check", "a_test.rego", "--capabilities", "v0.44.0");
    expect([code, errors]).toEqual([2, expect.stringContaining("opa capabilities --version v0.44.0")]);
  });
});
