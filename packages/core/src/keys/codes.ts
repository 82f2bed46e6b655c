import { CodedError } from "@seneschal/kernel";

/** Every way in which the key-governance domain can say "that could not be done". The HTTP status stands in the contract. */
export type KeysCode =
  | "VALIDATION_ERROR"
  | "SIGNATURE_REQUIRED"
  | "POLICY_INVALID"
  | "NO_BOUND_GROUP"
  | "DECRYPTION_FAILED"
  | "BUNDLE_INVALID"
  | "MTLS_REQUIRED"
  | "CERT_EXPIRED"
  | "CERT_UNTRUSTED"
  | "INVALID_TOKEN"
  | "TOKEN_EXPIRED"
  | "INVALID_ISSUER"
  | "UNAUTHORIZED"
  | "MFA_INVALID"
  | "FORBIDDEN"
  | "NOT_ADMITTED"
  | "POLICY_VIOLATION"
  | "SIGNATURE_INVALID"
  | "SIGNATURE_EXPIRED"
  | "BOOTSTRAP_CLOSED"
  | "RESTORE_FORBIDDEN"
  | "ORGANIZATION_UNKNOWN"
  | "NOT_FOUND"
  | "CONFLICT"
  | "STATE_CONFLICT"
  | "REVISION_CONFLICT"
  | "SIGNATURE_REPLAYED"
  | "CRK_EXISTS"
  | "CRK_NOT_CONFIGURED"
  | "LAST_ADMIN"
  | "WORKSPACE_ARCHIVED"
  | "WORKSPACE_EXPIRED"
  | "INVITATION_EXPIRED"
  | "FEDERATION_INACTIVE"
  | "RATE_LIMITED"
  | "INVALID_THRESHOLD"
  | "SHARE_INVALID"
  | "CRK_THRESHOLD_NOT_MET"
  | "CSR_INVALID"
  | "CHECKSUM_MISMATCH"
  | "VAULT_MISMATCH"
  | "FEDERATION_FAILED"
  | "EDGE_UNREACHABLE"
  | "VAULT_UNAVAILABLE"
  | "SERVICE_UNAVAILABLE";

/** A failure of the key-governance domain. */
export type KeysError = CodedError<KeysCode>;

/**
 * Makes a failure of this domain.
 *
 * @example
 * ```ts
 * import { refusal } from "@seneschal/core/keys";
 * const error = refusal("WORKSPACE_ARCHIVED", "the workspace is archived");
 * ```
 */
export function refusal(code: KeysCode, message: string, details: Readonly<Record<string, unknown>> = {}): KeysError {
  return new CodedError<KeysCode>(code, message, details);
}

/**
 * "That field is wrong": 400 with the field's name.
 *
 * @example
 * ```ts
 * import { invalidField } from "@seneschal/core/keys";
 * const { code, message } = invalidField("since", "must not be after until");
 * console.log(code, message); // VALIDATION_ERROR since: must not be after until
 * ```
 */
export function invalidField(field: string, reason: string): KeysError {
  return refusal("VALIDATION_ERROR", `${field}: ${reason}`, { field, reason });
}

/**
 * Unknown, deleted, malformed id or another organisation's: one answer for all.
 *
 * @example
 * ```ts
 * import { notFound } from "@seneschal/core/keys";
 * console.log(notFound("workspace").message); // workspace not found
 * ```
 */
export function notFound(noun: string): KeysError {
  return refusal("NOT_FOUND", `${noun} not found`);
}
