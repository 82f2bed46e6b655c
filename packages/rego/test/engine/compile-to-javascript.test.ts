import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import {
  BuiltinError,
  compile,
  compileToJavaScript,
  DEFAULT_BUDGETS,
  define,
  LoadError,
  RegoCompileError,
  type Source,
} from "@seneschal/rego";
import { policies } from "@seneschal/rego/arbitraries";
import type { LoadedPolicy, ModuleManifest } from "@seneschal/rego/runtime";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { importModule } from "../../../../tools/import-module.ts";
import { VERSION } from "../../src/version.ts";
import { ahead } from "../both-ways.ts";
import { bundled } from "../bundled.ts";
import { rounds } from "../rounds.ts";

const ROOT = join(import.meta.dirname, "../..");
const source = (text: string, name = "p.rego"): Source => ({ name, source: text });

const AUTHZ = source(`package authz

default allow := false

allow if {
	some role in data.roles[input.user]
	startswith(input.path, data.grants[role])
}

reasons contains sprintf("%v is no reader", [input.user]) if not "reader" in data.roles[input.user]

unread := regex.match("^x+$", input.path)
`);
const DATA = { roles: { ada: ["reader"] }, grants: { reader: "/public/" } };

const imported = importModule<{ readonly manifest: ModuleManifest; readonly load: (options?: object) => LoadedPolicy }>;

describe("a policy compiled ahead", () => {
  test("has the answers, the errors and the limits of the policy, for every rule of generated policies", () => {
    const names = ["r0", "r1", "s0", "o", "n.m", "n", "q0", "q1", "t0", "p2", "e0", "d0", "any0"];
    const entrypoints = ["data.p", ...names.map((name) => `data.p.${name}`)];
    const budget = fc.record({
      ticks: fc.nat(600),
      elements: fc.nat(60),
      characters: fc.nat(200),
      depth: fc.integer({ min: 1, max: 8 }),
    });
    fc.assert(
      fc.property(policies(), fc.boolean(), fc.option(budget, { nil: undefined }), ({ source: text, input }, strict, budgets) => {
        const sources = [source(text)];
        let policy: ReturnType<typeof compile>;
        try {
          policy = compile(sources);
        } catch {
          return;
        }
        const module = ahead(sources, entrypoints);
        for (const entrypoint of entrypoints) {
          const options = { strict, exact: true, ...(budgets === undefined ? {} : { budgets }) };
          // Whoever goes through an object first pays for the order of its keys.
          const [first, second] = [structuredClone(input), structuredClone(input)];
          expect(module.evaluate(entrypoint, first, options), `${entrypoint}\n${text}`).toEqual(
            policy.evaluate(entrypoint, second, options),
          );
        }
      }),
      { numRuns: rounds(300) },
    );
  });

  test("has what each of its entrypoints reads and nothing besides", () => {
    const text = compileToJavaScript([AUTHZ], { entrypoints: ["data.authz.allow"] });
    expect(text).not.toContain("regex");
    expect(text).not.toContain("is no reader");
    fc.assert(
      fc.property(policies(), fc.constantFrom("r1", "n.m", "n", "q0", "t0", "p2", "e0", "d0", "o"), (generated, name) => {
        const sources = [source(generated.source)];
        let policy: ReturnType<typeof compile>;
        try {
          policy = compile(sources);
        } catch {
          return;
        }
        const entrypoint = `data.p.${name}`;
        const alone = ahead(sources, [entrypoint]).evaluate(entrypoint, generated.input);
        expect(alone, `${entrypoint}\n${generated.source}`).toEqual(policy.evaluate(entrypoint, generated.input));
      }),
      { numRuns: rounds(200) },
    );
  });

  test("says what its builtins and its rules say, with the file and the row", () => {
    const fails = [
      source("package p\n\nx := 1 / input.n\n\ny := 1\n\ny := 2 if input.n == 0\n\nw := {1: v | some v in [1, 2]}\n"),
    ];
    const module = ahead(fails, ["data.p.x", "data.p.y", "data.p.w"]);
    const policy = compile(fails);
    for (const entrypoint of module.manifest.entrypoints) {
      const said = module.evaluate(entrypoint, { n: 0 }, { strict: true });
      expect(said).toEqual(policy.evaluate(entrypoint, { n: 0 }, { strict: true }));
      expect(said).toMatchObject({ kind: "error", message: expect.stringMatching(/^p\.rego:\d+: eval_/) });
    }
  });

  test("ends at a limit with the code of limits, time too", () => {
    const module = ahead(
      [source("package p\n\nx := count(numbers.range(1, input.n))\n\ny if every i in numbers.range(1, 9999) { i > 0 }\n")],
      ["data.p.x", "data.p.y"],
    );
    let now = 0;
    for (const [entrypoint, options] of [
      ["data.p.x", {}],
      ["data.p.y", { budgets: { ticks: 100 } }],
      ["data.p.y", { clock: () => (now += DEFAULT_BUDGETS.milliseconds) }],
    ] as const) {
      expect(module.evaluate(entrypoint, { n: 1e9 }, options)).toMatchObject({ kind: "error", code: "eval_limit_error" });
    }
  });

  test("prints and traces, and takes time and randomness, by its host", () => {
    const text =
      'package p\n\nx := [time.now_ns(), rand.intn("a", 1000), uuid.rfc4122("b")] if {\n\tprint("seen", input.n)\n\ttrace("here")\n}\n';
    const heard = (ask: LoadedPolicy | ReturnType<typeof compile>): unknown => {
      const lines: string[] = [];
      const answer = ask.evaluate(
        "data.p.x",
        { n: 1 },
        {
          now: 5,
          seed: "s",
          print: (line) => void lines.push(line),
          trace: (line) => void lines.push(line),
        },
      );
      return { answer, lines };
    };
    const told = heard(ahead([source(text)], ["data.p.x"]));
    expect(told).toEqual(heard(compile([source(text)])));
    expect(told).toMatchObject({ answer: { kind: "defined" }, lines: ["seen 1", "here"] });
  });

  test("answers for its entrypoints alone: another name is an error, never undefined", () => {
    const module = ahead([AUTHZ], ["data.authz.allow"]);
    for (const name of ["data.authz.reasons", "data.authz", "data", "allow", "__proto__", "data.authz.allow "]) {
      expect(module.evaluate(name, {})).toEqual({
        kind: "error",
        code: "eval_internal_error",
        message: `${name} is no entrypoint of this module: data.authz.allow`,
      });
    }
  });

  test.each([
    [["data.authz.nothing"], "data.authz.nothing names no rule and no package"],
    [["data.roles.ada"], "data.roles.ada names no rule and no package"],
    [["authz.allow"], "authz.allow is not a path below data"],
    [["input.user"], "input.user is not a path below data"],
    [["data.authz[x]"], "data.authz[x] is not a path below data"],
    [["data.authz.f"], "data.authz.f is a function"],
    [[5], "5 is not a path below data"],
    [[], "there is no entrypoint"],
  ])("is not made for %j", (entrypoints, message) => {
    const sources = [AUTHZ, source("package authz\n\nf(x) := x\n", "f.rego")];
    const refused = () => compileToJavaScript(sources, { entrypoints: entrypoints as string[] });
    expect(refused).toThrow(new LoadError("module_entrypoints", message));
  });

  test("is not made of what does not compile, nor of names that are misspelt", () => {
    const entrypoints = ["data.p.x"];
    expect(() => compileToJavaScript([source("package p\n\nx := y\n")], { entrypoints })).toThrow(RegoCompileError);
    expect(() => compileToJavaScript([source("package p\n\nx := 1\n")], { entrypoints, tests: true } as never)).toThrow(
      "options.tests: no such option",
    );
  });

  test("holds an entrypoint inside of what a rule makes, below a name that is no identifier, and all of data", () => {
    const text = 'package a["b c"]\n\nx := {"in": {"side": input.n}}\n\ny[k] := 1 if k := input.n\n';
    const names = ['data.a["b c"].x.in.side', 'data.a["b c"].y.k', "data.a", "data"];
    const module = ahead([source(text)], names);
    expect(module.manifest.entrypoints).toEqual(names);
    const policy = compile([source(text)]);
    for (const name of names)
      expect(module.evaluate(name, { n: "k" }, { data: { z: 1 } })).toEqual(
        policy.evaluate(name, { n: "k" }, { data: { z: 1 } }),
      );
  });
});

describe("the text of a module", () => {
  test("is the same for the same sources, and says what it is made of", async () => {
    const options = { entrypoints: ["data.authz.allow"], bundles: [{ revision: "r7", roots: ["authz"] }] };
    const text = compileToJavaScript([AUTHZ], options);
    expect(compileToJavaScript([{ ...AUTHZ }], { ...options })).toBe(text);
    const { manifest, load } = await imported(text);
    expect(manifest).toMatchObject({
      engine: VERSION,
      entrypoints: ["data.authz.allow"],
      builtins: [],
      bundles: [{ revision: "r7", roots: ["authz"] }],
      sources: [{ name: "p.rego", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    });
    expect(load().manifest).toEqual(manifest);
    const other = compileToJavaScript([{ ...AUTHZ, source: `${AUTHZ.source}\n# more\n` }], options);
    expect(other).not.toBe(text);
  });

  test("keeps every text, number and set as it is, whatever ends a script or a literal", async () => {
    const odd = ["</script><!--", "'\"`\\\n\r\t\0", "\u2028\u2029${x}", "__proto__", "\\u0000", "é😀"];
    const text = `package p

texts := ${JSON.stringify(odd)}

numbers := [9007199254740993, 3.3000000000000000002, 1e400, -0.1, 0]

sets := {1: {"a", {2}}, "__proto__": {[]: null}}

named := {"__proto__": {"constructor": 1}}
`;
    const sources = [source(text, "it's <a> \\ file.rego")];
    const policy = compile(sources);
    const written = compileToJavaScript(sources, { entrypoints: ["data.p"], data: { __proto__: 1, odd, big: 2n ** 70n } });
    expect(written).not.toMatch(/<\/script|<!--|[\u2028\u2029]/);
    const module = (await imported(written)).load();
    const given = { exact: true, budgets: { outputNodes: 1_000 } };
    expect(module.evaluate("data.p", undefined, given)).toEqual(policy.evaluate("data.p", undefined, given));
  });

  test("carries base documents, and takes others in their place", async () => {
    const data = { ...DATA, big: 2n ** 64n };
    const text = compileToJavaScript([AUTHZ, source("package held\n\nx := data.big\n", "held.rego")], {
      entrypoints: ["data.authz.allow", "data.held.x"],
      data,
    });
    const module = (await imported(text)).load();
    expect(module.evaluate("data.authz.allow", { user: "ada", path: "/public/x" })).toEqual({ kind: "defined", value: true });
    expect(module.evaluate("data.authz.allow", { user: "eve", path: "/public/x" })).toEqual({ kind: "defined", value: false });
    expect(module.evaluate("data.held.x", undefined, { exact: true })).toEqual({ kind: "defined", value: 2n ** 64n });
    expect(module.evaluate("data.held.x", undefined, { data: {} })).toEqual({ kind: "undefined" });
  });
});

describe("builtins of one's own", () => {
  const half = define("acme.half", "number -> number", ([x]) => {
    if ((x as number) % 2 !== 0) throw new BuiltinError("odd");
    return (x as number) / 2;
  });
  const sources = [source("package p\n\nx := acme.half(input.n)\n\ny := 1\n")];
  const text = compileToJavaScript(sources, { entrypoints: ["data.p.x"], builtins: [half] });

  test("are given when the module is loaded, and judged as they are in a policy", async () => {
    const { load, manifest } = await imported(text);
    expect(manifest.builtins).toEqual(["acme.half"]);
    const policy = compile(sources, { builtins: [half] });
    const module = load({ builtins: [half, define("acme.more", "-> null", () => null)] });
    for (const n of [4, 3, "a"]) {
      for (const strict of [true, false])
        expect(module.evaluate("data.p.x", { n }, { strict })).toEqual(policy.evaluate("data.p.x", { n }, { strict }));
    }
    const liar = load({ builtins: [define("acme.half", "number -> number", () => "no number")] });
    expect(liar.evaluate("data.p.x", { n: 4 })).toMatchObject({ kind: "error", code: "eval_builtin_error" });
  });

  test("that are missing, given twice or of other types are refused by name", async () => {
    const { load } = await imported(text);
    const refusal = (builtins?: readonly unknown[]): unknown => {
      try {
        return load(builtins === undefined ? undefined : { builtins });
      } catch (error) {
        return error;
      }
    };
    const other = define("acme.half", "number -> any", () => 1);
    for (const [builtins, message] of [
      [undefined, "acme.half: the policy calls this builtin, which is not given"],
      [[], "acme.half: the policy calls this builtin, which is not given"],
      [[half, half], "acme.half: is given twice"],
      [[other], "acme.half: has other types than those that the policy was compiled against"],
    ] as const) {
      expect(refusal(builtins)).toEqual(new LoadError("module_builtins", message));
    }
    // Not called below this entrypoint.
    expect(
      (await imported(compileToJavaScript(sources, { entrypoints: ["data.p.y"], builtins: [half] }))).load().manifest.builtins,
    ).toEqual([]);
  });
});

describe("the runtime", () => {
  let allow: ReturnType<typeof bundled>;
  let whole: ReturnType<typeof bundled>;
  beforeAll(async () => {
    allow = bundled(compileToJavaScript([AUTHZ], { entrypoints: ["data.authz.allow"] }));
    whole = bundled(compileToJavaScript([AUTHZ], { entrypoints: ["data.authz"], data: DATA }));
    await Promise.all([allow, whole]);
  }, 300_000);

  test("of another version refuses a module by the names of both", async () => {
    const text = compileToJavaScript([AUTHZ], { entrypoints: ["data.authz.allow"] });
    const { load } = await imported(text.replace(`"engine": "${VERSION}"`, '"engine": "0.0.0-other"'));
    expect(() => load()).toThrow(
      new LoadError("module_version", `compiled by @seneschal/rego 0.0.0-other, and this is ${VERSION}: compile it again`),
    );
  });

  test("says the version of the package", () => {
    expect(VERSION).toBe(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version);
  });

  test("evaluates where code cannot be made of text", async () => {
    const { code } = await whole;
    expect(code.match(/new Function/g)).toBeNull();
    const program = `${code.replace(/export\s*\{([^}]*)\}/, (_, names: string) => `const exported = {${names.replace(/(\w+) as (\w+)/g, "$2: $1")}}`)}
      let refused = false;
      try { new Function("return 1")(); } catch { refused = true; }
      const answer = exported.load().evaluate("data.authz", { user: "ada", path: "/public/x" });
      process.stdout.write(JSON.stringify({ refused, answer }));`;
    const run = spawnSync(process.execPath, ["--disallow-code-generation-from-strings", "--input-type=module", "-"], {
      input: program,
      encoding: "utf8",
    });
    expect(run.stderr).toBe("");
    expect(JSON.parse(run.stdout)).toEqual({
      refused: true,
      answer: { kind: "defined", value: { allow: true, reasons: [], unread: false } },
    });
  });

  test("has no parser, checker or compiler of Rego, and only the libraries of the builtins that are called", async () => {
    const plain = await allow;
    const has = (files: readonly string[], part: RegExp) => files.filter((name) => part.test(name));
    expect(
      has(
        plain.files,
        /\/syntax\/|lower\.ts|order\.ts|arrange\.ts|types\.ts|symbols\.ts|recursion\.ts|annotations\.ts|engine\/(compile|policy|path)/,
      ),
    ).toEqual([]);
    expect(has(plain.files, /node_modules\/(?!@noble\/hashes\/)/)).toEqual([]);
    expect(plain.files.map((name) => dirname(name)).some((name) => name.endsWith("src/plan"))).toBe(true);
    const withRegex = await whole;
    expect(has(withRegex.files, /node_modules\/re2js\//)).not.toEqual([]);
    expect(has(withRegex.files, /node_modules\/(graphql|yaml|@noble\/curves)\//)).toEqual([]);
  });

  test("is small: a policy of plain builtins and all it runs on are less than 32 kB compressed", async () => {
    const { code } = await allow;
    expect(brotliCompressSync(code).length).toBeLessThan(32_000);
  });
});
