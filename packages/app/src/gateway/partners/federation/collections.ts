import type { Federation } from "@seneschal/core/keys";
import { keyText } from "../../../platform/index.ts";
import { collection } from "../../ground/index.ts";

/** A federation as it is kept: with the certificate that the partner signed for us. */
export interface StoredFederation extends Federation {
  /** PEM, ours first, the partner's issuing CA behind it; what we show when we call. `null` until one was imported. */
  readonly outbound_certificate: string | null;
  /** When it ends; absent in records of before that was kept. */
  readonly outbound_expires_at?: string;
  /** When the partner's instance last answered, or called; `null` before it did. */
  readonly last_heard_at: string | null;
}

export const federations = collection<StoredFederation>("federations", {
  by_org: { key: (federation) => [federation.org_id, federation.created_at] },
  by_partner: { key: (federation) => [federation.org_id, keyText(federation.partner_org_id), federation.created_at] },
  open: {
    key: (federation) => (federation.status === "revoked" ? undefined : [federation.org_id, keyText(federation.partner_org_id)]),
    unique: "a federation with that partner exists",
  },
  active: { key: (federation) => (federation.status === "active" ? [federation.org_id] : undefined) },
});

/** An organisation's key for its federations: one key, one request, signed by every partner. */
export interface FederationIdentity {
  readonly org_id: string;
  /** PEM. */
  readonly csr: string;
  /** PEM: the organisation's own certificate of the key, its CA and the root: what a partner pins. */
  readonly certificate: string;
  readonly serial_number: string;
  readonly expires_at: string;
  /** PKCS#8, sealed by the vault. */
  readonly sealed_key: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export const federationIdentities = collection<FederationIdentity>("federation_identities");
