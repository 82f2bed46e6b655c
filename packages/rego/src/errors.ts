import { checkArgument } from "./argument.ts";

/** Codes of problems found before evaluation; `rego_limit_error` is this engine's own. */
export type ProblemCode =
  | "rego_parse_error"
  | "rego_compile_error"
  | "rego_type_error"
  | "rego_unsafe_var_error"
  | "rego_recursion_error"
  | "rego_limit_error";

/** Codes of failed evaluations; `eval_limit_error` (a budget ran out) and `eval_internal_error` are this engine's own. */
export type EvaluationCode =
  | "eval_builtin_error"
  | "eval_type_error"
  | "eval_conflict_error"
  | "eval_cancel_error"
  | "eval_limit_error"
  | "eval_internal_error";

/** One problem of a source, with its place. Rows and columns start at 1. */
export interface Problem {
  readonly code: ProblemCode;
  readonly message: string;
  readonly file: string;
  readonly row: number;
  readonly col: number;
}

/** So many problems are told of; of a policy that has more, the last says so. An answer about a policy is bounded, whatever the policy. */
export const MAX_PROBLEMS = 100;
/** A message quotes names, which may be as long as a source. */
const MAX_MESSAGE = 1_000;

/** Problems as they are told: the first of them, with messages of bounded length. */
export function boundedProblems(problems: readonly Problem[]): readonly Problem[] {
  const told = problems.slice(0, MAX_PROBLEMS).map((problem) => ({
    ...problem,
    message: problem.message.length > MAX_MESSAGE ? `${problem.message.slice(0, MAX_MESSAGE)}...` : problem.message,
  }));
  const last = told.at(-1);
  if (last === undefined || problems.length <= MAX_PROBLEMS) return told;
  return [...told, { ...last, code: "rego_limit_error", message: `there are more problems than ${MAX_PROBLEMS}` }];
}

/** Thrown where compilation was demanded and could not be done; carries every problem found. */
export class RegoCompileError extends Error {
  override readonly name = "RegoCompileError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(told(problems));
    this.problems = problems;
  }
}

/** Aborts an evaluation. Never leaves the engine: `evaluate` turns it into an `error` result. */
export class EvaluationError extends Error {
  override readonly name = "EvaluationError";
  readonly code: EvaluationCode;

  constructor(code: EvaluationCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** What a builtin throws on bad operands: its call is undefined, or an error where errors are strict. */
export class BuiltinError extends Error {
  override readonly name = "BuiltinError";
  readonly code: "eval_builtin_error" | "eval_type_error";

  constructor(message: string, code: "eval_builtin_error" | "eval_type_error" = "eval_builtin_error") {
    super(message);
    this.code = code;
  }
}

function told(problems: readonly Problem[]): string {
  checkArgument("problems", problems, "array");
  return problems.map((p) => `${p.file}:${p.row}:${p.col}: ${p.code}: ${p.message}`).join("\n");
}
