import type { Builtin, BuiltinTable } from "../builtins/builtin.ts";
import { builtinTable, withDeprecated } from "../builtins/table.ts";
import { annotate } from "../compile/annotations.ts";
import { arranging } from "../compile/arrange.ts";
import type { Callee, LoweredRule, Statement } from "../compile/ir.ts";
import { Lowerer } from "../compile/lower.ts";
import { checkRecursion } from "../compile/recursion.ts";
import { emitRules, type RuleProbe } from "../compile/rules.ts";
import { buildTree, type RuleNode, type RuleSet, reporter } from "../compile/tree.ts";
import { TypeChecker } from "../compile/types.ts";
import { boundedProblems, MAX_PROBLEMS, type Problem } from "../errors.ts";
import type { Document, Program } from "../eval/documents.ts";
import type { Module, Source } from "../syntax/ast.ts";
import { parseModule } from "../syntax/parse-module.ts";
import { type Capabilities, refuseMetadata } from "./capabilities.ts";
import { separateTests } from "./tests.ts";

export interface CompileOptions {
  /** Names of builtins that are off by default and shall be callable: `io.jwt.encode_sign`, for example. */
  readonly allow?: readonly string[];
  /** Names of builtins that shall not be callable. */
  readonly deny?: readonly string[];
  /**
   * What may be used, and nothing else: of the builtins those that it names, also where they are off by default. `allow`, `deny` and
   * `builtins` hold besides.
   */
  readonly capabilities?: Capabilities;
  /** Own builtins, made with `define`. */
  readonly builtins?: readonly Builtin[];
  /** Each clause of a test is a rule of its own: `test_a`, `test_a#01`. */
  readonly tests?: boolean;
  /**
   * Refuses imports, assigned variables and arguments that nothing uses, and of v0 what v1 refuses: deprecated builtins, imports of one name;
   * the strict mode of OPA's compiler.
   */
  readonly strict?: boolean;
}

/** Of which kinds the options are, for who calls without types. */
export const OPTION_KINDS = {
  allow: "array?",
  deny: "array?",
  capabilities: "object?",
  builtins: "array?",
  tests: "boolean?",
  strict: "boolean?",
} as const;

/** Everything a policy needs after compilation; shared by all its evaluations. */
export interface Compiled {
  readonly modules: readonly Module[];
  readonly root: RuleNode;
  readonly sets: readonly RuleSet[];
  readonly builtins: BuiltinTable;
  readonly program: Program;
  readonly types: TypeChecker;
}

export function arityOf(builtins: BuiltinTable): (callee: Callee) => number {
  return (callee) => (callee.kind === "rules" ? callee.set.arity : (builtins.get(callee.name)?.args.length ?? -1));
}

/** The rules of one path, lowered. */
interface LoweredSet {
  readonly set: RuleSet;
  readonly rules: readonly LoweredRule[];
  readonly fallback: LoweredRule | undefined;
}

/** What closures are made of: enough to make them again without the sources. */
export interface Intermediate {
  /** By the id of the set. */
  readonly lowered: readonly LoweredSet[];
  /** The nodes of the rule tree that each set reads. */
  readonly reads: ReadonlyMap<RuleSet, ReadonlySet<RuleNode>>;
  /** The order of evaluation of each body that is evaluated. */
  readonly ordered: ReadonlyMap<readonly Statement[], readonly Statement[]>;
}

type Outcome =
  | { readonly compiled: Compiled; readonly intermediate: Intermediate; readonly problems: readonly Problem[] }
  | { readonly compiled: undefined; readonly problems: readonly Problem[] };

/** Compiles modules; problems are listed, {@link MAX_PROBLEMS} of them at most, and `compiled` is undefined if there is any. */
export function compileModules(sources: readonly Source[], options: CompileOptions = {}, probe?: RuleProbe): Outcome {
  const outcome = compileAll(sources, options, probe);
  return { ...outcome, problems: boundedProblems(outcome.problems) };
}

function compileAll(sources: readonly Source[], options: CompileOptions, probe: RuleProbe | undefined): Outcome {
  const { report, problems } = reporter();
  const written: Module[] = [];
  for (const source of sources) {
    const parsed = parseModule(source, options.capabilities);
    if (parsed.module !== undefined) written.push(parsed.module);
    problems.push(...parsed.problems);
  }
  const modules = options.tests === true ? separateTests(written) : written;
  if (problems.length > 0) return { compiled: undefined, problems };
  try {
    const current = builtinTable(options);
    const strict = options.strict === true;
    const builtins = !strict && modules.some(({ version }) => version === "v0") ? withDeprecated(current, options) : current;
    const { root, sets } = buildTree(modules, report);
    if (options.capabilities !== undefined) refuseMetadata(modules, options.capabilities, report);
    if (problems.length > 0) return { compiled: undefined, problems };
    const metadata = annotate(modules, report);
    const documents: Document[] = [];
    const program: Program = { root, documents };
    const lowerers = new Map<Module, Lowerer>();
    for (const module of modules) {
      const callable = module.version === "v0" ? builtins : current;
      lowerers.set(module, new Lowerer(module, root, callable, report, metadata, strict));
    }
    const reads = new Map<RuleSet, Set<RuleNode>>();
    const failed = new Set<RuleSet>();
    const lowered = sets.map((set): LoweredSet => {
      const before = problems.length;
      const read = new Set<RuleNode>();
      reads.set(set, read);
      const lower = (placed: RuleSet["rules"][number]): LoweredRule => {
        const lowerer = lowerers.get(placed.module) as Lowerer;
        const out = lowerer.lowerRule(placed.rule);
        for (const node of lowerer.dependencies) read.add(node);
        return out;
      };
      const rules = set.rules.map(lower);
      const fallback = set.fallback === undefined ? undefined : lower(set.fallback);
      if (problems.length > before) failed.add(set);
      return { set, rules, fallback };
    });
    if (strict) for (const lowerer of lowerers.values()) lowerer.reportUnusedImports();
    if (problems.length > MAX_PROBLEMS) return { compiled: undefined, problems: inPlace(problems) };
    const beforeRecursion = problems.length;
    const sorted = checkRecursion(sets, reads, report);
    if (problems.length > beforeRecursion) return { compiled: undefined, problems: inPlace(problems) };
    const types = new TypeChecker(root, builtins, report);
    const ordered = new Map<readonly Statement[], readonly Statement[]>();
    const arrange = arranging(arityOf(builtins), report, (file, body) => types.body(file, body));
    for (const set of sorted) {
      // what could not be resolved has been reported; its other problems would only follow from that
      if (failed.has(set)) continue;
      const { rules, fallback } = lowered[set.id] as (typeof lowered)[number];
      documents[set.id] = emitRules(set, rules, fallback, {
        program,
        builtins,
        report,
        probe,
        arrange: (statements, file, checked) => {
          const arranged = arrange(statements, file, checked);
          if (arranged !== undefined) ordered.set(statements, arranged);
          return arranged;
        },
      });
      types.finish(set, rules, fallback);
    }
    if (problems.length > 0) return { compiled: undefined, problems: inPlace(problems) };
    return { compiled: { modules, root, sets, builtins, program, types }, intermediate: { lowered, reads, ordered }, problems };
  } catch (error) {
    if (error instanceof RangeError || isLimit(error)) {
      const file = sources[0]?.name ?? "";
      problems.push({ code: "rego_limit_error", message: "policy exceeds the compiler's limits", file, row: 1, col: 1 });
      return { compiled: undefined, problems };
    }
    throw error;
  }
}

function isLimit(error: unknown): boolean {
  return error instanceof Error && error.name === "EvaluationError";
}

function inPlace(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((a, b) => (a.file === b.file ? a.row - b.row || a.col - b.col : a.file < b.file ? -1 : 1));
}
