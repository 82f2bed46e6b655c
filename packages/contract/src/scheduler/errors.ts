import { type ErrorTable, errorTable } from "../error-table.ts";

/** Wire code to status: the catalogue of the scheduler. A quota is told from a rate limit by its code alone. */
export const schedulerCodes = {
  invalid_argument: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  ownership_conflict: 409,
  stale_state: 409,
  already_exists: 409,
  tenant_not_empty: 409,
  invalid_transition: 409,
  idempotency_conflict: 409,
  reply_not_kept: 409,
  request_expired: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  quota_exceeded: 429,
  rate_limited: 429,
  internal_error: 500,
  not_implemented: 501,
  no_quorum: 503,
  outcome_unknown: 503,
  storage_full: 503,
  service_unavailable: 503,
} as const satisfies Readonly<Record<string, number>>;

/** Codes that few operations give. */
const only = {
  quota_exceeded: ["submitAllocation", "scaleAllocation", "resumeAllocation", "requeueAllocation", "claimNode"],
  tenant_not_empty: ["deleteTenant"],
  not_implemented: ["backup", "verifyBackup", "restoreBackup"],
};

/** The only place where the scheduler's failures meet HTTP. */
export const schedulerErrors: ErrorTable = errorTable(
  schedulerCodes,
  {
    invalid_request: "invalid_argument",
    invalid_json: "invalid_argument",
    validation_failed: "invalid_argument",
    unauthenticated: "unauthenticated",
    forbidden: "forbidden",
    not_found: "not_found",
    method_not_allowed: "method_not_allowed",
    precondition_failed: "precondition_failed",
    payload_too_large: "payload_too_large",
    unsupported_media_type: "unsupported_media_type",
    idempotency_conflict: "idempotency_conflict",
    idempotency_mismatch: "idempotency_mismatch",
    reply_not_kept: "reply_not_kept",
    rate_limited: "rate_limited",
    internal_error: "internal_error",
    service_unavailable: "service_unavailable",
    invalid_token: "unauthenticated",
    token_expired: "unauthenticated",
    invalid_issuer: "unauthenticated",
    invalid_command: "payload_too_large",
    log_full: "storage_full",
    log_failed: "service_unavailable",
    log_closed: "service_unavailable",
    log_diverged: "service_unavailable",
    log_version: "service_unavailable",
  },
  only,
);
