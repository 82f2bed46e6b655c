import { type Invitation, invitationStatus, limits, offerShare, refusal, type Workspace } from "@seneschal/core/keys";
import { every, type GatewayUnit, isLocal } from "../../ground/index.ts";
import { invitations, workspaces } from "../../workspaces/index.ts";
import { type StoredFederation, shareId, shares } from "../collections.ts";
import { findFederation } from "../federation/find.ts";
import type { PartnerServices } from "../services.ts";
import { stepAndTell } from "./announce.ts";
import { sendDispatch } from "./queue-dispatch.ts";

/**
 * Lets an invitation travel to the instance of the invited organisation. One to an organisation of this instance has no way to go;
 * one to an organisation that nobody is federated with waits for the federation. Throws `CONFLICT` when too many take part.
 */
export async function offerToPartner(
  services: PartnerServices,
  unit: GatewayUnit,
  workspace: Workspace,
  invitation: Invitation,
): Promise<void> {
  if (await isLocal(unit, invitation.org_id)) return;
  const federation = await findFederation(unit, invitation.org_id, workspace.org_id);
  if (federation !== undefined && federation.status !== "revoked") {
    await offerOver(services, unit, workspace, invitation, federation);
  }
}

async function offerOver(
  services: PartnerServices,
  unit: GatewayUnit,
  workspace: Workspace,
  invitation: Invitation,
  { id: federation_id, org_id, partner_org_id }: StoredFederation,
): Promise<void> {
  const { now } = unit.call;
  const offer = { workspace_id: workspace.id, org_id, partner_org_id, federation_id, invitation_id: invitation.id };
  const known = await unit.get(shares, shareId(workspace.id, partner_org_id));
  if (known !== undefined) return stepAndTell(services, unit, workspace, known, { kind: "offer", ...offer });
  if ((await unit.count(shares, "by_workspace", [workspace.id])) >= limits.replicas) {
    throw refusal("CONFLICT", `at most ${limits.replicas} organisations of other instances take part in a workspace`);
  }
  unit.insert(shares, shareId(workspace.id, partner_org_id), offerShare(offer, now));
  if (workspace.mode === "standard") {
    await sendDispatch(services, unit, { kind: "state", org_id, federation_id, workspace_id: workspace.id });
  }
}

/** Sends the invitations that waited for this federation. */
export async function offerWaiting(services: PartnerServices, unit: GatewayUnit, federation: StoredFederation): Promise<void> {
  for await (const invitation of every(services, invitations, "by_org", [federation.partner_org_id])) {
    if (invitationStatus(invitation, unit.call.now) !== "pending") continue;
    const workspace = await unit.get(workspaces, invitation.workspace_id);
    if (workspace?.org_id !== federation.org_id) continue;
    const known = await unit.get(shares, shareId(workspace.id, federation.partner_org_id));
    if (known?.invitation_id !== invitation.id) await offerOver(services, unit, workspace, invitation, federation);
  }
}
