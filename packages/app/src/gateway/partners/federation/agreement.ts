import {
  type Federation,
  federationTable,
  nextStatus,
  partnerGone,
  refusal,
  stepFederation,
  timestamp,
} from "@seneschal/core/keys";
import { parseRequest, samePublicKey, verifyChain } from "@seneschal/crypto/x509";
import { certificates, every, type GatewayUnit } from "../../ground/index.ts";
import { revokeCertificate } from "../../people/index.ts";
import { invitations, saveWorkspace, workspaces } from "../../workspaces/index.ts";
import {
  federationIdentities,
  federations,
  logWitnesses,
  replicaId,
  replicas,
  shareId,
  shares,
  witnessedLogs,
} from "../collections.ts";
import { hurryDispatches } from "../replication/dispatch.ts";
import { destroyReplica } from "../replication/replica.ts";
import type { PartnerServices } from "../services.ts";
import { bundlePem, certificatesOf, organizationOf, pinnedIssuer } from "./certificates.ts";

/**
 * Ends a federation for good: the partner's next call is refused, it leaves every workspace of the organisation, and their
 * keys rotate, because it knows the old ones. The organisation leaves the partner's workspaces: their keys here are destroyed.
 */
export async function endFederation(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: Federation,
  { revokeCertificates }: { readonly revokeCertificates: boolean },
): Promise<Federation> {
  const { now } = unit.call;
  const { org_id: org, partner_org_id: partner } = federation;
  const { state: ended } = stepFederation(federation, { kind: "revoke" }, now);
  unit.put(federations, ended.id, ended);
  if (revokeCertificates) {
    for await (const { serial_number } of every(services, certificates, "by_subject", [org, "partner", federation.id])) {
      await revokeCertificate(unit, serial_number);
    }
  }
  for await (const { workspace_id: id } of every(services, shares, "by_federation", [federation.id])) {
    await partnerLeaves(services, unit, id, partner);
  }
  for await (const found of every(services, replicas, "by_federation", [federation.id])) {
    const replica = await unit.get(replicas, replicaId(found.workspace_id, org));
    if (replica !== undefined) await destroyReplica(services, unit, replica, "federation");
  }
  unit.delete(logWitnesses, federation.id);
  unit.delete(witnessedLogs, federation.id);
  unit.record({ type: "federation.revoke", org, metadata: { federation_id: federation.id, partner_org_id: partner } });
  return ended;
}

/** The owner's side: nothing can be said to the partner any more, and it takes no further part. */
async function partnerLeaves(services: PartnerServices, unit: GatewayUnit, id: string, partner: string): Promise<void> {
  const share = await unit.get(shares, shareId(id, partner));
  const workspace = await unit.get(workspaces, id);
  unit.delete(shares, shareId(id, partner));
  if (share === undefined || workspace === undefined) return;
  const { invitation, step, events } = partnerGone(
    workspace,
    await unit.get(invitations, share.invitation_id),
    partner,
    unit.call.now,
  );
  if (invitation !== undefined) unit.put(invitations, invitation.id, invitation);
  if (step !== undefined) await saveWorkspace(services, unit, step);
  for (const event of events) unit.record(event);
}

/**
 * Takes in a certificate that the partner signed for our key: from now on we can call it. Throws `CSR_INVALID` when it is not for
 * our key and organisation, or not issued by the CA that was pinned.
 */
export async function takeInCertificate(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: Federation,
  input: string,
): Promise<Federation> {
  const { crypto } = services;
  const { now } = unit.call;
  // Judged by the status before anything else is told.
  nextStatus("federation", federationTable, federation.status, "import");
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
  const given = { certificate: bundlePem(chain.chain), expires_at: timestamp(leaf.notAfter) };
  const next = stepFederation(federation, { kind: "import", ...given }, now).state;
  unit.put(federations, next.id, next);
  await hurryDispatches(services, unit, next.id);
  return next;
}
