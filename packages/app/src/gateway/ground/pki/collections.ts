import type { CertificateSubject } from "@seneschal/core/keys";
import { collection } from "../../../platform/collection.ts";

/** A certificate authority: one of the instance's own, or an organisation's. Its private key is sealed by the vault. */
export interface Authority {
  readonly id: string;
  /** PEM. */
  readonly certificate: string;
  /** PEM: a certificate of the same name and key that another CA signed, then those up to that one's root. */
  readonly cross_signed?: string;
  readonly sealed_key: string;
  readonly created_at: string;
}

export const authorities = collection<Authority>("authorities");

/** The instance's own authorities. Organisation ids hold no slash. */
export const instanceAuthorities = {
  /** The root above the organisations' CAs: what servers verify clients against. */
  clients: "/root",
  /** The CA of server certificates: what clients verify servers against. It certifies no CA, and no client. */
  servers: "/servers",
} as const;

/** Which of the instance's own authorities. */
export type InstanceAuthority = keyof typeof instanceAuthorities;

/** A certificate that the gateway's CA issued, and whom it stands for. `expired` is derived, never stored. */
export interface CertificateRecord {
  /** Lower-case hex with colons. */
  readonly serial_number: string;
  readonly org_id: string;
  /** Which of the instance's own authorities issued it; without it the CA of the organisation. */
  readonly authority?: string;
  readonly subject_type: CertificateSubject;
  readonly subject_id: string;
  readonly common_name: string;
  readonly status: "active" | "revoked";
  /** SHA-256 over the DER, hex: what is presented must be this very certificate. */
  readonly fingerprint: string;
  readonly certificate: string;
  readonly issuing_ca: string;
  readonly ca_chain: readonly string[];
  readonly not_before: string;
  readonly expiration: string;
  readonly revoked_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export const certificates = collection<CertificateRecord>("certificates", {
  by_org: { key: (certificate) => [certificate.org_id, certificate.created_at] },
  by_subject: { key: (certificate) => [certificate.org_id, certificate.subject_type, certificate.subject_id] },
  revoked: {
    key: (certificate) =>
      certificate.status === "revoked" ? [certificate.authority ?? certificate.org_id, certificate.revoked_at] : undefined,
  },
  by_org_expiration: { key: (certificate) => [certificate.org_id, certificate.expiration] },
});
