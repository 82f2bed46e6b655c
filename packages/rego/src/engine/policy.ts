import { checkArgument, checkOptions } from "../argument.ts";
import { annotate } from "../compile/annotations.ts";
import { arranging } from "../compile/arrange.ts";
import { type Dependencies, dependenciesOf } from "../compile/dependencies.ts";
import { Emitter, fold } from "../compile/emit.ts";
import { Lowerer } from "../compile/lower.ts";
import type { RuleProbe } from "../compile/rules.ts";
import { type PlacedRule, reporter } from "../compile/tree.ts";
import { type EvaluationCode, type Problem, RegoCompileError } from "../errors.ts";
import type { Frame, Step } from "../eval/context.ts";
import { type Entry, type EvaluateOptions, entryAt, evaluateAt, guarded } from "../eval/evaluate.ts";
import type { Condition } from "../partial/condition.ts";
import { type PartialCode, PartialEvaluator, PartialRefusal } from "../partial/partial-evaluator.ts";
import type { Module, Source } from "../syntax/ast.ts";
import { parseModule, parseQuery } from "../syntax/parse-module.ts";
import { toJson } from "../value/json.ts";
import type { Value } from "../value/value.ts";
import { arityOf, type Compiled, type CompileOptions, compileModules, OPTION_KINDS } from "./compile-modules.ts";
import { parsePath } from "./path.ts";
import { type ProfiledRow, Profiler } from "./profiler.ts";
import { coverageOf, type FileCoverage, Recorder, type RuleTrace } from "./recorder.ts";
import type { Result } from "./result.ts";
import { judgeTest, type TestOutcome, type TestRule, testsOf } from "./tests.ts";

/** The solutions of a query: one object of bindings each. */
export type Solutions =
  | { readonly kind: "solutions"; readonly bindings: readonly Readonly<Record<string, unknown>>[] }
  | { readonly kind: "error"; readonly code: EvaluationCode; readonly message: string };

/** For which rows a query holds; `refused` where no condition says it, with the place in the policy. */
export type PartialResult =
  | { readonly kind: "condition"; readonly condition: Condition }
  | {
      readonly kind: "refused";
      readonly code: PartialCode;
      readonly message: string;
      readonly file: string;
      readonly row: number;
      readonly col: number;
    }
  | { readonly kind: "error"; readonly code: EvaluationCode; readonly message: string };

/** Where a query stands: it reads names as a module of that package with those imports does. */
export interface QueryPlace {
  /** Without `data`: `authz.roles`. */
  readonly package?: string;
  /** Such as `data.authz` or `data.authz as a`. */
  readonly imports?: readonly string[];
}

export interface QueryOptions extends EvaluateOptions, QueryPlace {}

export interface TestOptions extends EvaluateOptions {
  /** Tells the rows that the test reached and missed, which takes several times as long; without, the coverage is empty. */
  readonly coverage?: boolean;
}

export interface Explanation {
  readonly result: Result;
  /** The rules that ran, innermost first, with the literal that each failed at. */
  readonly rules: readonly RuleTrace[];
  /** Rows that the evaluation reached and missed. */
  readonly coverage: readonly FileCoverage[];
}

interface Query {
  readonly run: Step;
  readonly frame: { readonly size: number };
  readonly names: readonly (readonly [string, number])[];
}

const MAX_CACHED = 256;

/** Paths of rows below `input`. */
function rowsOf(unknowns: readonly string[]): readonly (readonly string[])[] {
  const paths = unknowns.map((text, i) => {
    checkArgument(`unknowns[${i}]`, text, "string");
    const path = parsePath(text, "input");
    if (path === undefined) throw new TypeError(`unknowns[${i}]: expected a path such as input.row`);
    return path;
  });
  for (const [i, path] of paths.entries())
    for (const other of paths.slice(0, i)) {
      const n = Math.min(path.length, other.length);
      if (path.slice(0, n).every((name, at) => name === other[at]))
        throw new TypeError(`unknowns[${i}]: holds another one, or lies within it`);
    }
  return paths;
}

/** A compiled, immutable policy: shareable, re-entrant. */
export class Policy {
  readonly #compiled: Compiled;
  readonly sources: readonly Source[];
  readonly options: CompileOptions;
  readonly #named = new Map<string, Entry>();
  readonly #listed = new WeakMap<readonly string[], Entry>();
  readonly #queries = new Map<string, Query | readonly Problem[]>();
  #profiled: { readonly policy: Policy; readonly profiler: Profiler } | undefined;
  #traced: { readonly policy: Policy; readonly recorder: Recorder } | undefined;

  constructor(compiled: Compiled, sources: readonly Source[], options: CompileOptions) {
    checkOptions("options", options, OPTION_KINDS);
    checkArgument("compiled", compiled, "object");
    checkArgument("sources", sources, "array");
    this.#compiled = compiled;
    this.sources = sources;
    this.options = options;
  }

  /** The package path of each module, without `data`. */
  get packages(): readonly (readonly string[])[] {
    return this.#compiled.modules.map((module) => module.packagePath);
  }

  /** The path, without `data`, of every document that rules define; functions have none. */
  get entrypoints(): readonly (readonly string[])[] {
    return this.#compiled.sets.filter((set) => set.kind !== "function").map((set) => set.node.path);
  }

  /** The path of every rule, `data.` included, in the order of definition. */
  get rules(): readonly string[] {
    return this.#compiled.sets.map((set) => set.name);
  }

  /** The tests of a policy compiled with `tests`, in the order of definition. */
  get tests(): readonly TestRule[] {
    return testsOf(this.#compiled.modules);
  }

  /**
   * Runs one of {@link tests}: it passes where it is true or, with one test a key, true at every key that it began.
   *
   * @example
   * ```ts
   * import { compile } from "@seneschal/rego";
   * const source = "package t\n\ntest_a if 1 == 2\n\ntest_a if 1 == 1\n";
   * const policy = compile([{ name: "t.rego", source }], { tests: true });
   * console.log(policy.tests.map((test) => policy.runTest(test).passed)); // [ false, true ]
   * ```
   */
  runTest(
    test: TestRule,
    input?: unknown,
    options: TestOptions = {},
  ): TestOutcome & { readonly coverage: readonly FileCoverage[] } {
    checkArgument("test", test, "object");
    const { coverage: covers = false, ...rest } = options;
    checkArgument("options.coverage", covers, "boolean");
    const noted: unknown[] = [];
    const given = { ...rest, testCase: (keys: unknown) => void noted.push(keys) };
    const { result, coverage } = covers
      ? this.explain(test.path, input, given)
      : { result: this.evaluate(test.path, input, given), coverage: [] };
    return { ...judgeTest(test, result, noted), coverage };
  }

  /**
   * The document at `entrypoint`, `data.a.b` or its path without `data`. Never throws: failures are `error` results,
   * which callers must take as deny.
   *
   * @param input undefined for no input
   */
  evaluate(entrypoint: string | readonly string[], input?: unknown, options: EvaluateOptions = {}): Result {
    return this.#document(entrypoint, input, options, (value) => toJson(value, options.exact));
  }

  /**
   * Evaluates and tells which rules held and which failed, where: for the reason of a denial. The answer is that of
   * {@link evaluate}, more slowly.
   *
   * @example
   * ```ts
   * import { compile } from "@seneschal/rego";
   * const policy = compile([{ name: "p.rego", source: "package p\n\nallow if {\n\tinput.role == \"admin\"\n}\n" }]);
   * const [rule] = policy.explain("data.p.allow", { role: "guest" }).rules;
   * console.log(rule?.failedAt, rule?.text); // 4 input.role == "admin"
   * ```
   */
  explain(entrypoint: string | readonly string[], input?: unknown, options: EvaluateOptions = {}): Explanation {
    this.#traced ??= this.#tracedTwin();
    const { policy, recorder } = this.#traced;
    recorder.restart();
    const result = policy.evaluate(entrypoint, input, options);
    return { result, rules: [...recorder.traces], coverage: coverageOf(policy.#compiled.modules, recorder) };
  }

  #tracedTwin() {
    const recorder = new Recorder(this.sources);
    return { policy: this.#probed(recorder), recorder };
  }

  /** The same policy compiled with a probe. */
  #probed(probe: RuleProbe): Policy {
    const { compiled, problems } = compileModules(this.sources, this.options, probe);
    if (compiled === undefined) throw new RegoCompileError(problems);
    return new Policy(compiled, this.sources, this.options);
  }

  /**
   * Evaluates and counts what each row of the policy does; with `options.clock` (milliseconds, fractions of them where it has any) also
   * how long. The answer is that of {@link evaluate}, more slowly.
   *
   * @example
   * ```ts
   * import { compile } from "@seneschal/rego";
   * const policy = compile([{ name: "p.rego", source: "package p\n\nhigh if {\n\tsome n in input.all\n\tn > 2\n}\n" }]);
   * const { rows } = policy.profile("data.p.high", { all: [1, 2, 3] });
   * console.log(rows.map(({ evaluations, redos }) => [evaluations, redos])); // [ [ 1, 3 ], [ 3, 1 ] ]
   * ```
   */
  profile(
    entrypoint: string | readonly string[],
    input?: unknown,
    options: EvaluateOptions = {},
  ): { readonly result: Result; readonly rows: readonly ProfiledRow[] } {
    if (this.#profiled === undefined) {
      const profiler = new Profiler();
      this.#profiled = { policy: this.#probed(profiler), profiler };
    }
    const { policy, profiler } = this.#profiled;
    profiler.restart(options.clock);
    const result = policy.evaluate(entrypoint, input, options);
    return { result, rows: profiler.finish(this.sources) };
  }

  #document<T>(
    entrypoint: string | readonly string[],
    input: unknown,
    options: EvaluateOptions,
    convert: (value: Value) => T,
  ): Result<T> {
    if (typeof entrypoint !== "string") checkArgument("entrypoint", entrypoint, "array");
    const entry = this.#entry(entrypoint);
    if (entry === undefined) {
      return { kind: "error", code: "eval_internal_error", message: `${String(entrypoint)} is not a path below data` };
    }
    return evaluateAt(this.#compiled.program, entry, input, options, convert);
  }

  /** {@link evaluate} with the engine's own value: sets stay sets. Undefined for what is undefined or fails. */
  evaluateValue(entrypoint: string | readonly string[], input?: unknown, options: EvaluateOptions = {}): Value | undefined {
    const result = this.#document(entrypoint, input, options, (value) => value);
    return result.kind === "defined" ? result.value : undefined;
  }

  /**
   * Every solution of a query such as `data.authz.allow; x := data.authz.roles[_]`. Throws {@link RegoCompileError} if
   * the query does not compile.
   */
  query(query: string, input?: unknown, options: QueryOptions = {}): Solutions {
    const { package: _, imports: __, ...rest } = options;
    const compiled = this.#compileQuery(query, headerOf(options));
    return guarded(input, rest, (c): Solutions => {
      const bindings: Record<string, unknown>[] = [];
      const f: Frame = new Array(compiled.frame.size);
      f[0] = (): void => {
        const solution: Record<string, unknown> = {};
        for (const [name, slot] of compiled.names) {
          const value = f[slot] as Value;
          solution[name] = toJson(value, options.exact);
        }
        bindings.push(solution);
      };
      compiled.run(c, f);
      return { kind: "solutions", bindings };
    });
  }

  /**
   * What a query may read: base documents (`input` and `data`) and the rules that it may ask, as `opa deps` tells. Refs end before
   * their first part that is not constant; what `with` replaces counts as read. Throws {@link RegoCompileError} if the query does
   * not compile.
   *
   * @example
   * ```ts
   * import { compile } from "@seneschal/rego";
   * const source = "package p\n\nallow if is_admin\n\nis_admin if \"admin\" in input.user.roles\n";
   * const { base, virtual } = compile([{ name: "p.rego", source }]).dependencies("data.p.allow");
   * console.log(base, virtual); // [ 'input.user.roles' ] [ 'data.p.allow', 'data.p.is_admin' ]
   * ```
   */
  dependencies(query: string, place: QueryPlace = {}): Dependencies {
    const header = headerOf(place);
    this.#compileQuery(query, header);
    const { root, builtins, modules } = this.#compiled;
    const { report } = reporter();
    const lowererOf = (module?: Module) => new Lowerer(module, root, builtins, report, () => ({ own: {}, chain: [] }));
    const lowerers = new Map(modules.map((module) => [module, lowererOf(module)]));
    const module = header === "" ? undefined : parseModule({ name: "query", source: header }).module;
    const { statements } = lowererOf(module).lowerQuery(parseQuery(query).body ?? []);
    return dependenciesOf(statements, root, ({ rules, fallback }) =>
      [...rules, ...(fallback === undefined ? [] : [fallback])].map(({ module, rule }) =>
        (lowerers.get(module) as Lowerer).lowerRule(rule),
      ),
    );
  }

  /**
   * For which rows a query holds, as a {@link Condition}: what `unknowns` name (`input.row`) are rows, objects whose members are columns of a
   * database, each with a value that is null, a boolean, a number or a text; everything else is known. A row meets the condition exactly
   * where the query holds with the row in its place. What no condition says is refused, by its place. Throws {@link RegoCompileError} if
   * the query does not compile, a TypeError for unknowns that are no paths below `input`.
   *
   * @example
   * ```ts
   * import { compile } from "@seneschal/rego";
   * const source = "package p\n\nallow if input.row.owner == input.user\n\nallow if input.row.team in data.teams[input.user]\n";
   * const policy = compile([{ name: "p.rego", source }]);
   * const told = policy.partial("data.p.allow", ["input.row"], { user: "ada" }, { data: { teams: { ada: ["x", "y"] } } });
   * if (told.kind === "condition") console.log(JSON.stringify(told.condition.operator)); // "or"
   * ```
   */
  partial(
    query: string,
    unknowns: readonly string[],
    input?: unknown,
    options: Omit<QueryOptions, "strict"> = {},
  ): PartialResult {
    checkArgument("query", query, "string");
    checkArgument("unknowns", unknowns, "array");
    const rows = rowsOf(unknowns);
    const { package: _, imports: __, ...rest } = options;
    const header = headerOf(options);
    this.#compileQuery(query, header);
    const { root, builtins, modules, program } = this.#compiled;
    const { report } = reporter();
    const metadata = annotate(modules, report);
    const lowerers = new Map(modules.map((module) => [module, new Lowerer(module, root, builtins, report, metadata)]));
    const lower = ({ module, rule }: PlacedRule) => ({
      lowered: (lowerers.get(module) as Lowerer).lowerRule(rule),
      file: module.name,
    });
    return guarded(input, { ...rest, strict: false }, (context): PartialResult => {
      const module = header === "" ? undefined : parseModule({ name: "query", source: header }).module;
      const lowerer = new Lowerer(module, root, builtins, report, metadata);
      const { statements, frame } = lowerer.lowerQuery(parseQuery(query).body ?? []);
      const evaluator = new PartialEvaluator({ program, builtins, lower, arity: arityOf(builtins), context, unknowns: rows });
      try {
        return { kind: "condition", condition: evaluator.query(statements, frame) };
      } catch (error) {
        if (!(error instanceof PartialRefusal)) throw error;
        const { code, message, file, loc } = error;
        return { kind: "refused", code, message, file, row: loc.row, col: loc.col };
      }
    });
  }

  /** What a name or path stands for, remembered by the string or by the array's identity. */
  #entry(entrypoint: string | readonly string[]): Entry | undefined {
    const known = typeof entrypoint === "string" ? this.#named.get(entrypoint) : this.#listed.get(entrypoint);
    if (known !== undefined) return known;
    const path = typeof entrypoint === "string" ? parsePath(entrypoint) : entrypoint;
    if (path === undefined) return undefined;
    const entry = entryAt(this.#compiled.root, path);
    if (typeof entrypoint !== "string") {
      if (Object.isFrozen(entrypoint)) this.#listed.set(entrypoint, entry);
    } else if (this.#named.size < MAX_CACHED) this.#named.set(entrypoint, entry);
    return entry;
  }

  #compileQuery(query: string, header = ""): Query {
    const key = `${header}\n${query}`;
    const known = this.#queries.get(key);
    if (known !== undefined && "run" in known) return known;
    if (known !== undefined) throw new RegoCompileError(known);
    const { body, problems: syntax } = parseQuery(query);
    if (body === undefined) throw new RegoCompileError(syntax);
    const { module, problems: place } = header === "" ? { problems: [] } : parseModule({ name: "query", source: header });
    if (place.length > 0) throw new RegoCompileError(place);
    const { report, problems } = reporter();
    const { root, builtins, program, types } = this.#compiled;
    const lowerer = new Lowerer(module, root, builtins, report, () => ({ own: {}, chain: [] }));
    const { statements, variables, frame } = lowerer.lowerQuery(body);
    const emitter = new Emitter({
      program,
      builtins,
      report,
      file: "query",
      frame,
      arrange: arranging(arityOf(builtins), report, (file, body) => types.body(file, body)),
      probe: undefined,
    });
    const run = fold(emitter.pieces(statements), (_c, f) => {
      (f[0] as () => void)();
      return false;
    });
    if (problems.length > 0) throw new RegoCompileError(problems);
    const compiled: Query = { run, frame, names: variables.map((v) => [v.name, v.slot] as const) };
    if (this.#queries.size < MAX_CACHED) this.#queries.set(key, compiled);
    return compiled;
  }
}

function headerOf({ package: name, imports = [] }: QueryPlace): string {
  return name === undefined ? "" : [`package ${name}`, ...imports.map((of) => `import ${of}`)].join("; ");
}
