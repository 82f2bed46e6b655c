import type { TokenClaims } from "@seneschal/adapters/jwt";
import { type CertificateIdentity, untrusted } from "@seneschal/adapters/tls";
import type { Principal } from "@seneschal/contract";
import { CodedError } from "@seneschal/core";
import { refusal } from "@seneschal/core/keys";
import { admins } from "../admins/collections.ts";
import { type CertificateRecord, certificates } from "../certificates/collections.ts";
import { keyText } from "../store/collection.ts";
import type { Reader } from "../store/reader.ts";
import { users } from "../users/collections.ts";
import { identityKinds } from "./identity-kinds.ts";

/** The record of a presented certificate: the very one that was issued, not one of the same serial. */
async function recordOf(read: Reader, identity: CertificateIdentity): Promise<CertificateRecord | undefined> {
  const record = await read.get(certificates, identity.serial);
  return record?.fingerprint === identity.fingerprint ? record : undefined;
}

/**
 * Whom a certificate stands for. Asked on every request, so that a revocation works on the next one, also on an open
 * connection. Throws `certificate_untrusted` for one that is revoked or has no record, `FORBIDDEN` for somebody disabled.
 */
export async function principalOfCertificate(read: Reader, identity: CertificateIdentity, now: number): Promise<Principal> {
  const record = await recordOf(read, identity);
  if (record === undefined) throw untrusted("unknown certificate");
  if (record.status === "revoked") throw untrusted("revoked");
  const known = await identityKinds[record.subject_type]?.find(read, record.subject_id);
  // A partner's certificate is ours, but speaks for the partner's organisation: the subject decides.
  if (known === undefined || known.org !== identity.organization) throw untrusted("unknown identity");
  if (!known.isActive(now)) throw refusal("FORBIDDEN", "the identity is disabled");
  return {
    id: known.id,
    type: record.subject_type,
    org: known.org,
    roles: known.roles,
    scopes: [],
    method: "mtls",
    certSerial: identity.serial,
  };
}

/** Whom a token stands for: the issuer's word, unless a local record of that subject or of that person is disabled. */
export async function principalOfToken(
  read: Reader,
  claims: TokenClaims,
  method: "jwt" | "oidc",
  now: number,
): Promise<Principal> {
  const { subject, organization: org, roles, scopes, email } = claims;
  if (Buffer.byteLength(subject) > 256) throw new CodedError("invalid_token", "invalid token", { reason: "claim sub" });
  for (const kind of Object.values(identityKinds)) {
    const known = await kind?.find(read, subject);
    if (known !== undefined && known.org === org && !known.isActive(now)) throw refusal("FORBIDDEN", "the identity is disabled");
  }
  // Providers may know the same subject: removed at one is removed.
  const records = await read.list(users, "by_subject", [org, subject]);
  const [user] = records;
  const disabled = records.some(({ active }) => !active) || (await isDisabledAdmin(read, org, email ?? user?.email ?? ""));
  if (disabled) throw refusal("FORBIDDEN", "the identity is disabled");
  return { id: user?.id ?? subject, type: "user", org, roles, scopes, method, ...(email === undefined ? {} : { email }) };
}

/** Whether the address is that of an admin who was disabled: the same person has no other way in. */
async function isDisabledAdmin(read: Reader, org: string, email: string): Promise<boolean> {
  if (email === "") return false;
  const [admin] = await read.list(admins, "by_email", [org, keyText(email.toLowerCase())], { limit: 1 });
  return admin?.enrollment_status === "disabled";
}
