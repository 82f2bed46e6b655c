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

/** Thrown where compilation was demanded and could not be done; carries every problem found. */
export class RegoCompileError extends Error {
  override readonly name = "RegoCompileError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map((p) => `${p.file}:${p.row}:${p.col}: ${p.code}: ${p.message}`).join("\n"));
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
