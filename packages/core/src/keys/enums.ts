/** The closed value sets that several nouns of the gateway share; a noun's own statuses stand beside its step function. */
export const classifications = ["CONFIDENTIAL", "SECRET"] as const;
export type Classification = (typeof classifications)[number];

export const modes = ["standard", "airgap"] as const;
export type Mode = (typeof modes)[number];

export const identityTypes = ["admin", "user", "service", "device"] as const;
export type IdentityType = (typeof identityTypes)[number];

export const adminRoles = ["super_admin", "security_admin", "operations_admin", "auditor"] as const;
export type AdminRole = (typeof adminRoles)[number];

export const auditResults = ["success", "error", "denied"] as const;
export type AuditResult = (typeof auditResults)[number];

/**
 * Why an audit log is not whole. `unsigned`: nothing signed vouches for its events, as signing stopped before them. `hash_differs`: its events are whole, but the
 * hashes of its tree that are kept for proofs are not theirs.
 */
export const auditFlaws = [
  "key_missing",
  "key_replaced",
  "checkpoint_missing",
  "checkpoint_invalid",
  "event_missing",
  "root_differs",
  "hash_differs",
  "unsigned",
] as const;
export type AuditFlaw = (typeof auditFlaws)[number];
