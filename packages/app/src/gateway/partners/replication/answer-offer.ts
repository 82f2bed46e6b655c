import type { Principal } from "@seneschal/contract";
import { invalidField, notFound, type Replica, refusal, stepInvitation, timestamp } from "@seneschal/core/keys";
import type { Call, GatewayUnit, SignedRequest } from "../../ground/index.ts";
import { groups } from "../../people/index.ts";
import { admitCaller, checkWorkspaceSignature, invitations } from "../../workspaces/index.ts";
import { federationOf } from "../federation/find.ts";
import type { PartnerServices } from "../services.ts";
import { receivedId, replicaId, replicas } from "./collections.ts";
import { deliverDispatch } from "./deliver-dispatch.ts";
import { queueDispatch } from "./queue-dispatch.ts";

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
  workspace: string,
  request: SignedRequest & { readonly group_id: string | null },
): Promise<void> {
  const { principal, now } = call;
  const id = await services.transact(call, async (unit) => {
    const replica = await openOffer(unit, workspace, principal.org);
    const invitation = await unit.get(invitations, receivedId(replica));
    if (invitation === undefined) throw notFound("workspace");
    const accepted = stepInvitation(invitation, "accept", now);
    const facts = { id: workspace, crk_protected: replica.offer.crk_protected };
    await checkWorkspaceSignature(services, unit, facts, "workspace.accept", request);
    const { group_id } = request;
    if (group_id !== null && (await unit.get(groups, group_id))?.org_id !== principal.org) {
      throw invalidField("group_id", "no such group");
    }
    unit.put(invitations, invitation.id, accepted);
    const next: Replica = { ...replica, stage: "accepted", group_id, updated_at: timestamp(now) };
    unit.put(replicas, replicaId(workspace, principal.org), next);
    await admitCaller(services, unit, workspace);
    const metadata = { org_id: principal.org, owner_org_id: replica.owner_org_id, invitation_id: invitation.id };
    unit.record({ type: "workspace.invite.accept", workspace, metadata });
    return queueAnswer(services, unit, next);
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
    unit.put(invitations, invitation.id, stepInvitation(invitation, "decline", now));
    const next: Replica = { ...replica, stage: "declined", updated_at: timestamp(now) };
    unit.put(replicas, replicaId(workspace, principal.org), next);
    unit.record({ type: "workspace.invite.decline", workspace, metadata: { invitation_id: invitation.id } });
    return queueAnswer(services, unit, next);
  });
  await deliverDispatch(services, id, now);
}

/** The offer that still waits for an answer, of a federation that is active. */
async function openOffer(unit: GatewayUnit, workspace: string, org: string): Promise<Replica> {
  const replica = await unit.get(replicas, replicaId(workspace, org));
  if (replica === undefined || replica.stage === "declined") throw notFound("workspace");
  if (replica.stage !== "offered") throw refusal("CONFLICT", "the organisation already takes part");
  await federationOf(unit, replica.federation_id);
  return replica;
}

function queueAnswer(services: PartnerServices, unit: GatewayUnit, replica: Replica): Promise<string> {
  const { org_id, federation_id, workspace_id } = replica;
  return queueDispatch(services, unit, { kind: "answer", org_id, federation_id, workspace_id });
}
