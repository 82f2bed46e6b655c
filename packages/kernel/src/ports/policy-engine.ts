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

/** A compiled, immutable set of policies. */
export interface CompiledPolicy {
  /** Evaluates the document at `path`, for example `["data", "gateway", "authz", "allow"]`. `now` is milliseconds. */
  evaluate(
    path: readonly string[],
    input: Json,
    options: { readonly now: number; readonly data?: JsonObject; readonly owner?: string },
  ): Promise<PolicyAnswer>;
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
