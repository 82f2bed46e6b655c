import { invitationStatus, participates, stepFederation, stepInvitation, stepWorkspace } from "@seneschal/core/keys";
import { certificates, every, type GatewayUnit } from "../../ground/index.ts";
import { revokeCertificate } from "../../people/index.ts";
import { invitations, saveWorkspace, workspaces } from "../../workspaces/index.ts";
import {
  federations,
  logWitnesses,
  replicaId,
  replicas,
  type StoredFederation,
  shareId,
  shares,
  witnessedLogs,
} from "../collections.ts";
import { endReplica } from "../replication/end-replica.ts";
import type { PartnerServices } from "../services.ts";

/**
 * Ends a federation for good: the partner's next call is refused, it leaves every workspace of the organisation, and their
 * keys rotate, because it knows the old ones. The organisation leaves the partner's workspaces: their keys here are destroyed.
 */
export async function endFederation(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: StoredFederation,
  { revokeCertificates }: { readonly revokeCertificates: boolean },
): Promise<StoredFederation> {
  const { now } = unit.call;
  const { org_id: org, partner_org_id: partner } = federation;
  const { state } = stepFederation(federation, { kind: "revoke" }, now);
  const ended: StoredFederation = { ...federation, ...state };
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
    if (replica !== undefined) await endReplica(services, unit, replica, "federation");
  }
  unit.delete(logWitnesses, federation.id);
  unit.delete(witnessedLogs, federation.id);
  unit.record({ type: "federation.revoke", org, metadata: { federation_id: federation.id, partner_org_id: partner } });
  return ended;
}

/** The owner's side: nothing can be said to the partner any more, and it takes no further part. */
async function partnerLeaves(services: PartnerServices, unit: GatewayUnit, id: string, partner: string): Promise<void> {
  const { now } = unit.call;
  const share = await unit.get(shares, shareId(id, partner));
  const workspace = await unit.get(workspaces, id);
  unit.delete(shares, shareId(id, partner));
  if (share === undefined || workspace === undefined) return;
  const invitation = await unit.get(invitations, share.invitation_id);
  if (invitation !== undefined && invitationStatus(invitation, now) === "pending") {
    unit.put(invitations, invitation.id, stepInvitation(invitation, "revoke", now));
  }
  if (!participates(workspace, partner)) return;
  const step = stepWorkspace(workspace, { kind: "leave", org: partner }, now);
  await saveWorkspace(services, unit, step);
  const of = { org: workspace.org_id, workspace: id };
  unit.record({ type: "workspace.leave", ...of, metadata: { org_id: partner } });
  unit.record({ type: "key.rotate", ...of, metadata: { version: step.state.dek_version } });
}
