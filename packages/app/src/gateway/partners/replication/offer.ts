import type { Principal } from "@seneschal/contract";
import {
  answerOffer,
  type Federation,
  type Invitation,
  invalidField,
  invitationStatus,
  limits,
  notFound,
  type OfferStep,
  offerShare,
  type Replica,
  refusal,
  requireOpenOffer,
  type Workspace,
} from "@seneschal/core/keys";
import { type Call, every, type GatewayUnit, isLocal, type SignatureClaim } from "../../ground/index.ts";
import { groups } from "../../people/index.ts";
import { admitCaller, checkWorkspaceSignature, invitations, workspaces } from "../../workspaces/index.ts";
import { receivedId, replicaId, replicas, shareId, shares } from "../collections.ts";
import { federationOf, findFederation } from "../federation/find.ts";
import type { PartnerServices } from "../services.ts";
import { deliverDispatch, putDispatch, sendDispatch, stepAndTell } from "./dispatch.ts";

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
  { id: federation_id, org_id, partner_org_id }: Federation,
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
export async function offerWaiting(services: PartnerServices, unit: GatewayUnit, federation: Federation): Promise<void> {
  for await (const invitation of every(services, invitations, "by_org", [federation.partner_org_id])) {
    if (invitationStatus(invitation, unit.call.now) !== "pending") continue;
    const workspace = await unit.get(workspaces, invitation.workspace_id);
    if (workspace?.org_id !== federation.org_id) continue;
    const known = await unit.get(shares, shareId(workspace.id, federation.partner_org_id));
    if (known?.invitation_id !== invitation.id) await offerOver(services, unit, workspace, invitation, federation);
  }
}

/** Whether an invitation of another instance is known for the organisation and workspace. */
export async function hasOffer(services: PartnerServices, workspace: string, { org }: Principal): Promise<boolean> {
  return (await services.read.get(replicas, replicaId(workspace, org))) !== undefined;
}

/**
 * Accepts an invitation from another instance. The acceptance stands here at once; the workspace comes with the owner's reply, which
 * is waited for once. An owner that cannot be reached is asked again later; one that refuses (it revoked the invitation meanwhile)
 * takes the acceptance back, and the refusal is thrown.
 */
export async function acceptOffer(
  services: PartnerServices,
  call: Call,
  claim: SignatureClaim,
  group_id: string | null,
): Promise<void> {
  const { principal, now } = call;
  const workspace = claim.resourceId;
  const id = await services.transact(call, async (unit) => {
    const replica = await openOffer(unit, workspace, principal.org);
    const invitation = await unit.get(invitations, receivedId(replica));
    if (invitation === undefined) throw notFound("workspace");
    const accepted = answerOffer(replica, invitation, { accept: true, group_id }, now);
    await checkWorkspaceSignature(services, unit, replica.offer, claim);
    if (group_id !== null && (await unit.get(groups, group_id))?.org_id !== principal.org) {
      throw invalidField("group_id", "no such group");
    }
    await admitCaller(services, unit, workspace);
    return keepAnswer(services, unit, accepted);
  });
  const outcome = await deliverDispatch(services, id, now);
  if (outcome.kind === "refused") {
    throw refusal(
      outcome.code === "INVITATION_EXPIRED" ? "INVITATION_EXPIRED" : "STATE_CONFLICT",
      "the owner's instance refuses",
      {
        code: outcome.code,
      },
    );
  }
}

/** Declines an invitation from another instance; the owner is told as soon as it can be reached. */
export async function declineOffer(services: PartnerServices, call: Call, workspace: string): Promise<void> {
  const { principal, now } = call;
  const id = await services.transact(call, async (unit) => {
    const replica = await openOffer(unit, workspace, principal.org);
    const invitation = await unit.get(invitations, receivedId(replica));
    if (invitation === undefined) throw notFound("workspace");
    return keepAnswer(services, unit, answerOffer(replica, invitation, { accept: false }, now));
  });
  await deliverDispatch(services, id, now);
}

/** The offer that still waits for an answer, of a federation that is active. */
async function openOffer(unit: GatewayUnit, workspace: string, org: string): Promise<Replica> {
  const replica = await unit.get(replicas, replicaId(workspace, org));
  if (replica === undefined) throw notFound("workspace");
  requireOpenOffer(replica);
  await federationOf(unit, replica.federation_id);
  return replica;
}

/** The answer stands here, and is on its way to the owner. */
function keepAnswer(services: PartnerServices, unit: GatewayUnit, { invitation, replica, event }: OfferStep): Promise<string> {
  const { org_id, federation_id, workspace_id } = replica;
  unit.put(invitations, invitation.id, invitation);
  unit.put(replicas, replicaId(workspace_id, org_id), replica);
  unit.record(event);
  return putDispatch(services, unit, { kind: "answer", org_id, federation_id, workspace_id });
}
