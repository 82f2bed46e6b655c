import type { EvaluationCode } from "../errors.ts";

/** `undefined` is an answer, never an error; a limit or a fault is an error, never undefined. */
export type Result<T = unknown> =
  | { readonly kind: "defined"; readonly value: T }
  | { readonly kind: "undefined" }
  | { readonly kind: "error"; readonly code: EvaluationCode; readonly message: string };
