import type { RuleNode } from "../compile/tree.ts";
import { type Host, HostCalls } from "../engine/host.ts";
import type { Result } from "../engine/result.ts";
import { type EvaluationCode, EvaluationError } from "../errors.ts";
import { type Budgets, DEFAULT_BUDGETS, metered } from "../value/meter.ts";
import type { Value } from "../value/value.ts";
import type { Context } from "./context.ts";
import { Cursor, documentOf, materialise, type Program, step } from "./documents.ts";

export interface EvaluateOptions extends Host {
  /** The base documents below `data`: plain JSON, read in place. */
  readonly data?: unknown;
  readonly budgets?: Partial<Budgets> | undefined;
  /** A builtin's error aborts the evaluation instead of making its call undefined. */
  readonly strict?: boolean;
  /** Results keep the digits of numbers that no double holds: integers beyond 2^53 are bigint. */
  readonly exact?: boolean;
}

/** Where an evaluation starts: a rule set, or a place in the tree. */
export interface Entry {
  readonly path: readonly string[];
  readonly set: number | undefined;
}

const UNDEFINED = Object.freeze({ kind: "undefined" } as const);
const EMPTY = Object.freeze({});

/** What a path below `data` stands for. */
export function entryAt(root: RuleNode, path: readonly string[]): Entry {
  const rules = root.find(path)?.rules;
  const direct = rules !== undefined && rules.kind !== "function" && rules.node.mixed === undefined;
  return { path: [...path], set: direct ? rules.id : undefined };
}

/** The document at an entry. Never throws. */
export function evaluateAt<T>(
  program: Program,
  entry: Entry,
  input: unknown,
  options: EvaluateOptions,
  convert: (value: Value) => T,
): Result<T> {
  return guarded(input, options, (c): Result<T> => {
    let value: Value | undefined;
    if (entry.set !== undefined) value = documentOf(c, program, entry.set);
    else {
      let at: Value | Cursor | undefined = new Cursor(program.root, c.data);
      for (const name of entry.path) {
        if (at === undefined) break;
        at = step(c, program, at, name);
      }
      value = materialise(c, program, at);
    }
    return value === undefined ? UNDEFINED : { kind: "defined", value: convert(value) };
  });
}

/** Runs an evaluation within its budgets; whatever it throws becomes an `error`. */
export function guarded<T>(
  input: unknown,
  options: EvaluateOptions,
  work: (c: Context) => T,
): T | { readonly kind: "error"; readonly code: EvaluationCode; readonly message: string } {
  try {
    const budgets: Budgets = options.budgets === undefined ? DEFAULT_BUDGETS : { ...DEFAULT_BUDGETS, ...options.budgets };
    const c: Context = {
      input: input as Value | undefined,
      data: (options.data ?? EMPTY) as Value,
      overlay: undefined,
      mocks: undefined,
      memo: [],
      depth: 0,
      maxDepth: budgets.depth,
      strict: options.strict === true,
      builtinErrors: undefined,
      call: new HostCalls(options),
    };
    return metered(budgets, options.clock, () => work(c));
  } catch (error) {
    if (error instanceof EvaluationError) return { kind: "error", code: error.code, message: error.message };
    if (error instanceof RangeError) {
      return { kind: "error", code: "eval_limit_error", message: "evaluation exceeded the call stack" };
    }
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "error", code: "eval_internal_error", message };
  }
}
