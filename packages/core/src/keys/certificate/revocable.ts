import { refusal } from "../codes.ts";

/** Whom a certificate stands for. */
export const certificateSubjects = ["admin", "user", "service", "device", "partner", "server"] as const;
export type CertificateSubject = (typeof certificateSubjects)[number];

const owners: Partial<Record<CertificateSubject, string>> = {
  admin: "it ends with its admin: disable, delete or renew through /api/v1/identities/admins/{id}",
  partner: "it ends with its federation: DELETE /api/v1/federation/{partnerId}",
};

/**
 * A certificate that is the right of an admin or of a partner ends with that right, by the rules for it (who may, the last super admin,
 * the root key's signature), and on no other road. Throws `FORBIDDEN`.
 */
export function requireRevocable(subject: CertificateSubject): void {
  const owner = owners[subject];
  if (owner !== undefined) throw refusal("FORBIDDEN", `the certificate is not revoked by its serial: ${owner}`, { subject });
}
