import { collection } from "../../ground/index.ts";

/** A one-time token, kept by its hash only, for one admin. */
export interface EnrollmentToken {
  /** Hex SHA-256 of the token. */
  readonly id: string;
  readonly admin_id: string;
  readonly org_id: string;
  readonly expires_at: string;
}

export const enrollmentTokens = collection<EnrollmentToken>("enrollment_tokens", {
  by_admin: { key: (token) => [token.admin_id] },
  by_expiry: { key: (token) => [token.expires_at] },
});

/** Exists from the first admin on: two bootstraps at once cannot both succeed. */
export const bootstrapMarks = collection<{ readonly admin_id: string }>("bootstrap");
