import { gatewayContract } from "@seneschal/contract/gateway";
import { type Replica, stepInvitation } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import { systemCall } from "../../ground/index.ts";
import { invitations } from "../../workspaces/index.ts";
import { receivedId, replicaId, replicas } from "../collections.ts";
import { federationOf } from "../federation/find.ts";
import type { PartnerServices } from "../services.ts";
import { applyState, checkState } from "./apply-state.ts";
import { refusedOrLater, type Send } from "./delivery.ts";
import { endReplica } from "./end-replica.ts";

/**
 * Brings the answer to an invitation to the owner's instance, and takes over the state that it replies with. A reply that is refused here
 * is asked for again: it may have been overtaken.
 */
export const sendAnswer: Send = async (services, dispatch, federation, now) => {
  const { org_id, workspace_id } = dispatch;
  const replica = await services.read.get(replicas, replicaId(workspace_id, org_id));
  if (replica === undefined || replica.stage === "offered" || replica.stage === "shared") return { kind: "done" };
  const { invitation_id, group_id } = replica;
  const body = { workspace_id, invitation_id, accept: replica.stage === "accepted", group_id };
  const route = gatewayContract.peerAnswer;
  const answer = await services.channels.call(services.read, federation, { route, body });
  if (answer.status !== route.status) {
    const outcome = refusedOrLater(answer);
    if (outcome.kind === "refused") await giveUpAnswer(services, dispatch, outcome.code, now);
    return outcome;
  }
  const state = answer.body;
  if (state === undefined || state.workspace_id !== workspace_id) {
    return { kind: "retry", detail: "the partner's reply cannot be read" };
  }
  try {
    await services.organizationKeys.ensureKek(org_id);
    await checkState(services, federation, state);
    await services.transact(systemCall("system:outbox", org_id, now), async (unit) => {
      await applyState(services, unit, await federationOf(unit, federation.id), state);
    });
    return { kind: "done" };
  } catch (error) {
    if (!isCoded(error) || error.code.toUpperCase() !== error.code || error.code.endsWith("_UNAVAILABLE")) throw error;
    await services.refusals.note(services, federation, "answer", error.code, { workspace_id, detail: error.message });
    return { kind: "retry", detail: `the partner's reply was refused: ${error.code}` };
  }
};

/** The owner does not take the answer: there is nothing to be part of. */
export async function giveUpAnswer(
  services: PartnerServices,
  { workspace_id, org_id }: Pick<Replica, "workspace_id" | "org_id">,
  code: string,
  now: number,
): Promise<void> {
  await services.transact(systemCall("system:outbox", org_id, now), async (unit) => {
    const replica = await unit.get(replicas, replicaId(workspace_id, org_id));
    if (replica === undefined || replica.stage === "shared") return;
    const invitation = await unit.get(invitations, receivedId(replica));
    if (invitation?.status === "accepted") {
      const status = code === "INVITATION_EXPIRED" ? "expire" : "revoke";
      unit.put(invitations, invitation.id, stepInvitation({ ...invitation, status: "pending" }, status, 0));
    }
    await endReplica(services, unit, replica, "refused");
  });
}
