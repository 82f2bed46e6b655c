/** What the dispatcher runs into on every service, by the wire codes that services with upper-case codes share. */
export const usualSituations = {
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
} as const;
