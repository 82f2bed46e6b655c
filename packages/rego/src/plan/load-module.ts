import { checkArgument, checkOptions } from "../argument.ts";
import type { Builtin, BuiltinTable } from "../builtins/builtin.ts";
import { guarded } from "../builtins/own.ts";
import { pathText } from "../compile/tree.ts";
import type { Result } from "../engine/result.ts";
import type { Program } from "../eval/documents.ts";
import { type Entry, type EvaluateOptions, entryAt, evaluateAt } from "../eval/evaluate.ts";
import { LoadError } from "../load/load-error.ts";
import { readJson, toJson } from "../value/json.ts";
import { VERSION } from "../version.ts";
import type { Plan } from "./plan.ts";
import { readPlan } from "./read-plan.ts";
import { signatureOf } from "./signature.ts";

/** What a JavaScript module was compiled from. */
export interface ModuleManifest {
  /** The version of `@seneschal/rego` that compiled it, and that alone runs it. */
  readonly engine: string;
  readonly entrypoints: readonly string[];
  /** The names of its own builtins, which {@link LoadOptions.builtins} has to give. */
  readonly builtins: readonly string[];
  readonly bundles: readonly { readonly revision: string; readonly roots: readonly string[] }[];
  /** SHA-256 of each source's text, in hex. */
  readonly sources: readonly { readonly name: string; readonly sha256: string }[];
}

/** A module's content, as `compileToJavaScript` writes it. */
export interface ModuleContent {
  readonly manifest: ModuleManifest;
  /** JSON. */
  readonly plan: string;
  /** The base documents that it was compiled with, JSON. */
  readonly data?: string;
}

export interface LoadOptions {
  /** Builtins of one's own, made with `define`, of the types that the policy was compiled against. Those that it does not call are passed over. */
  readonly builtins?: readonly Builtin[];
}

/** A policy that was compiled ahead: it answers what `Policy` answers, for its entrypoints. Immutable, shareable, re-entrant. */
export class LoadedPolicy {
  readonly manifest: ModuleManifest;
  readonly #program: Program;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #data: unknown;

  /** Use a module's `load`. */
  constructor(manifest: ModuleManifest, program: Program, entries: ReadonlyMap<string, Entry>, data: unknown) {
    checkArgument("manifest", manifest, "object");
    checkArgument("program", program, "object");
    checkArgument("entries", entries, "object");
    this.manifest = manifest;
    this.#program = program;
    this.#entries = entries;
    this.#data = data;
  }

  /**
   * The document at one of the module's entrypoints. Never throws: failures are `error` results, which callers must take as deny, and so
   * is a name that is none of its entrypoints.
   *
   * @param input undefined for no input
   * @param options `data` takes the place of the documents that the module was compiled with
   */
  evaluate(entrypoint: string, input?: unknown, options: EvaluateOptions = {}): Result {
    const entry = this.#entries.get(entrypoint);
    if (entry === undefined) {
      const there = this.manifest.entrypoints.join(", ");
      return { kind: "error", code: "eval_internal_error", message: `${entrypoint} is no entrypoint of this module: ${there}` };
    }
    const given = options.data === undefined ? { ...options, data: this.#data } : options;
    return evaluateAt(this.#program, entry, input, given, (value) => toJson(value, options.exact));
  }
}

/**
 * Makes the policy of a module that `compileToJavaScript` wrote; its `load` calls this. Throws {@link LoadError} where another version of
 * this package compiled it (`module_version`), or a builtin of one's own is missing or has other types (`module_builtins`).
 */
export function loadModule(content: ModuleContent, builtins: readonly Builtin[], options: LoadOptions = {}): LoadedPolicy {
  checkOptions("options", options, { builtins: "array?" });
  checkArgument("content", content, "object");
  checkArgument("builtins", builtins, "array");
  const { manifest, plan: text, data } = content;
  checkArgument("content.manifest", manifest, "object");
  checkArgument("content.plan", text, "string");
  if (manifest.engine !== VERSION) {
    throw new LoadError(
      "module_version",
      `compiled by @seneschal/rego ${manifest.engine}, and this is ${VERSION}: compile it again`,
    );
  }
  const plan = readJson(text) as unknown as Plan;
  const program = readPlan(plan, tableOf(plan, builtins, options.builtins ?? []));
  const entries = new Map(plan.entrypoints.map((path) => [pathText(path), entryAt(program.root, path)]));
  return new LoadedPolicy(manifest, program, entries, data === undefined ? undefined : readJson(data));
}

/** The builtins that a plan calls. */
function tableOf(plan: Plan, engine: readonly Builtin[], given: readonly Builtin[]): BuiltinTable {
  const table = new Map<string, Builtin>();
  const wrong = (what: string): never => {
    throw new LoadError("module_builtins", what);
  };
  for (const { name, signature } of plan.own) {
    const [own, another] = given.filter((builtin) => builtin.name === name);
    if (own === undefined) return wrong(`${name}: the policy calls this builtin, which is not given`);
    if (another !== undefined) return wrong(`${name}: is given twice`);
    if (signatureOf(own) !== signature) return wrong(`${name}: has other types than those that the policy was compiled against`);
    table.set(name, guarded(own));
  }
  const byName = new Map(engine.map((builtin) => [builtin.name, builtin]));
  for (const name of plan.builtins) {
    const builtin = table.get(name) ?? byName.get(name) ?? wrong(`${name}: this runtime has no such builtin`);
    table.set(name, builtin);
  }
  return table;
}
