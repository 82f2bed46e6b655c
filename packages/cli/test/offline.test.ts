import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { pack } from "tar-stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressed } from "../../../tools/import-module.ts";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

const policy = `package authz

default allow := false

allow if {
	input.role == "admin"
}
`;
const tests = `package authz_test

import data.authz

test_admin if authz.allow with input as {"role": "admin"}

test_guest if not authz.allow with input as {"role": "guest"}
`;

/** The block in JavaScript of docs/rego.md runs here. */
describe("commands that need no server", () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "seneschal-offline-"));
    await writeFile(join(cwd, "authz.rego"), policy);
    await writeFile(join(cwd, "authz_test.rego"), tests);
    await writeFile(join(cwd, "broken.rego"), "package p\nallow := x\n");
    await writeFile(join(cwd, "guest.json"), '{"role": "guest"}');
    await writeFile(
      join(cwd, "people.csv"),
      "name,email,ssn\nAda,ada@example.com,536-90-4399\nBob,bob@example.com,536-22-8726\n",
    );
    await writeFile(
      join(cwd, "load.swf"),
      "; MaxNodes: 4\n1 0 0 100 2 -1 -1 2 100 -1 1 1 1 -1 -1 -1 -1 -1\n2 10 0 100 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 -1 -1\n",
    );
  });
  afterAll(() => rm(cwd, { recursive: true, force: true }));
  const call = async (...args: string[]) => {
    const host = scriptedHost({ cwd });
    const code = await run(args, host);
    return { host, code, text: host.lines.join("\n") };
  };

  it("policy check names every problem with file, row and column, and says no", async () => {
    const { code, text, host } = await call("policy", "check", "broken.rego");
    // where opa check tells them: nothing on standard output is a result
    expect([code, text]).toEqual([1, ""]);
    expect(host.errors.join("\n")).toMatch(/^broken\.rego:2:\d+: rego_/);
    const json = await call("policy", "check", "broken.rego", "--json");
    expect([json.code, json.host.json()["valid"], json.host.errors]).toEqual([1, false, []]);
    expect((await call("policy", "check", "authz.rego")).code).toBe(0);
    expect((await call("policy", "check", "none.rego")).code).toBe(2);
  });

  it("policy fmt writes one layout, names what would change and keeps what is formatted", async () => {
    await mkdir(join(cwd, "fmt"));
    await writeFile(join(cwd, "fmt/a.rego"), "package a\nallow   if {input.admin} # why\n");
    await writeFile(join(cwd, "fmt/b.rego"), "package b\n\nallow := true\n");
    const shown = await call("policy", "fmt", "fmt/a.rego");
    expect([shown.code, shown.text]).toEqual([0, "package a\n\nallow if input.admin # why"]);
    const listed = await call("policy", "fmt", "fmt", "--list", "--fail");
    expect([listed.code, listed.text]).toEqual([1, "fmt/a.rego"]);
    expect((await call("policy", "fmt", "fmt", "--write")).text).toBe("fmt/a.rego");
    expect(await readFile(join(cwd, "fmt/a.rego"), "utf8")).toBe("package a\n\nallow if input.admin # why\n");
    expect((await call("policy", "fmt", "fmt", "--list", "--fail")).code).toBe(0);
    expect((await call("policy", "fmt", "broken.rego", "missing.rego")).code).toBe(2);
  });

  it("policy fmt converts v0 where it is asked to", async () => {
    await writeFile(join(cwd, "old.rego"), 'package old\ndeny[m] { m = "no" }\n');
    expect((await call("policy", "fmt", "old.rego")).code).toBe(2);
    expect((await call("policy", "fmt", "old.rego", "--v0-compatible")).text).toBe('package old\n\ndeny[m] {\n\tm = "no"\n}');
    expect((await call("policy", "fmt", "old.rego", "--v0-v1")).text).toBe(
      'package old\n\nimport rego.v1\n\ndeny contains m if m = "no"',
    );
    expect((await call("policy", "fmt", "old.rego", "--v0-v1", "--v0-compatible")).code).toBe(2);
  });

  it("policy eval and explain answer and say where a rule failed", async () => {
    const { code, text } = await call("policy", "eval", "data.authz.allow", "authz.rego", "-i", "guest.json");
    expect([code, text]).toEqual([0, "false"]);
    const explained = await call("policy", "explain", "data.authz.allow", "authz.rego", "-i", "guest.json");
    expect(explained.text).toContain('input.role == "admin"');
    expect((await call("policy", "eval", "data.authz.nothing", "authz.rego")).code).toBe(1);
  });

  it("what is no place below data is a wrong command line, and not a policy that says no", async () => {
    const wrong = [
      "data.authz.allow[",
      "1 +",
      "",
      "x := 1",
      "data.authz.allow == true",
      "input.role",
      "allow",
      "not data.authz.allow",
    ];
    for (const command of ["explain", "bench"])
      for (const entrypoint of wrong)
        expect([command, entrypoint, (await call("policy", command, entrypoint, "authz.rego")).code]).toEqual([
          command,
          entrypoint,
          2,
        ]);
  });

  it("policy eval profiles where it is asked to, sorted and cut", async () => {
    const all = await call("policy", "eval", "data.authz.allow", "authz.rego", "-i", "guest.json", "--profile", "--json");
    expect(all.host.json()).toMatchObject({
      kind: "defined",
      value: false,
      profile: [{ num_eval: 1, num_redo: 0, num_gen_expr: 1, location: { file: "authz.rego", row: 6, col: 2 } }],
    });
    await writeFile(join(cwd, "loop.rego"), "package loop\n\nn contains x if {\n\tsome x in input.role\n\tx > 1\n}\n");
    await writeFile(join(cwd, "loop.json"), '{"role": [1, 2, 3]}');
    const sorted = ["policy", "eval", "data.loop.n", "loop.rego", "-i", "loop.json", "--profile-sort", "num_eval"];
    const rows = (text: string) => text.split("\n").filter((line) => line.includes(" us"));
    expect(rows((await call(...sorted)).text)[0]).toMatch(/ 3 evaluated +2 redone {2}loop\.rego:5: x > 1$/);
    expect(rows((await call(...sorted, "--profile-limit", "1")).text)).toHaveLength(1);
    expect((await call("policy", "eval", "data.loop.n", "loop.rego", "--profile-sort", "speed")).code).toBe(2);
  });

  it("policy deps tells what a query reads", async () => {
    const { code, text, host } = await call(
      "policy",
      "deps",
      "data.authz_test.test_admin",
      "authz.rego",
      "authz_test.rego",
      "--json",
    );
    expect(code, text).toBe(0);
    expect(host.json()).toEqual({ base: ["input", "input.role"], virtual: ["data.authz.allow", "data.authz_test.test_admin"] });
    expect((await call("policy", "deps", "data.authz.allow", "authz.rego")).text).toBe(
      "base documents:\n  input.role\nvirtual documents:\n  data.authz.allow",
    );
    expect((await call("policy", "deps", "x >", "authz.rego")).code).toBe(2);
  });

  it("policy build writes a module that answers as docs/rego.md says, with base documents and bundles in it", async () => {
    const page = await readFile(new URL("../../../docs/rego.md", import.meta.url), "utf8");
    const section = page.slice(page.indexOf("## Compiled ahead"), page.indexOf("## Budgets"));
    const rego = `${policy}\nreasons contains reason if some reason in data.reasons\n`;
    await mkdir(join(cwd, "policies"));
    await writeFile(join(cwd, "policies", "authz.rego"), rego);
    await writeFile(join(cwd, "data.json"), '{"reasons": ["closed", 9007199254740993]}');
    const [plain = "", bundled = ""] = [...section.matchAll(/^seneschal (policy build .*?)(?: +#.*)?$/gm)].map(
      ([, line]) => line,
    );
    const built = await call(...plain.split(" "));
    expect(built.code, built.host.errors.join()).toBe(0);
    expect(built.text).toMatch(/^policy\.js: \d+ bytes for data\.authz\.allow, data\.authz\.reasons$/);
    const first = await readFile(join(cwd, "policy.js"), "utf8");
    await call(...plain.split(" "));
    expect(await readFile(join(cwd, "policy.js"), "utf8")).toBe(first);
    // What it imports stands where a package manager puts it; here it has its address.
    await writeFile(join(cwd, "policy.mjs"), addressed(first));
    const program = /```js\n([\s\S]*?)```/.exec(section)?.[1] ?? "";
    await writeFile(
      join(cwd, "app.mjs"),
      program.replace("./policy.js", "./policy.mjs").replace("policy.evaluate", "export const answer = policy.evaluate"),
    );
    expect((await import(join(cwd, "app.mjs"))).answer).toEqual({ kind: "defined", value: true });
    const { load } = await import(join(cwd, "policy.mjs"));
    expect(load().evaluate("data.authz.reasons", undefined, { exact: true })).toEqual({
      kind: "defined",
      value: [9007199254740993n, "closed"],
    });

    const archive = pack();
    archive.entry({ name: ".manifest" }, '{"revision": "r7", "roots": ["authz"]}');
    archive.entry({ name: "authz/authz.rego" }, policy);
    archive.finalize();
    await writeFile(join(cwd, "bundle.tar.gz"), gzipSync(await buffer(archive)));
    const unsigned = bundled.replace(/ --verification-key \S+/, "");
    expect((await call(...unsigned.split(" "), "-o", "bundled.mjs")).code).toBe(0);
    expect(await readFile(join(cwd, "bundled.mjs"), "utf8")).toMatch(/"revision": "r7",\s+"roots": \[\s+"authz"\s+\]/);

    const absent = await call("policy", "build", "authz.rego", "-e", "data.authz.nothing", "-o", "none.js");
    expect([absent.code, absent.host.errors.join()]).toEqual([
      2,
      "seneschal: module_entrypoints: data.authz.nothing names no rule and no package",
    ]);
    expect((await call("policy", "build", "broken.rego", "-e", "data.p.allow", "-o", "none.js")).code).toBe(2);
    expect((await call("policy", "build", "authz.rego", "-o", "none.js")).code).toBe(2);
    await expect(readFile(join(cwd, "none.js"))).rejects.toThrow("ENOENT");
  });

  it("policy capabilities are printed, read back and held, and a file that is none is refused", async () => {
    const current = await call("policy", "capabilities", "--current");
    expect(current.code).toBe(0);
    const document = JSON.parse(current.text) as { builtins: { name: string }[]; features: string[] };
    await writeFile(join(cwd, "all.json"), current.text);
    document.builtins = document.builtins.filter(({ name }) => name !== "equal");
    await writeFile(join(cwd, "few.json"), JSON.stringify(document));
    expect((await call("policy", "check", "authz.rego", "--capabilities", "all.json")).code).toBe(0);
    for (const command of [["check"], ["eval", "data.authz.allow"], ["test"], ["deps", "data.authz.allow"]]) {
      const refused = await call("policy", ...command, "authz.rego", "--capabilities", "few.json");
      expect([refused.text, ...refused.host.errors].join(), command[0]).toContain("undefined function equal");
    }
    expect(JSON.parse((await call("policy", "capabilities", "--file", "few.json")).text)).toEqual(document);
    await writeFile(join(cwd, "wrong.json"), '{"builtins": [], "feature": []}');
    expect((await call("policy", "check", "authz.rego", "--capabilities", "wrong.json")).code).toBe(2);
    await writeFile(join(cwd, "list.json"), "[]");
    const listed = await call("policy", "check", "authz.rego", "--capabilities", "list.json");
    expect([listed.code, listed.host.errors.join()]).toEqual([2, "seneschal: list.json holds no capabilities: no object"]);
    expect((await call("policy", "capabilities")).code).toBe(2);
  });

  it("policy commands call the builtins of a module that is named, with the types it declares", async () => {
    const page = await readFile(new URL("../../../docs/rego.md", import.meta.url), "utf8");
    await writeFile(join(cwd, "own.mjs"), /```js\n([\s\S]*?)```/.exec(page)?.[1] ?? "");
    await writeFile(join(cwd, "own.rego"), "package own\n\nx := acme.half(42)\n\nodd if not acme.half(1)\n");
    const asked = (name: string) => call("policy", "eval", `data.own.${name}`, "own.rego", "--builtins", "own.mjs");
    expect([(await asked("x")).text, (await asked("odd")).text]).toEqual(["21", "true"]);
    expect((await call("policy", "check", "own.rego")).code).toBe(1);
    await writeFile(
      join(cwd, "later.mjs"),
      'export default ({ define }) => [define("acme.ok", "-> boolean", async () => false)];',
    );
    await writeFile(join(cwd, "later.rego"), "package own\n\nallow if acme.ok()\n\nallow if not acme.ok()\n");
    const later = await call("policy", "eval", "data.own.allow", "later.rego", "--builtins", "later.mjs");
    expect([later.code === 0, later.host.errors.join() + later.text]).toEqual([false, expect.stringContaining("acme.ok")]);
    await writeFile(join(cwd, "typed.rego"), 'package own\n\nx := acme.half("a")\n');
    expect((await call("policy", "check", "typed.rego", "--builtins", "own.mjs")).host.errors.join()).toContain(
      "invalid argument",
    );
    for (const [name, text] of [
      ["taken.mjs", 'export default ({ define }) => [define("count", "any -> number", () => 1)];'],
      ["list.mjs", "export default [];"],
      ["bare.mjs", 'export default () => [{ name: "a.b" }];'],
      ["twice.mjs", 'export default ({ define }) => [1, 2].map((n) => define("twice.mjs", "-> number", () => n));'],
      ["name.mjs", 'export default ({ define }) => [define("a b", "-> number", () => 1)];'],
      ["throws.mjs", 'throw new Error("not today");'],
    ] as const) {
      await writeFile(join(cwd, name), text);
      const refused = await call("policy", "check", "authz.rego", "--builtins", name);
      expect([refused.code, refused.host.errors.join().includes(name)], refused.host.errors.join()).toEqual([2, true]);
    }
    expect((await call("policy", "check", "authz.rego", "--builtins", "absent.mjs")).code).toBe(2);
  });

  it("policy test runs the test_ rules, tells those that fail and fails with them; -t tells the coverage", async () => {
    const { code, text } = await call("policy", "test", "authz.rego", "authz_test.rego");
    expect(code, text).toBe(0);
    expect(text).toContain("2 passed, 0 failed");
    await writeFile(
      join(cwd, "wrong_test.rego"),
      'package wrong_test\n\nimport data.authz\n\ntest_wrong if authz.allow with input as {"role": "guest"}\n',
    );
    const failing = await call("policy", "test", "authz.rego", "wrong_test.rego");
    expect(failing.code).toBe(1);
    expect(failing.text).toContain("FAIL data.wrong_test.test_wrong");
    await writeFile(
      join(cwd, "twice_test.rego"),
      'package twice_test\n\ntest_a if input.role == "admin"\n\ntest_a if true\n\ntodo_test_b if false\n',
    );
    const twice = await call("policy", "test", "twice_test.rego");
    expect([twice.code, twice.text.split("\n")]).toEqual([
      1,
      ["FAIL data.twice_test.test_a (twice_test.rego:3)", "SKIP data.twice_test.todo_test_b", "1 passed, 1 failed, 1 skipped"],
    ]);
    const verbose = await call("policy", "test", "twice_test.rego", "-v");
    expect(verbose.text.split("\n").slice(0, 3)).toEqual([
      "FAIL data.twice_test.test_a (twice_test.rego:3)",
      '  row 3: test_a if input.role == "admin"',
      "PASS data.twice_test.test_a#01",
    ]);
    await writeFile(join(cwd, "admin.json"), '{"role": "admin"}');
    expect((await call("policy", "test", "twice_test.rego", "-i", "admin.json")).code).toBe(0);
    await writeFile(join(cwd, "half_test.rego"), "package half_test\n\nimport data.authz\n\ntest_guest if not authz.allow\n");
    const thin = await call("policy", "test", "authz.rego", "half_test.rego", "--threshold", "90");
    expect(
      [thin.code, thin.text.split("\n").some((line) => /^authz\.rego: 0 % covered, missed rows 5, 6$/.test(line))],
      thin.text,
    ).toEqual([1, true]);
    expect((await call("policy", "test", "authz.rego", "authz_test.rego", "--threshold", "100")).code).toBe(0);
  });

  it("policy test tells what a test printed, passed or not, where it is told at all", async () => {
    await writeFile(
      join(cwd, "loud_test.rego"),
      'package loud_test\n\ntest_good if print("good")\n\ntest_bad if {\n\tprint("x is", input.x)\n\tinput.x == 4\n}\n',
    );
    const printed = async (...options: string[]) =>
      (await call("policy", "test", "loud_test.rego", ...options)).text.split("\n").filter((line) => line.startsWith("  "));
    expect(await printed()).toEqual(["  x is <undefined>"]);
    expect(await printed("-v")).toEqual(["  good", "  row 7: input.x == 4", "  x is <undefined>"]);
    const { tests } = JSON.parse((await call("policy", "test", "loud_test.rego", "--json")).text);
    expect(tests.map(({ output }: { output: unknown }) => output)).toEqual([["good"], ["x is <undefined>"]]);
  });

  it("policy test -r runs the tests whose path has a match, --coverage writes the report of opa", async () => {
    const one = await call("policy", "test", "authz.rego", "authz_test.rego", "-r", "test_admin$");
    expect(one.text).toContain("1 passed, 0 failed");
    expect((await call("policy", "test", "authz.rego", "authz_test.rego", "-r", "[")).code).toBe(2);
    const { code, text } = await call("policy", "test", "authz.rego", "authz_test.rego", "--coverage");
    const report = JSON.parse(text) as { files: Record<string, { covered: unknown[]; coverage: number }>; coverage: number };
    expect([code, report.coverage, report.files["authz.rego"]?.coverage]).toEqual([0, 100, 100]);
    expect(report.files["authz.rego"]?.covered[0]).toEqual({
      start: { row: expect.any(Number) },
      end: { row: expect.any(Number) },
    });
  });

  it("policy check --strict refuses what nothing uses", async () => {
    await writeFile(join(cwd, "strict.rego"), "package strict\n\nimport data.authz\n\nf(x) := 1 if {\n\ty := 2\n}\n");
    expect((await call("policy", "check", "strict.rego")).code).toBe(0);
    for (const flag of ["--strict", "-S"]) {
      const { code, host } = await call("policy", "check", "strict.rego", flag);
      expect([code, host.errors]).toEqual([
        1,
        [
          "strict.rego:3:1: rego_compile_error: import data.authz unused",
          "strict.rego:5:1: rego_compile_error: unused argument x. (hint: use _ (wildcard variable) instead)",
          "strict.rego:6:2: rego_compile_error: assigned var y unused",
        ],
      ]);
    }
  });

  it("policies read Rego v0 where it is asked for", async () => {
    await writeFile(join(cwd, "v0.rego"), 'package v0\nallow { input.role == "guest" }\n');
    expect((await call("policy", "check", "v0.rego")).code).toBe(1);
    expect((await call("policy", "check", "v0.rego", "--v0-compatible")).code).toBe(0);
    const { text } = await call("policy", "eval", "data.v0.allow", "v0.rego", "--v0-compatible", "-i", "guest.json");
    expect(text).toBe("true");
  });

  it("documents come from files and directories, those of a directory at the path of theirs", async () => {
    await mkdir(join(cwd, "docs/roles"), { recursive: true });
    await writeFile(join(cwd, "docs/roles/data.yaml"), "ada: admin\n");
    await writeFile(join(cwd, "docs/base.json"), '{"org": "a"}');
    const { text } = await call("policy", "eval", "data", "authz.rego", "-d", "docs", "-d", "guest.json");
    expect(JSON.parse(text)).toMatchObject({ org: "a", roles: { ada: "admin" }, role: "guest" });
    await writeFile(join(cwd, "again.json"), '{"roles": {"ada": "guest"}}');
    const conflict = await call("policy", "eval", "data", "authz.rego", "-d", "docs", "-d", "again.json");
    expect([conflict.code, conflict.host.errors.join("")]).toEqual([
      2,
      expect.stringContaining("roles/ada is defined by another file"),
    ]);
  });

  it("-d takes policies as well, as opa eval does, and one that is named twice is read once", async () => {
    await mkdir(join(cwd, "both/roles"), { recursive: true });
    await writeFile(
      join(cwd, "both/p.rego"),
      "package both\n\nallow if data.roles[input.role]\n\nboom := 1\n\nboom := x if x := 2\n",
    );
    await writeFile(join(cwd, "both/roles/data.json"), '{"guest": true}');
    for (const paths of [
      ["-d", "both"],
      ["both", "-d", "both"],
      ["both/p.rego", "-d", "both/p.rego", "-d", "both"],
    ]) {
      const { code, text } = await call("policy", "eval", "data.both.allow", ...paths, "-i", "guest.json");
      expect([code, text], paths.join(" ")).toEqual([0, "true"]);
    }
    expect((await call("policy", "eval", "data.both.allow", "-d", "both/roles")).code).toBe(2);
    const failed = await call("policy", "eval", "data.both.boom", "-d", "both");
    expect([failed.code, failed.text]).toEqual([
      1,
      "both/p.rego:7: eval_conflict_error: complete rules must not produce multiple outputs",
    ]);
  });

  it("bundles are directories and archives; a signed one needs its key", async () => {
    await mkdir(join(cwd, "bundle/acme"), { recursive: true });
    await writeFile(join(cwd, "bundle/.manifest"), '{"roots": ["acme"], "rego_version": 0}');
    await writeFile(join(cwd, "bundle/acme/p.rego"), "package acme.p\nallow { data.acme.users[input.role] }\n");
    await writeFile(join(cwd, "bundle/acme/data.json"), '{"users": {"guest": true}}');
    const archive = pack();
    for (const name of [".manifest", "acme/p.rego", "acme/data.json"]) {
      archive.entry({ name: `/${name}` }, await readFile(join(cwd, "bundle", name)));
    }
    archive.finalize();
    await writeFile(join(cwd, "bundle.tar.gz"), gzipSync(await buffer(archive)));
    for (const path of ["bundle", "bundle.tar.gz"]) {
      const { text } = await call("policy", "eval", "data.acme.p.allow", "-b", path, "-i", "guest.json");
      expect(text, path).toBe("true");
    }
    expect((await call("policy", "check", "-b", "bundle", "-b", "bundle.tar.gz")).code).toBe(2);
    expect((await call("policy", "check", "-b", "guest.json")).code).toBe(2);
    await writeFile(join(cwd, "bundle/.signatures.json"), '{"signatures": ["a.b.c"]}');
    expect((await call("policy", "check", "-b", "bundle")).host.errors.join("")).toContain("a verification key is needed");
    await writeFile(join(cwd, "secret"), "a secret\n");
    const forged = await call("policy", "check", "-b", "bundle", "--verification-key", "secret", "--signing-alg", "HS256");
    expect(forged.host.errors.join("")).toContain("bundle_signature");
    expect((await call("policy", "check", "-b", "bundle", "--skip-verify")).code).toBe(0);
  });

  it("policy bench measures an entrypoint", async () => {
    const { code, text } = await call("policy", "bench", "data.authz.allow", "authz.rego", "-i", "guest.json");
    expect([code, /^[\d,]+ evaluations\/s, [\d.]+ us each/.test(text)], text).toEqual([0, true]);
  });

  it("classify shows a bar that fills as the file is read, never empties again, and is cleared at the end", async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => `Person ${i},p${i}@example.com,536-22-8726`);
    await writeFile(join(cwd, "many.csv"), `name,email,ssn\n${rows.join("\n")}\n`);
    const { host } = await call("classify", "many.csv");
    expect(host.shown.at(-1)).toBe("");
    const bars = host.shown.slice(0, -1).map((line) => /^many\.csv \[(#*)(\.*)\] (\d+) records$/.exec(line));
    expect(bars.length).toBeGreaterThan(2);
    const filled = bars.map((bar) => bar?.[1]?.length ?? -1);
    expect(filled).toEqual([...filled].sort((a, b) => a - b));
    expect(bars.every((bar) => (bar?.[1]?.length ?? 0) + (bar?.[2]?.length ?? 0) === 24)).toBe(true);
    expect([filled.at(-1), bars.at(-1)?.[3]]).toEqual([24, "20000"]);
    expect(filled[0]).toBeLessThan(24);
    expect(host.shown.join()).not.toContain("@");
  });

  it("classify tells columns apart and prints no value", async () => {
    const { code, text } = await call("classify", "people.csv");
    expect(code, text).toBe(0);
    expect(text).toMatch(/people\.csv: PROPRIETARY/);
    expect(text).not.toContain("536-90-4399");
    expect((await call("classify", "people")).code).toBe(2);
    expect((await call("classify", "guest.json")).code).toBe(0);
    const parquet = new URL("../../adapters/test/classify-files/fixtures/brotli-v2.parquet", import.meta.url).pathname;
    const report = await call("classify", parquet);
    expect(report.text).toMatch(/CONFIDENTIAL .*200 records\n {2}email +CONFIDENTIAL +EMAIL_ADDRESS/);
    expect(report.text).not.toContain("ada1");
    expect((await call("classify", "people.csv", "--format", "parquet")).code).toBe(2);
    expect((await call("classify", "people.csv", "--format", "pdf")).code).toBe(2);
  });

  it("redact hides the values of a file and restore puts them back, and neither writes over a file", async () => {
    await writeFile(join(cwd, "redaction.key"), "07".repeat(32));
    const given = '{"note":"write to ada@example.org","n":1}\n\n{"note":"my card is 4111 1111 1111 1111","n":2}\n';
    await writeFile(join(cwd, "notes.jsonl"), given);
    const redact = (out: string, ...more: string[]) =>
      call("redact", "notes.jsonl", "--out", out, "--key", "redaction.key", ...more);
    const done = await redact("notes.hidden", "--rule", "CREDIT_CARD=encrypt", "CONFIDENTIAL=tokenise");
    expect([done.code, done.text], done.text).toEqual([
      0,
      expect.stringMatching(/2 values redacted\n +CREDIT_CARD +1\n +EMAIL_ADDRESS +1/),
    ]);
    const hidden = await readFile(join(cwd, "notes.hidden"), "utf8");
    expect(hidden).not.toMatch(/ada@|4111/);
    expect(
      hidden
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line).n),
    ).toEqual([1, 2]);
    expect((await call("restore", "notes.hidden", "--out", "notes.back", "--key", "redaction.key")).code).toBe(0);
    expect(await readFile(join(cwd, "notes.back"), "utf8")).toBe(given);
    expect((await redact("notes.back")).code).toBe(2);
    expect((await redact("other", "--rule", "PERSON=burn")).code).toBe(2);
    const table = parquetWriteBuffer({
      columnData: [{ name: "note", data: ["write to ada@example.org", "no"], type: "STRING" }],
    });
    await writeFile(join(cwd, "notes.parquet"), new Uint8Array(table));
    const taken = ["--key", "redaction.key", "--rule", "*=tokenise"];
    expect((await call("redact", "notes.parquet", "--out", "hidden.parquet", ...taken)).text).toMatch(/EMAIL_ADDRESS +1/);
    expect(await readFile(join(cwd, "hidden.parquet"), "latin1")).not.toContain("ada@");
    const back = await call("restore", "hidden.parquet", "--out", "back.parquet", "--key", "redaction.key");
    expect([back.code, back.text]).toEqual([0, "back.parquet: 1 values restored"]);
    // The file's name says what it is: this one is none.
    await writeFile(join(cwd, "book.xlsx"), "no workbook");
    await writeFile(join(cwd, "table.parquet"), "no table");
    for (const file of ["book.xlsx", "table.parquet"]) {
      const refused = await call("redact", file, "--out", "never");
      expect(refused.code).toBe(2);
      await expect(readFile(join(cwd, "never"))).rejects.toThrow();
    }
    expect((await redact("other", "--rule", "EMAIL=drop")).code).toBe(2);
    expect((await call("redact", "notes.jsonl", "--out", "third", "--rule", "*=hash")).code).toBe(2);
  });

  it("redact hides less than all where it is asked to, and refuses what would do nothing", async () => {
    await writeFile(join(cwd, "letter.txt"), "write to help@example.org or ada@example.org from 192.168.17.4\n");
    const redact = async (out: string, ...more: string[]) => {
      const { code } = await call("redact", "letter.txt", "--out", out, ...more);
      return code === 0 ? await readFile(join(cwd, out), "utf8") : code;
    };
    expect(
      await redact("letter.one", "--entity", "EMAIL_ADDRESS", "--allow", "help@example.org", "--score-threshold", "0.5"),
    ).toBe("write to help@example.org or <EMAIL_ADDRESS> from 192.168.17.4\n");
    expect(await redact("letter.two", "--entity", "EMAIL")).toBe(2);
    expect(await redact("letter.two", "--score-threshold", "many")).toBe(2);
  });

  it("redact takes the name of the file, or the one that it is told, for that of the table", async () => {
    const given = "race\nquorvath\n";
    for (const name of ["patients.csv", "results.csv"]) await writeFile(join(cwd, name), given);
    const redact = async (file: string, out: string, ...more: string[]) => {
      expect((await call("redact", file, "--out", out, ...more)).code).toBe(0);
      return readFile(join(cwd, out), "utf8");
    };
    expect(await redact("patients.csv", "patients.hidden")).toBe("race\n<ETHNICITY>\n");
    expect(await redact("results.csv", "results.same")).toBe(given);
    expect(await redact("results.csv", "results.hidden", "--about", "patients")).toBe("race\n<ETHNICITY>\n");
    expect(await redact("patients.csv", "patients.same", "--about", "results")).toBe(given);
  });

  it("redact refuses a file in another encoding than UTF-8 by its name, and writes nothing", async () => {
    const contents: Readonly<Record<string, string>> = {
      txt: "write to ada@example.org, Strau\u00df\n",
      csv: "note,n\nada@example.org Strau\u00df,1\n",
      json: '{"note":"ada@example.org Strau\u00df"}\n',
      jsonl: '{"n":1}\n{"note":"ada@example.org Strau\u00df"}\n',
      sse: "data: ada@example.org Strau\u00df\n\n",
    };
    const utf32 = (text: string) => Buffer.from(Uint32Array.from(text, (c) => c.codePointAt(0) ?? 0).buffer);
    const encodings: Readonly<Record<string, (text: string) => Uint8Array>> = {
      "UTF-16LE": (text) => Buffer.from(text, "utf16le"),
      "UTF-16LE with its mark": (text) => Buffer.from(`\ufeff${text}`, "utf16le"),
      "UTF-16BE": (text) => Buffer.from(text, "utf16le").swap16(),
      "UTF-16BE with its mark": (text) => Buffer.from(`\ufeff${text}`, "utf16le").swap16(),
      "UTF-32LE": utf32,
      "UTF-32BE": (text) => utf32(`\ufeff${text}`).swap32(),
      "Latin-1": (text) => Buffer.from(text, "latin1"),
      "UTF-8 with a lone surrogate": (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xed, 0xa0, 0x80, 0x0a])]),
      "UTF-8 that is cut": (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xc3])]),
    };
    for (const [ending, text] of Object.entries(contents)) {
      for (const [encoding, encoded] of Object.entries(encodings)) {
        await writeFile(join(cwd, `encoded.${ending}`), encoded(text));
        const { code, host } = await call("redact", `encoded.${ending}`, "--out", "never", "--json");
        expect([code, host.json()], `${ending} in ${encoding}`).toMatchObject([
          2,
          { error: { code: "file_invalid", message: expect.stringContaining(`encoded.${ending} is not text in UTF-8`) } },
        ]);
        await expect(readFile(join(cwd, "never"))).rejects.toThrow();
      }
      // A byte order mark of UTF-8 is taken everywhere, and stays.
      await writeFile(join(cwd, `encoded.${ending}`), `\ufeff${text}`);
      expect((await call("redact", `encoded.${ending}`, "--out", `marked.${ending}`)).code, ending).toBe(0);
      const marked = text.replace("ada@example.org", "<EMAIL_ADDRESS>");
      expect(await readFile(join(cwd, `marked.${ending}`), "utf8")).toBe(`\ufeff${marked}`);
    }
  });

  it("redact leaves the lines of JSON Lines as they end, and their separators of Unicode in them", async () => {
    const lines = '{"note":"a\u2028b"}\r\n\n{"note":"ada@example.org"}';
    await writeFile(join(cwd, "ends.jsonl"), lines);
    expect((await call("redact", "ends.jsonl", "--out", "ends.hidden")).code).toBe(0);
    expect(await readFile(join(cwd, "ends.hidden"), "utf8")).toBe(lines.replace("ada@example.org", "<EMAIL_ADDRESS>"));
  });

  it("quota simulate draws a workload as text and as SVG", async () => {
    const { code, text } = await call("quota", "simulate", "load.swf", "--svg", "plot.svg");
    expect(code, text).toBe(0);
    expect(text).toContain("utilisation");
    expect(await readFile(join(cwd, "plot.svg"), "utf8")).toMatch(/^<svg/);
  });

  const lines: readonly (readonly [string, number])[] = [
    ["policy check authz.rego", 0],
    ["policy check broken.rego", 1],
    ["policy eval data.authz.allow authz.rego -i guest.json", 0],
    ["policy explain data.authz.allow authz.rego -i guest.json", 0],
    ["policy test authz.rego authz_test.rego", 0],
    ["policy bench data.authz.allow authz.rego -i guest.json", 0],
    ["policy build authz.rego -e data.authz.allow -o {cwd}/built.js", 0],
    ["policy build authz.rego", 2],
    ["classify people.csv", 0],
    ["quota simulate load.swf", 0],
    ["config check --set services=scheduler", 0],
    ["config check --set no.such=1", 2],
    ["init --data {cwd}/made", 0],
    ["org create acme --set data_dir={cwd}/made", 0],
    ["completion bash", 0],
    ["sign --message AA== --crk none.json --share none.json", 2],
    ["no-such-command", 2],
    ["policy eval", 2],
    ["policy no-such-command", 2],
    ["ceremony", 2],
    ["--help", 0],
    ["--version", 0],
    ["classify {cwd} --format csv", 2],
    ["init --data {cwd}/authz.rego", 2],
    ["quota simulate load.swf --svg {cwd}/none/plot.svg", 2],
    ["dev --http other", 2],
    ["dev --log loud", 2],
    ["dev --port-base 64500", 2],
    ["dev --org a/b", 2],
    ["dev --data {cwd}/authz.rego", 2],
    ["serve --services other", 2],
    ["org show --url localhost:8443", 2],
    ["org show --url https://localhost --cert authz.rego", 2],
    ["org show --url https://localhost --cert authz.rego --key authz.rego", 2],
    ["org show --as acme/auditor --credentials guest.json", 2],
  ];
  it.each(lines)("under --json stdout is one JSON text: %s", async (line, expected) => {
    const host = scriptedHost({ cwd });
    expect(await run([...line.replaceAll("{cwd}", cwd).split(" "), "--json"], host), host.lines.join()).toBe(expected);
    expect(host.lines).toHaveLength(1);
    const value = host.json();
    if (expected === 2) expect(value["error"]).toMatchObject({ code: expect.any(String), message: expect.any(String) });
  });

  it("every command explains itself and refuses an unknown option, as one JSON text each", async () => {
    const { text } = await call("completion", "bash");
    const paths = [...text.matchAll(/^ {4}"([^"]+)"\) words=/gm)].map(([, path = ""]) => path);
    expect(paths).toEqual(expect.arrayContaining(["init", "dev", "ceremony join", "apikey rotate", "policy bench"]));
    for (const path of paths) {
      const help = await call(...path.split(" "), "--help", "--json");
      expect([help.code, help.host.lines.length], path).toEqual([0, 1]);
      expect(help.host.json()["text"], path).toContain(`Usage: seneschal ${path}`);
      const refused = await call(...path.split(" "), "--no-such-option", "--json");
      expect([refused.code, refused.host.lines.length], path).toEqual([2, 1]);
      expect(refused.host.json(), path).toMatchObject({ error: { code: "usage", message: expect.stringContaining("option") } });
    }
  });

  it("an address where nobody listens is told by name, with the code for it", async () => {
    for (const line of ["org show", "apikey list --key-file guest.json"]) {
      const { code, host } = await call(...line.split(" "), "--url", "https://127.0.0.1:1", "--json");
      expect([code, host.json()], line).toMatchObject([3, { error: { code: "unreachable" } }]);
      expect(JSON.stringify(host.json()), line).toContain("https://127.0.0.1:1 cannot be reached");
    }
  });

  it.each([
    ["policy", "eval", "data", "authz.rego", "-d", "none.json"],
    ["policy", "test", "none.rego"],
    ["policy", "eval", "data", "-b", "none.tar.gz"],
    ["redact", "none.txt", "--out", "out.txt"],
    ["quota", "simulate", "none.swf"],
    ["sign", "--crk", "none.json", "--share", "guest.json", "--message", "AA=="],
    ["ceremony", "verify", "none.jsonl"],
    ["ceremony", "verify", "guest.json", "--card", "none.json"],
    ["custodian", "card", "none.json"],
    ["custodian", "act", "none.jsonl", "--keys", "guest.json"],
    ["gateway", "ocsp", "acme", "--body", "@none.der", "--url", "https://127.0.0.1:1"],
    ["gateway", "list-workspaces", "--url", "https://127.0.0.1:1", "--ca", "none.pem"],
  ])("a file that is not there is named by %s %s", async (...args) => {
    const { host, code } = await call(...args, "--json");
    expect([code, host.json()]).toMatchObject([
      2,
      { error: { code: "file_unreadable", message: expect.stringContaining("none.") } },
    ]);
  });
});
