import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import {
  check,
  compare,
  compile,
  compileToJavaScript,
  define,
  equal,
  type Policy,
  type Problem,
  RegoCompileError,
  type Result,
  readJson,
  type Solutions,
  toJson,
  type Value,
} from "@seneschal/rego";
import type { LoadedPolicy, LoadOptions } from "@seneschal/rego/runtime";
import { importModule } from "../../tools/import-module.ts";
import { casesIn, hasRows } from "../cases-in.ts";
import type { ConformanceSuite, SuiteResult } from "../suite.ts";

/** One case as described by the data's README; the same form serves OPA's suite, the oracle and rego-cpp's cases. */
interface Case {
  readonly id?: string;
  readonly note: string;
  readonly query: string;
  readonly modules?: readonly string[];
  readonly module_refs?: readonly string[];
  readonly input?: Value;
  readonly input_term?: string;
  readonly data?: Value;
  readonly want_result?: readonly Record<string, Value>[];
  readonly want_error_code?: string;
  readonly want_error?: string;
  readonly strict_error?: boolean;
  readonly sort_bindings?: boolean;
  readonly approx?: boolean;
}

/** The categories of each group of the suite; `core-language` is what no other group names. */
const GROUPS: Readonly<Record<string, RegExp>> = {
  numbers: /^(aggregates|arithmetic|bits.*|casts|numbersrange|numbersrangestep|rand|units)$/,
  strings: /^(replacen|sprintf|strings|trim.*)$/,
  "render-template": /^rendertemplate$/,
  collections: /^(array|intersection|object.*|reachable|sets|subset|union|walkbuiltin)$/,
  types: /^(typebuiltin|typenamebuiltin)$/,
  "json-encoding": /^(base64.*|hexbuiltins|json(?!schema).*|urlbuiltins)$/,
  "regex-glob": /^(glob.*|regex.*)$/,
  "time-semver-uuid": /^(semver.*|time|uuid)$/,
  "net-cidr": /^netcidr.*$/,
  "hash-hmac": /^(cryptohmac.*|cryptomd5|cryptosha.*)$/,
  jwt: /^jwt.*$/,
  "x509-keys": /^(cryptox509.*|cryptoparsersaprivatekeys)$/,
  "json-schema": /^jsonschema$/,
  aws: /^providers-aws$/,
  graphql: /^graphql$/,
  metadata: /^(regometadata.*|regoparsemodule)$/,
  dns: /^netlookupipaddr$/,
};

/** Off by default in the engine, switched on for the cases that test them. */
const ALLOW = [
  "http.send",
  "io.jwt.encode_sign",
  "io.jwt.encode_sign_raw",
  "crypto.parse_private_keys",
  "crypto.x509.parse_rsa_private_key",
  "crypto.x509.parse_keypair",
  "opa.runtime",
];

const options = { allow: ALLOW, builtins: [define("test.sleep", "string -> null", () => null)] };

/** Files by folder and shape, read without losing digits. */
function filesOf<T>(data: string, folder: string, shape: (content: unknown) => boolean): readonly T[] {
  return casesIn<T>(data, folder, shape, readJson).map(({ content }) => content);
}

const isHostile = (content: unknown): boolean => hasRows(content, "cases", "query", "expect");

function readCases(file: string): readonly Case[] {
  return (readJson(readFileSync(file, "utf8")) as unknown as { cases: readonly Case[] }).cases;
}

/** Tells why a case fails; undefined if it passes. */
function judge(test: Case, modules: readonly string[]): string | undefined {
  let policy: Policy;
  let input = test.input;
  let solutions: Solutions;
  const sources = modules.map((source, i) => ({ name: `test-${i}.rego`, source }));
  try {
    policy = compile(sources, options);
    if (test.input_term !== undefined) input = termValue(test.input_term);
    solutions = policy.query(test.query, input, {
      ...(test.data === undefined ? {} : { data: test.data }),
      strict: test.strict_error === true,
      exact: true,
      now: Date.UTC(2026, 0, 1),
      seed: "conformance",
    });
  } catch (error) {
    if (error instanceof RegoCompileError) return `does not compile: ${error.message}`;
    return `threw ${String(error)}`;
  }
  if (test.want_error !== undefined || test.want_error_code !== undefined) {
    if (solutions.kind !== "error") return `no error, but ${show(solutions.bindings)}`;
    if (test.want_error_code !== undefined && solutions.code !== test.want_error_code) {
      return `error ${solutions.code}: ${solutions.message}`;
    }
    const text = test.want_error;
    return text === undefined || solutions.message.includes(text) ? undefined : `error text ${JSON.stringify(solutions.message)}`;
  }
  if (solutions.kind === "error") return `${solutions.code}: ${solutions.message}`;
  if (test.want_result === undefined) return undefined;
  const got = distinct(
    solutions.bindings.map((binding) => {
      const entries = Object.entries(binding).filter(([name]) => !name.startsWith("__local") && name !== "_");
      return Object.fromEntries(
        entries.map(([name, value]) => [name, test.sort_bindings ? sorted(value as Value) : value]),
      ) as Value;
    }),
  );
  const want = distinct(test.want_result as readonly Value[]);
  const same = got.length === want.length && want.every((w) => got.some((g) => (test.approx ? near(g, w) : equal(g, w))));
  return same ? undefined : `got ${show(got)}, want ${show(want)}`;
}

function distinct(values: readonly Value[]): readonly Value[] {
  return values.filter((value, i) => values.findIndex((other) => equal(other, value)) === i);
}

function sorted(value: Value): Value {
  return Array.isArray(value) ? [...(value as readonly Value[])].sort(compare) : value;
}

function near(a: Value, b: Value): boolean {
  const [x] = Object.values(toJson(a) as Record<string, unknown>);
  const [y] = Object.values(toJson(b) as Record<string, unknown>);
  return typeof x === "number" && typeof y === "number" && Math.abs(x - y) <= 1e-15 * Math.abs(y);
}

/** The value of a term's text, which may hold sets. */
function termValue(term: string): Value {
  const result = compile([{ name: "input.rego", source: `package input_term\n\nvalue := ${term}\n` }]).evaluateValue(
    "data.input_term.value",
  );
  if (result === undefined) throw new Error(`no value: ${term}`);
  return result;
}

function show(value: unknown): string {
  return JSON.stringify(toJson(value as Value))?.slice(0, 300) ?? "nothing";
}

function verdict(cases: readonly (readonly [string, () => string | undefined])[], figures?: Record<string, number>): SuiteResult {
  let passed = 0;
  const failures: string[] = [];
  for (const [name, run] of cases) {
    const problem = run();
    if (problem === undefined) passed++;
    else failures.push(`${name}: ${problem}`);
  }
  return {
    passed,
    failed: failures.length,
    skipped: 0,
    failures: failures.slice(0, 200),
    ...(figures === undefined ? {} : { figures }),
  };
}

const EMPTY: SuiteResult = { passed: 0, failed: 0, skipped: 0, failures: [] };

function groupOf(category: string): string {
  return Object.entries(GROUPS).find(([, pattern]) => pattern.test(category))?.[0] ?? "core-language";
}

function group(name: string, floor: number): ConformanceSuite {
  return {
    name: `rego/${name}`,
    floor,
    run: async (data) => {
      const dir = join(data, "rego/conformance");
      if (!existsSync(dir)) return EMPTY;
      const files = readdirSync(dir)
        .filter((file) => file.endsWith(".json") && groupOf(file.slice(0, -5)) === name)
        .sort();
      const cases = files.flatMap((file) => readCases(join(dir, file)));
      return verdict(cases.map((test) => [`${test.id ?? ""} ${test.note}`, () => judge(test, test.modules ?? [])] as const));
    },
  };
}

const oracleExpressions: ConformanceSuite = {
  name: "rego/oracle-exprs",
  floor: 0.99,
  run: async (data) => {
    const cases = filesOf<{ cases: readonly Case[] }>(data, "rego", (x) => hasRows(x, "cases", "query") && !isHostile(x)).flatMap(
      (file) => file.cases,
    );
    return verdict(cases.map((test) => [test.note, () => judge(test, test.modules ?? [])] as const));
  },
};

interface OraclePolicy {
  readonly name: string;
  readonly rego: string;
  readonly data: Value;
  readonly outputs: readonly string[];
  readonly cases: readonly { readonly input: Value; readonly want: Readonly<Record<string, Value>> }[];
}

const oraclePolicies: ConformanceSuite = {
  name: "rego/oracle-policies",
  floor: 1,
  run: async (data) => {
    const policies = filesOf<{ policies: readonly OraclePolicy[] }>(data, "rego", (x) =>
      hasRows(x, "policies", "name", "rego", "outputs", "cases"),
    ).flatMap((file) => file.policies);
    return verdict(
      policies.flatMap((entry) => {
        const policy = compile([{ name: `${entry.name}.rego`, source: entry.rego }]);
        return entry.cases.map(({ input, want }, i) => {
          const run = (): string | undefined => {
            for (const output of entry.outputs) {
              const result = policy.evaluate(["test", output], input, { data: entry.data, exact: true });
              if (result.kind === "error") return `${output}: ${result.code}: ${result.message}`;
              const expected = Object.hasOwn(want, output) ? want[output] : undefined;
              const got = result.kind === "defined" ? (result.value as Value) : undefined;
              const same = got === undefined || expected === undefined ? got === expected : equal(got, expected);
              if (!same) return `${output}: got ${show(got ?? null)}, want ${show(expected ?? null)}`;
            }
            return undefined;
          };
          return [`${entry.name} ${i}`, run] as const;
        });
      }),
    );
  },
};

interface NegativeCase {
  readonly note: string;
  readonly module: string;
  readonly valid: boolean;
  readonly code?: string;
}

const negative: ConformanceSuite = {
  name: "rego/negative",
  floor: 1,
  run: async (data) => {
    const cases = filesOf<{ cases: readonly NegativeCase[] }>(data, "rego", (x) =>
      hasRows(x, "cases", "module", "valid"),
    ).flatMap((file) => file.cases);
    const problems = new Map<NegativeCase, readonly Problem[]>();
    for (const test of cases) problems.set(test, check([{ name: "test.rego", source: test.module }]));
    const coded = cases.filter((test) => !test.valid && test.code !== undefined);
    const sameClass = coded.filter((test) => problems.get(test)?.some(({ code }) => code === test.code)).length;
    return verdict(
      cases.map((test) => {
        const found = problems.get(test) ?? [];
        return [
          test.note,
          () =>
            test.valid === (found.length === 0) ? undefined : test.valid ? found.map((p) => p.message).join("; ") : "accepted",
        ] as const;
      }),
      { "error class equal": coded.length === 0 ? 1 : sameClass / coded.length },
    );
  },
};

interface HostileCase {
  readonly note: string;
  readonly expect: string;
  readonly query: string;
  readonly module?: string;
  readonly module_parts?: readonly (string | readonly [string, number])[];
  readonly module_gen?: string;
  readonly input?: unknown;
}

function hostileSource(test: HostileCase): string {
  if (test.module !== undefined) return test.module;
  if (test.module_parts !== undefined) {
    return test.module_parts.map((part) => (typeof part === "string" ? part : part[0].repeat(part[1]))).join("");
  }
  const words = test.module_gen ?? "";
  const chained = /r0 := 1, then r<i> := r<i-1> \+ 1 for i in 1\.\.(\d+)/.exec(words);
  if (chained !== null) {
    const last = Number(chained[1]);
    const rules = Array.from({ length: last }, (_, i) => `r${i + 1} := r${i} + 1`);
    return `package t\n\nr0 := 1\n${rules.join("\n")}\np := r${last}\n`;
  }
  const many = /(\d+) lines q<i> := <i>/.exec(words);
  if (many !== null)
    return `package t\n\n${Array.from({ length: Number(many[1]) }, (_, i) => `q${i} := ${i}`).join("\n")}\np := 1\n`;
  throw new Error(`no way to make the module of ${test.note}`);
}

/** Outcome of one hostile case: a worker of 256 MB, killed after 2 s. */
export function runHostile(source: string, query: string, inputJson: string | undefined): Promise<string> {
  return new Promise((done) => {
    const worker = new Worker(new URL("../workers/rego-hostile.mjs", import.meta.url), {
      workerData: { source, query, inputJson },
      resourceLimits: { maxOldGenerationSizeMb: 224, maxYoungGenerationSizeMb: 32 },
      execArgv: ["--conditions=@seneschal/source"],
    });
    let outcome = "died";
    let timer: NodeJS.Timeout | undefined;
    worker.on("message", (message: string) => {
      if (message === "ready") {
        timer = setTimeout(() => {
          outcome = "killed";
          void worker.terminate();
        }, 2_000);
        worker.postMessage("go");
        return;
      }
      outcome = message;
      void worker.terminate();
    });
    worker.on("error", (error) => {
      outcome = `died: ${error.message}`;
    });
    worker.on("exit", () => {
      clearTimeout(timer);
      done(outcome);
    });
  });
}

function expected(expect: string, outcome: string): boolean {
  if (expect.startsWith("result:")) return outcome === `result:${expect.slice(7)}`;
  return expect.split("-or-").some((one) => {
    if (one === "result") return outcome.startsWith("result:");
    if (one === "empty") return outcome === "result:{}";
    return outcome === one;
  });
}

const hostile: ConformanceSuite = {
  name: "rego/hostile",
  floor: 1,
  run: async (data) => {
    // the inputs hold keys such as __proto__, which JSON.parse keeps as own keys
    const cases = casesIn<{ cases: readonly HostileCase[] }>(data, "rego", isHostile).flatMap(({ content }) => content.cases);
    const outcomes = new Map<HostileCase, string>();
    for (const test of cases) {
      const input = test.input === undefined ? undefined : JSON.stringify(test.input);
      outcomes.set(test, await runHostile(hostileSource(test), test.query, input));
    }
    return verdict(
      cases.map((test) => {
        const outcome = outcomes.get(test) ?? "";
        return [
          test.note,
          () => (expected(test.expect, outcome) ? undefined : `${outcome.slice(0, 200)}, want ${test.expect}`),
        ] as const;
      }),
    );
  },
};

/** rego-cpp's cases: error codes count, error texts do not; `units d, w, y` of durations are its own extension. */
function extra(name: string, shared: boolean, floor: number): ConformanceSuite {
  return {
    name: `rego/${name}`,
    floor,
    run: async (data) => {
      const cases: (readonly [string, () => string | undefined])[] = [];
      for (const content of filesOf<{
        cases: readonly Case[];
        modules?: readonly string[] | Readonly<Record<string, string>>;
      }>(data, "rego/extra", (x) => hasRows(x, "cases", "note", "query"))) {
        if ((content.modules !== undefined) !== shared) continue;
        for (const test of content.cases) {
          if (/parse-duration-ns-(.*-)?(d|w|y|day|week|year|mixed)/.test(test.note)) continue;
          const written = content.modules ?? [];
          const modules = [
            ...(test.modules ?? []),
            ...(test.module_refs ?? []).map((ref) => (written as Readonly<Record<string, string>>)[ref] ?? ""),
          ];
          const { want_error, ...rest } = test;
          const relaxed = want_error !== undefined && test.want_error_code === undefined ? test : rest;
          const undefinedWanted =
            test.want_result === undefined && want_error === undefined && test.want_error_code === undefined;
          cases.push([test.note, () => judge(undefinedWanted ? { ...test, want_result: [] } : relaxed, modules)]);
        }
      }
      return verdict(cases);
    },
  };
}

/** Every policy of the data, with what its cases ask it with. */
function* asked(data: string) {
  const named = (modules: readonly string[]) => modules.map((source, i) => ({ name: `test-${i}.rego`, source }));
  const dir = join(data, "rego/conformance");
  const conformance = existsSync(dir) ? readdirSync(dir).filter((file) => file.endsWith(".json")) : [];
  for (const test of conformance.sort().flatMap((file) => readCases(join(dir, file)))) {
    const input = test.input_term === undefined ? test.input : termValue(test.input_term);
    yield { name: `${test.id ?? ""} ${test.note}`, sources: named(test.modules ?? []), asks: [{ input, data: test.data }] };
  }
  const shared = filesOf<{ cases: readonly Case[]; modules?: Readonly<Record<string, string>> }>(data, "rego/extra", (x) =>
    hasRows(x, "cases", "note", "query"),
  );
  for (const { cases, modules = {} } of shared) {
    for (const test of cases) {
      const sources = named([...(test.modules ?? []), ...(test.module_refs ?? []).map((ref) => modules[ref] ?? "")]);
      yield { name: test.note, sources, asks: [{ input: test.input, data: test.data }] };
    }
  }
  const policies = filesOf<{ policies: readonly OraclePolicy[] }>(data, "rego", (x) =>
    hasRows(x, "policies", "name", "rego", "outputs", "cases"),
  );
  for (const { name, rego, data: given, cases } of policies.flatMap((file) => file.policies))
    yield { name, sources: named([rego]), asks: cases.map(({ input }) => ({ input, data: given })) };
}

/** Policies compiled ahead: every document that their rules make is what it is without, values and errors. */
const ahead: ConformanceSuite = {
  name: "rego/ahead",
  floor: 1,
  run: async (data) => {
    const cases: (readonly [string, () => string | undefined])[] = [];
    for (const { name, sources, asks } of asked(data)) {
      if (check(sources, options).length > 0) continue;
      const policy = compile(sources, options);
      const paths = [[], ...policy.entrypoints].map((path) => `data${path.map((part) => `[${JSON.stringify(part)}]`).join("")}`);
      const text = compileToJavaScript(sources, { ...options, entrypoints: paths });
      const { load } = await importModule<{ load(how: LoadOptions): LoadedPolicy }>(text);
      const module = load({ builtins: options.builtins });
      const differs = asks.flatMap(({ input, data: documents }) =>
        module.manifest.entrypoints.flatMap((entrypoint) =>
          [false, true].map((strict) => {
            const given = { ...(documents === undefined ? {} : { data: documents }), strict, exact: true, seed: "conformance" };
            const [got, want] = [module.evaluate(entrypoint, input, given), policy.evaluate(entrypoint, input, given)];
            return sameResult(got, want) ? undefined : `${entrypoint}: ${show(got)}, and not ahead ${show(want)}`;
          }),
        ),
      );
      cases.push([name, () => differs.find((one) => one !== undefined)]);
    }
    return verdict(cases);
  },
};

function sameResult(a: Result, b: Result): boolean {
  if (a.kind === "defined") return b.kind === "defined" && equal(a.value as Value, b.value as Value);
  return JSON.stringify(a) === JSON.stringify(b);
}

export const suites: readonly ConformanceSuite[] = [
  group("core-language", 1),
  group("numbers", 1),
  group("strings", 0.99),
  group("render-template", 1),
  group("collections", 1),
  group("types", 1),
  group("json-encoding", 1),
  group("regex-glob", 1),
  group("time-semver-uuid", 1),
  group("net-cidr", 1),
  group("hash-hmac", 1),
  group("jwt", 1),
  group("x509-keys", 1),
  group("json-schema", 1),
  group("aws", 0.92),
  group("graphql", 1),
  group("metadata", 0.7),
  group("dns", 0),
  oracleExpressions,
  oraclePolicies,
  negative,
  hostile,
  extra("extra", false, 0.95),
  // cases that share their modules: one real policy of some 2,000 lines
  extra("aci", true, 1),
  ahead,
];
