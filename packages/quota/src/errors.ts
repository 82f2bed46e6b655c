/**
 * Why a command was refused. Lower case on the wire (quota brief, section 4). A refusal is a value, not an exception:
 * the command was judged, nothing changed.
 */
export type RejectionCode =
  | "quota_exceeded"
  | "ownership_conflict"
  | "stale_state"
  | "already_exists"
  | "invalid_transition"
  | "not_found"
  | "tenant_not_empty"
  | "forbidden"
  | "invalid_argument"
  | "idempotency_mismatch"
  | "request_expired";

/** A refusal with the data to act on it. `details` is JSON. */
export interface Rejection {
  readonly ok: false;
  readonly code: RejectionCode;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export function reject(code: RejectionCode, message: string, details: Readonly<Record<string, unknown>> = {}): Rejection {
  return { ok: false, code, message, details };
}

/** What could not be done at all: thrown as a `CodedError`. */
export type QuotaErrorCode = "snapshot_invalid" | "unknown_command" | "invalid_weights" | "invalid_trace";

export function isRejection(value: object): value is Rejection {
  return "ok" in value && value.ok === false;
}
