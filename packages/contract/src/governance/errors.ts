import { type ErrorTable, errorTable } from "../error-table.ts";

/** Wire code to status: the catalogue of the data-governance service. */
export const governanceCodes = {
  VALIDATION_ERROR: 400,
  AUTHENTICATION_REQUIRED: 401,
  FORBIDDEN: 403,
  RESOURCE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
  RATE_LIMIT_EXCEEDED: 429,
  CLASSIFICATION_FAILED: 500,
  POLICY_EVALUATION_FAILED: 500,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const satisfies Readonly<Record<string, number>>;

/** The only place where data governance's failures meet HTTP. */
export const governanceErrors: ErrorTable = errorTable(governanceCodes, {
  invalid_request: "VALIDATION_ERROR",
  invalid_json: "VALIDATION_ERROR",
  validation_failed: "VALIDATION_ERROR",
  unauthenticated: "AUTHENTICATION_REQUIRED",
  forbidden: "FORBIDDEN",
  not_found: "RESOURCE_NOT_FOUND",
  method_not_allowed: "METHOD_NOT_ALLOWED",
  precondition_failed: "PRECONDITION_FAILED",
  payload_too_large: "PAYLOAD_TOO_LARGE",
  unsupported_media_type: "UNSUPPORTED_MEDIA_TYPE",
  idempotency_conflict: "CONFLICT",
  idempotency_mismatch: "IDEMPOTENCY_MISMATCH",
  rate_limited: "RATE_LIMIT_EXCEEDED",
  internal_error: "INTERNAL_ERROR",
  service_unavailable: "SERVICE_UNAVAILABLE",
  conflict: "CONFLICT",
  classification_failed: "CLASSIFICATION_FAILED",
  policy_evaluation_failed: "POLICY_EVALUATION_FAILED",
  outcome_unknown: "SERVICE_UNAVAILABLE",
  store_closed: "SERVICE_UNAVAILABLE",
  store_failed: "SERVICE_UNAVAILABLE",
  store_unavailable: "SERVICE_UNAVAILABLE",
});
