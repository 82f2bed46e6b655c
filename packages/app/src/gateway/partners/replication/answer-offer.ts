import type { Principal } from "@seneschal/contract";
import {
  answerOffer,
  invalidField,
  notFound,
  type OfferStep,
  type Replica,
  refusal,
  requireOpenOffer,
} from "@seneschal/core/keys";
import type { Call, GatewayUnit, SignedRequest } from "../../ground/index.ts";
import { groups } from "../../people/index.ts";
import { admitCaller, checkWorkspaceSignature, invitations } from "../../workspaces/index.ts";
import { receivedId, replicaId, replicas } from "../collections.ts";
import { federationOf } from "../federation/find.ts";
import type { PartnerServices } from "../services.ts";
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
    const { group_id } = request;
    const accepted = answerOffer(replica, invitation, { accept: true, group_id }, now);
    const facts = { id: workspace, crk_protected: replica.offer.crk_protected };
    await checkWorkspaceSignature(services, unit, facts, "workspace.accept", request);
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
  return queueDispatch(services, unit, { kind: "answer", org_id, federation_id, workspace_id });
}
