import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PolicySession } from "../src/policy/policy-session.ts";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

const source = 'package authz\n\nallow if input.user in data.owners\n\nroles := {"ada": ["admin", "dev"]}\n';

const session = (input?: unknown) =>
  new PolicySession({
    sources: [{ name: "authz.rego", source }],
    options: {},
    input,
    settings: () => ({ data: { owners: ["ada"] } }),
  });

describe("a policy session", () => {
  it("answers a query with its value, its solutions, or that it is undefined", () => {
    const s = session({ user: "ada" });
    expect(s.enter("data.authz.allow")).toEqual({ kind: "value", value: true });
    expect(s.enter("1 > 2")).toEqual({ kind: "value", value: false });
    expect(s.enter("data.authz.nothing")).toEqual({ kind: "undefined" });
    expect(s.enter('x := data.authz.roles.ada[_]; x != "dev"')).toEqual({ kind: "rows", rows: [{ x: "admin" }] });
    expect(s.enter("data.authz.roles[who][0]")).toEqual({ kind: "rows", rows: [{ who: "ada", value: "admin" }] });
    expect(s.enter("1 == 1; true")).toEqual({ kind: "value", value: true });
    expect(s.enter('data.authz.allow with input as {"user": "eve"}')).toEqual({ kind: "undefined" });
    expect(s.enter("   ")).toEqual({ kind: "nothing" });
  });

  it("defines rules that later queries see by their names, and takes them back", () => {
    const s = session();
    expect(s.enter("limit := 3").kind).toBe("told");
    expect(s.enter("big contains n if { some n in [1, 5]; n > limit }").kind).toBe("told");
    expect(s.enter("twice(x) := x * 2").kind).toBe("told");
    expect(s.enter("default open := false").kind).toBe("told");
    expect(s.enter("[big, twice(limit), open]")).toEqual({ kind: "value", value: [[5], 6, false] });
    expect(s.enter("data.repl.limit")).toEqual({ kind: "value", value: 3 });
    expect(s.enter("unset big")).toEqual({ kind: "nothing" });
    expect(s.enter("unset limit")).toMatchObject({ kind: "nothing" });
    expect(s.enter("limit")).toMatchObject({ kind: "error", code: "rego_unsafe_var_error" });
    expect(s.enter("unset limit")).toMatchObject({ kind: "error", code: "not_found" });
  });

  it("takes a complete rule with := in the place of all of its name, as OPA's REPL does, and others beside them", () => {
    const s = session();
    expect(s.enter("x := 1")).toEqual({ kind: "told", text: "rule x defined in package repl" });
    expect(s.enter("x := 2")).toEqual({ kind: "told", text: "rule x re-defined in package repl" });
    expect(s.enter("x")).toEqual({ kind: "value", value: 2 });
    s.enter("default a := false");
    expect(s.enter("a := true if 1 == 2")).toEqual({ kind: "told", text: "rule a re-defined in package repl" });
    expect(s.enter("a")).toEqual({ kind: "undefined" });
    s.enter("default b := false");
    expect(s.enter("b if 1 == 1")).toEqual({ kind: "told", text: "rule b defined in package repl" });
    expect(s.enter("b")).toEqual({ kind: "value", value: true });
    s.enter("f(1) := 10");
    s.enter("f(2) := 20");
    expect(s.enter("[f(1), f(2)]")).toEqual({ kind: "value", value: [10, 20] });
    expect(s.enter("x := unknown(1)")).toMatchObject({ kind: "error" });
    expect(s.enter("x")).toEqual({ kind: "value", value: 2 });
  });

  it("reads what deps asks about by the names of the package and its imports", () => {
    const s = session();
    s.enter("import data.authz as a");
    s.enter("mine if a.allow");
    expect(s.enter("deps a.allow")).toMatchObject({ value: { virtual: ["data.authz.allow"] } });
    expect(s.enter("deps mine")).toMatchObject({ value: { virtual: ["data.authz.allow", "data.repl.mine"] } });
  });

  it("tells of a number that JSON cannot hold that it cannot be told", () => {
    for (const number of ["1e400", "-1e400", "1e400 + 0.5", "[1e400]"])
      expect([number, session().enter(number)]).toMatchObject([number, { kind: "error", code: "eval_limit_error" }]);
    expect(session().enter("1e400 > 1e300")).toEqual({ kind: "value", value: true });
  });

  it("keeps nothing of a rule that does not compile", () => {
    const s = session();
    s.enter("a := 1");
    expect(s.enter("b := a + unknown(1)")).toMatchObject({ kind: "error", code: "rego_type_error" });
    expect(s.enter("a if a")).toMatchObject({ kind: "error", code: "rego_recursion_error" });
    expect(s.enter("import data.if")).toMatchObject({ kind: "error" });
    expect(s.enter("show")).toEqual({ kind: "told", text: "package repl\n\na := 1" });
    expect(s.enter("a")).toEqual({ kind: "value", value: 1 });
  });

  it("takes a rule back only when nothing needs it", () => {
    const s = session();
    s.enter("a := 1");
    s.enter("f(x) := x + a");
    s.enter("b := f(2)");
    expect(s.enter("unset f")).toMatchObject({ kind: "error", code: "rego_type_error" });
    expect(s.enter("b")).toEqual({ kind: "value", value: 3 });
  });

  it("goes to packages and imports into them", () => {
    const s = session({ user: "ada" });
    s.enter("package authz");
    expect(s.enter("allow")).toEqual({ kind: "value", value: true });
    s.enter("package other.place");
    s.enter("import data.authz.roles as r");
    expect(s.enter("r.ada[0]")).toEqual({ kind: "value", value: "admin" });
    s.enter("first := r.ada[0]");
    s.enter("package repl");
    expect(s.enter("data.other.place.first")).toEqual({ kind: "value", value: "admin" });
    expect(s.enter("package 1")).toMatchObject({ kind: "error", code: "rego_parse_error" });
    expect(s.enter("show")).toEqual({ kind: "told", text: "package repl" });
  });

  it("takes another input, and gives back what it was given", () => {
    const s = session({ user: "eve" });
    s.enter('input := {"user": "ada"}');
    expect(s.enter("data.authz.allow")).toEqual({ kind: "value", value: true });
    s.enter('input := object.union(input, {"user": "bob"})');
    expect(s.enter("input")).toEqual({ kind: "value", value: { user: "bob" } });
    s.enter("unset input");
    expect(s.enter("input")).toEqual({ kind: "value", value: { user: "eve" } });
  });

  it("reads on until a statement ends, and says what is wrong at an empty line", () => {
    const s = session();
    expect(s.enter("p if {")).toEqual({ kind: "more" });
    expect(s.open).toBe(true);
    expect(s.enter("  1 < 2")).toEqual({ kind: "more" });
    expect(s.enter("}").kind).toBe("told");
    expect(s.open).toBe(false);
    expect(s.enter("p")).toEqual({ kind: "value", value: true });
    expect(s.enter("q if {")).toEqual({ kind: "more" });
    expect(s.enter("")).toMatchObject({ kind: "error", code: "rego_parse_error" });
    expect(s.enter("p")).toEqual({ kind: "value", value: true });
  });

  it("explains and tells dependencies", () => {
    const s = session({ user: "eve" });
    expect(s.enter("explain data.authz.allow")).toMatchObject({
      text: expect.stringMatching(/^undefined\nfailed data\.authz\.allow: /),
    });
    expect(s.enter("deps data.authz.allow")).toEqual({
      kind: "value",
      value: { base: ["data.owners", "input.user"], virtual: ["data.authz.allow"] },
    });
    expect(s.enter("explain nothing")).toMatchObject({ kind: "error" });
    expect(s.enter("deps x >")).toMatchObject({ kind: "error" });
    expect(s.enter("help")).toMatchObject({ kind: "told" });
    expect(s.enter("exit")).toEqual({ kind: "end" });
  });
});

describe("policy repl", () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "seneschal-repl-"));
    await writeFile(join(cwd, "authz.rego"), source);
    await writeFile(join(cwd, "data.json"), '{"owners": ["ada"]}');
    await writeFile(join(cwd, "input.json"), '{"user": "ada"}');
  });
  afterAll(() => rm(cwd, { recursive: true, force: true }));

  it("answers each line of its input and ends with it, or at exit", async () => {
    const given = ["policy", "repl", "authz.rego", "-d", "data.json", "-i", "input.json"];
    const asked = async (...lines: readonly string[]) => {
      const host = scriptedHost({ cwd, stdin: lines.join("\n") });
      return { code: await run(given, host), told: host.lines };
    };
    expect(await asked("data.authz.allow", "x := 1", "x + 1")).toEqual({
      code: 0,
      told: ["true", "rule x defined in package repl", "2"],
    });
    expect((await asked("data.authz.roles[who][i]", "exit", "1")).told).toEqual([
      'who    i  value\n-----  -  -------\n"ada"  0  "admin"\n"ada"  1  "dev"',
    ]);
    const host = scriptedHost({ cwd, stdin: "data.authz.allow\nx := \n\n" });
    expect(await run([...given, "--json"], host)).toBe(0);
    expect(host.lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual(["value", "error"]);
  });

  it("needs no files", async () => {
    const host = scriptedHost({ cwd, stdin: "1 + 1" });
    expect([await run(["policy", "repl"], host), host.lines]).toEqual([0, ["2"]]);
  });

  it("reads the lines of a pipe in a process of its own", async () => {
    const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
    const tools = new URL("../../../tools/run-source.mjs", import.meta.url).href;
    const child = spawn(
      process.execPath,
      ["--import", tools, "--conditions=@seneschal/source", main, "policy", "repl", "authz.rego"],
      {
        cwd,
        stdio: ["pipe", "pipe", "inherit"],
      },
    );
    child.stdin.end("a := 40\na + 2\n");
    expect(await text(child.stdout)).toBe("rule a defined in package repl\n42\n");
  });
});
