import { refusal, type SignedForPartner } from "@seneschal/core/keys";
import { type PublicKey, parseRequest, verifyRequest } from "@seneschal/crypto/x509";
import { isCoded } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import type { GatewayUnit } from "../../ground/index.ts";
import type { PartnerServices } from "../services.ts";
import { federationName } from "./identity.ts";
import { pemText } from "./pem.ts";
import { organizationOf } from "./pinned-bundle.ts";

/** The key of a partner's request, which its holder signed and which names the partner. Throws `CSR_INVALID`. */
export function partnerKey(crypto: CryptoProvider, csr: string, partner: string): PublicKey {
  const invalid = (reason: string) =>
    refusal("CSR_INVALID", `the certificate signing request ${reason}`, { field: "partner_csr" });
  try {
    const request = parseRequest(pemText(csr));
    if (!verifyRequest(crypto, request)) throw invalid("is not signed by its own key");
    if (organizationOf(request.subject) !== partner) throw invalid("does not name the partner's organisation");
    return request.publicKey;
  } catch (error) {
    if (!isCoded(error) || error.code === "CSR_INVALID") throw error;
    throw invalid("cannot be read");
  }
}

/** Certifies a partner's key under the organisation's own CA: subject, use and lifetime are ours to say. */
export async function signForPartner(
  { pki, config }: PartnerServices,
  unit: GatewayUnit,
  federation: { readonly id: string; readonly org_id: string; readonly partner_org_id: string },
  key: PublicKey,
): Promise<SignedForPartner> {
  const record = await pki.issueForKey(
    unit,
    {
      org: federation.org_id,
      subjectOrganization: federation.partner_org_id,
      commonName: federationName(federation.partner_org_id),
      subject: { type: "partner", id: federation.id },
      ttl: config.federation.certificate_ttl,
    },
    key,
  );
  return {
    certificate: record.certificate + record.issuing_ca,
    serial_number: record.serial_number,
    expires_at: record.expiration,
  };
}
