import { isPast, type Timestamp, timestamp } from "../time.ts";

export const certificateStatuses = ["active", "revoked", "expired"] as const;
export type CertificateStatus = (typeof certificateStatuses)[number];

/** A certificate that the organisation's CA issued. The private key is never kept. */
export interface IssuedCertificate {
  /** Lower-case colon hex; also the record's id. */
  readonly serial_number: string;
  readonly org_id: string;
  readonly common_name: string;
  /** PEM. */
  readonly certificate: string;
  readonly issuing_ca: string;
  readonly not_before: Timestamp;
  readonly expiration: Timestamp;
  readonly revoked_at: Timestamp | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

/** Revoked stays revoked, also past its end. */
export function certificateStatus(certificate: IssuedCertificate, now: number): CertificateStatus {
  if (certificate.revoked_at !== null) return "revoked";
  return isPast(certificate.expiration, now) ? "expired" : "active";
}

/** A repeat changes nothing: `revoked_at` stays what it was. */
export function revokeCertificate(certificate: IssuedCertificate, now: number): IssuedCertificate {
  if (certificate.revoked_at !== null) return certificate;
  const at = timestamp(now);
  return { ...certificate, revoked_at: at, updated_at: at };
}

/** True when tidying may drop the record: it ended at least `safetyBuffer` milliseconds ago, so no revocation list needs it. */
export function isTidy(certificate: IssuedCertificate, now: number, safetyBuffer: number): boolean {
  return Date.parse(certificate.expiration) + safetyBuffer <= now;
}

/** Lower-case hex in pairs with colons, from hex with or without them; `undefined` when it is no serial. */
export function parseSerial(text: string): string | undefined {
  const digits = text.replaceAll(":", "").toLowerCase();
  if (!/^[0-9a-f]{1,40}$/.test(digits)) return undefined;
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  return even.match(/../g)?.join(":");
}
