import { invitationStatus, joinByInvitation, type Workspace } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { invitations, saveWorkspace, type WorkspaceReplication } from "../../workspaces/index.ts";
import { replicaId, replicas } from "../collections.ts";
import { federatedKeys } from "../federation/identity.ts";
import type { PartnerServices } from "../services.ts";
import { consenting, consentToDeletion } from "./deletion-consent.ts";
import { announce, shareOf, stepAndTell } from "./dispatch.ts";
import { followed, requireFollowed } from "./followers.ts";
import { acceptOffer, declineOffer, hasOffer, offerToPartner } from "./offer.ts";
import { takeBundle } from "./replica.ts";

/**
 * Lets the partners that were invited to an air-gapped workspace of the caller's organisation take part: a bundle with its keys is about
 * to be carried to them, and whoever holds the keys counts as a participant. Answers the workspace as it is then.
 */
async function handOver(services: PartnerServices, unit: GatewayUnit, workspace: Workspace): Promise<Workspace> {
  const { principal, now } = unit.call;
  if (workspace.mode !== "airgap" || workspace.org_id !== principal.org || workspace.status !== "active") return workspace;
  let current = workspace;
  for (const invitation of await unit.list(invitations, "pending", [workspace.id])) {
    const { org_id: partner } = invitation;
    const share = await shareOf(unit, workspace.id, partner);
    const known = (await federatedKeys(unit, partner, principal.org)) !== undefined;
    if (share?.stage !== "offered" || !known || invitationStatus(invitation, now) !== "pending") continue;
    const joined = joinByInvitation(current, invitation, null, now);
    unit.put(invitations, joined.invitation.id, joined.invitation);
    await saveWorkspace(services, unit, joined.step);
    current = joined.step.state;
    unit.record(joined.event);
  }
  return current;
}

/** What this floor does for the workspaces below it. */
export const workspaceReplication: WorkspaceReplication<PartnerServices> = {
  announce,
  shareOf,
  stepAndTell,
  hasOffer,
  acceptOffer,
  declineOffer,
  consentToDeletion,
  consenting,
  followed,
  handOver,
  requireFollowed,
  takeBundle,
  keysOf: federatedKeys,
  offer: offerToPartner,
  replicaOf: (read, workspace, org) => read.get(replicas, replicaId(workspace, org)),
};
