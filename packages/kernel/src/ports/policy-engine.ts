import { checkArgument } from "../argument.ts";
import { CodedError } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import type { WorkerPoolState } from "./worker-pool.ts";

/** One problem of a policy source, with its place. Rows and columns start at 1. */
export interface PolicyProblem {
  readonly code: string;
  readonly message: string;
  readonly file: string;
  readonly row: number;
  readonly col: number;
}

/** A source text with the name that problems refer to. */
export interface PolicySource {
  readonly name: string;
  readonly source: string;
}

/** `undefined` is an answer (no rule held), never an error; a limit or a fault is `error`, never `undefined`. */
export type PolicyAnswer =
  | { readonly kind: "defined"; readonly value: Json }
  | { readonly kind: "undefined" }
  | { readonly kind: "error"; readonly code: string; readonly message: string };

/** Codes of answers that say nothing of the question, but that this was not the moment for it. */
const undecided: readonly string[] = ["eval_limit_error", "eval_cancel_error", "opa_unreachable"];

/**
 * Throws `service_unavailable` with `retry_after` for an answer that decides nothing: a budget or the time of the policy was over before it was done, or its
 * engine was not reached. That is neither leave nor a denial; asked again it may be either.
 *
 * @example
 * ```ts
 * import { checkDecided } from "@seneschal/kernel/ports";
 * checkDecided({ kind: "defined", value: false });
 * try {
 *   checkDecided({ kind: "error", code: "eval_limit_error", message: "evaluation exceeded its time budget" });
 * } catch (error) {
 *   console.log((error as Error).message); // the policy was not decided: eval_limit_error
 * }
 * ```
 */
export function checkDecided(answer: PolicyAnswer): void {
  checkArgument("answer", answer, "object");
  if (answer.kind !== "error" || !undecided.includes(answer.code)) return;
  throw new CodedError("service_unavailable", `the policy was not decided: ${answer.code}`, { retry_after: 1 });
}

/** A value of a row; of a number that no double is the digits. */
export type RowValue = null | boolean | number | string | { readonly number: string };

/** A column by its ref (`input.row.owner`), or what a function of Rego makes of columns, integers or texts; it has a value where they all are of the kind that the function takes. */
export type RowField = string | RowCall;

export interface RowCall {
  readonly call: string;
  readonly of: readonly (RowValue | { readonly field: RowField })[];
}

/**
 * What must hold of a row, in the form of UCAST, as an engine that evaluates for all rows at once gives it: each field is true or false of each row whose NULLs are Rego's null, by Rego's order of all
 * values (null < false < true < numbers < texts). What is said of a call counts where it exists, which is said beside it.
 */
export type RowCondition =
  | { readonly type: "compound"; readonly operator: "and" | "or" | "not"; readonly value: readonly RowCondition[] }
  | {
      readonly type: "field";
      readonly operator: "eq" | "ne" | "lt" | "le" | "gt" | "ge";
      readonly field: RowField;
      readonly value: RowValue | { readonly field: RowField };
    }
  | { readonly type: "field"; readonly operator: "in"; readonly field: RowField; readonly value: readonly RowValue[] }
  | {
      readonly type: "field";
      readonly operator: "startswith" | "endswith" | "contains";
      readonly field: RowField;
      readonly value: string | { readonly field: RowField };
    }
  | { readonly type: "field"; readonly operator: "exists"; readonly field: RowField };

/** For which rows of a table a document holds. What no condition says is `refused`: it is no filter, and nothing may be shown by it. */
export type FilterAnswer =
  | { readonly kind: "condition"; readonly condition: RowCondition }
  | {
      readonly kind: "refused";
      readonly code: string;
      readonly message: string;
      readonly file: string;
      readonly row: number;
      readonly col: number;
    }
  | { readonly kind: "error"; readonly code: string; readonly message: string };

/** A compiled, immutable set of policies. */
export interface CompiledPolicy {
  /** Evaluates the document at `path`, for example `["data", "gateway", "authz", "allow"]`. `now` is milliseconds. */
  evaluate(
    path: readonly string[],
    input: Json,
    options: { readonly now: number; readonly data?: JsonObject; readonly owner?: string },
  ): Promise<PolicyAnswer>;
  /**
   * For which rows the document at `path` holds, `rows` being paths below `input` (`input.row`) whose members are columns. Absent where the engine evaluates for one row
   * at a time alone.
   */
  filter?(
    path: readonly string[],
    rows: readonly string[],
    input: Json,
    options: { readonly now: number },
  ): Promise<FilterAnswer>;
  /** The package path of each source, without `data`. */
  readonly packages: readonly (readonly string[])[];
}

/** Whose work it is, usually an organisation's. What has an owner keeps nobody else waiting; what has none is the operator's own. */
export interface PolicyWork {
  readonly owner?: string;
}

/**
 * Compiles and evaluates policies.
 *
 * Laws: `check` and `compile` report every problem of the sources; `evaluate` never throws: what fails is an `error`
 * answer, which callers must treat as deny or refuse by {@link checkDecided}. Where an owner is named each may reject with `service_unavailable` and `retry_after`, when the owner has too much under way.
 */
export interface PolicyEngine {
  readonly name: string;
  check(sources: readonly PolicySource[], work?: PolicyWork): Promise<readonly PolicyProblem[]>;
  compile(
    sources: readonly PolicySource[],
    work?: PolicyWork,
  ): Promise<
    { readonly ok: true; readonly policy: CompiledPolicy } | { readonly ok: false; readonly problems: readonly PolicyProblem[] }
  >;
  /** What its workers do, where it has any. */
  state?(): WorkerPoolState | undefined;
  close(): Promise<void>;
}
