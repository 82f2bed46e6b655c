import { CodedError } from "@seneschal/kernel";

/** Why data governance could not do something. Closed. */
export type GovernanceErrorCode =
  | "validation_failed"
  | "not_found"
  | "classification_failed"
  | "policy_evaluation_failed"
  | "upstream_failed"
  | "conflict"
  | "forbidden";

/** A failure of data governance; `details` never hold values of data. */
export function governanceError(
  code: GovernanceErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): CodedError<GovernanceErrorCode> {
  return new CodedError(code, message, details, cause);
}
