import { peerState } from "@seneschal/contract/gateway";
import { type Replica, stepInvitation } from "@seneschal/core/keys";
import { systemCall } from "../call.ts";
import { federationOf } from "../federation/find.ts";
import type { GatewayServices } from "../services.ts";
import { invitations } from "../workspaces/collections.ts";
import { applyState } from "./apply-state.ts";
import { replicaId, replicas } from "./collections.ts";
import { refusedOrLater, type Send } from "./delivery.ts";
import { endReplica } from "./end-replica.ts";

const PATH = "/api/v1/federation/peer/answer";

/** Brings the answer to an invitation to the owner's instance, and takes over the state that it replies with. */
export const sendAnswer: Send = async (services, { org_id, workspace_id }, federation, now) => {
  const id = replicaId(workspace_id, org_id);
  const replica = await services.read.get(replicas, id);
  if (replica === undefined || replica.stage === "offered" || replica.stage === "shared") return { kind: "done" };
  const { invitation_id, group_id } = replica;
  const body = { workspace_id, invitation_id, accept: replica.stage === "accepted", group_id };
  const answer = await services.channels.call(services.read, federation, { method: "POST", path: PATH, body });
  if (answer.status !== 200) {
    const outcome = refusedOrLater(answer);
    if (outcome.kind === "refused") await giveUp(services, replica, outcome.code, now);
    return outcome;
  }
  const state = peerState.safeParse(answer.body);
  if (!state.success || state.data.workspace_id !== workspace_id) {
    return { kind: "retry", detail: "the partner's reply cannot be read" };
  }
  await services.organizationKeys.ensureKek(org_id);
  await services.transact(systemCall("system:courier", org_id, now), async (unit) => {
    await applyState(services, unit, await federationOf(unit, federation.id), state.data);
  });
  return { kind: "done" };
};

/** The owner does not take the answer: there is nothing to be part of. */
async function giveUp(services: GatewayServices, { workspace_id, org_id }: Replica, code: string, now: number): Promise<void> {
  await services.transact(systemCall("system:courier", org_id, now), async (unit) => {
    const replica = await unit.get(replicas, replicaId(workspace_id, org_id));
    if (replica === undefined || replica.stage === "shared") return;
    const invitation = await unit.get(invitations, replica.invitation_id);
    if (invitation?.status === "accepted") {
      const status = code === "INVITATION_EXPIRED" ? "expire" : "revoke";
      unit.put(invitations, invitation.id, stepInvitation({ ...invitation, status: "pending" }, status, 0));
    }
    await endReplica(services, unit, replica, "refused");
  });
}
