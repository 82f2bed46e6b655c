import { refusal, stepFederation, timestamp } from "@seneschal/core/keys";
import { parseRequest, samePublicKey, verifyChain } from "@seneschal/crypto/x509";
import type { GatewayUnit } from "../../ground/index.ts";
import { federationIdentities, federations, type StoredFederation } from "../collections.ts";
import { hurryDispatches } from "../replication/queue-dispatch.ts";
import type { PartnerServices } from "../services.ts";
import { bundlePem, certificatesOf } from "./pem.ts";
import { organizationOf, pinnedIssuer } from "./pinned-bundle.ts";

/**
 * Takes in a certificate that the partner signed for our key: from now on we can call it. Throws `CSR_INVALID` when it is not for
 * our key and organisation, or not issued by the CA that was pinned.
 */
export async function takeInCertificate(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: StoredFederation,
  input: string,
): Promise<StoredFederation> {
  const { crypto } = services;
  const { now } = unit.call;
  // Judged by the status before anything else is told.
  const { state } = stepFederation(federation, { kind: "import" }, now);
  const refuse = (reason: string) => refusal("CSR_INVALID", `the certificate ${reason}`, { field: "certificate", reason });
  const [leaf, ...intermediates] = certificatesOf("certificate", input);
  const identity = await unit.get(federationIdentities, federation.org_id);
  if (identity === undefined || !samePublicKey(parseRequest(identity.csr).publicKey, leaf.publicKey)) {
    throw refuse("does not fit the organisation's request");
  }
  if (organizationOf(leaf.subject) !== federation.org_id) throw refuse("does not name the organisation");
  const issuer = pinnedIssuer(crypto, federation.partner_cert);
  if (issuer === undefined) throw refuse("has no issuer that was pinned");
  const chain = verifyChain(crypto, leaf, { roots: [issuer], intermediates, now, purpose: "clientAuth" });
  if (!chain.valid) throw refuse(`is not accepted: ${chain.reason.replaceAll("_", " ")}`);
  // What ends in a moment would leave us without a way to the partner, and with one that looks ready.
  if (leaf.notAfter - now < services.config.federation.certificate_min_life) throw refuse("ends too soon");
  const next: StoredFederation = {
    ...federation,
    ...state,
    outbound_certificate: bundlePem(chain.chain),
    outbound_expires_at: timestamp(leaf.notAfter),
  };
  unit.put(federations, next.id, next);
  await hurryDispatches(services, unit, next.id);
  return next;
}
