import type { PeerState } from "@seneschal/contract/gateway";
import { judgePush, type Replica, receiveOffer, refusal, repeatOffer } from "@seneschal/core/keys";
import { type GatewayUnit, isLocal } from "../../ground/index.ts";
import { invitations, workspaces } from "../../workspaces/index.ts";
import { replicaId, replicas, type StoredFederation } from "../collections.ts";
import { requireRoomForOffer } from "../federation/budgets.ts";
import type { PartnerServices } from "../services.ts";
import { applySharedWorkspace } from "./apply-shared-workspace.ts";
import { endReplica } from "./end-replica.ts";
import { requirePoliciesCompile } from "./take-policies.ts";

/**
 * Looks into what an owner's instance says before anything of it is taken over: policies are compiled here, outside of the transaction.
 * Throws `POLICY_INVALID`.
 */
export async function checkState(services: PartnerServices, federation: StoredFederation, state: PeerState): Promise<void> {
  if (state.stage !== "shared") return;
  const known = await services.read.get(replicas, replicaId(state.workspace_id, federation.org_id));
  if (known?.federation_id !== federation.id || state.sequence <= known.sequence) return;
  await requirePoliciesCompile(services, federation, state.workspace_id, state.policies);
}

/**
 * Takes over what the owner's instance says of a workspace, as far as it may say so: about its own workspaces, never backwards, and
 * nothing about a membership that nobody here accepted. Answers up to where is known now. Throws `FORBIDDEN`, `CONFLICT`,
 * `STATE_CONFLICT`; then nothing changed.
 */
export async function applyState(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: StoredFederation,
  state: PeerState,
): Promise<number> {
  const { workspace_id: id, sequence } = state;
  const { org_id: org, partner_org_id: owner } = federation;
  if (await isLocal(unit, owner)) {
    throw refusal("CONFLICT", "an organisation of that id lives on this instance", { owner_org_id: owner });
  }
  const replica = await unit.get(replicas, replicaId(id, org));
  // What is another partner's, or somebody's here, does not exist for this one: it learns no more than of an id that nobody has.
  const known = replica?.federation_id === federation.id ? replica : undefined;
  const existing = await unit.get(workspaces, id);
  const taken = (replica !== undefined && known === undefined) || (existing !== undefined && existing.org_id !== owner);
  const invitation_id = state.stage === "offered" ? { invitation_id: state.invitation.id } : {};
  switch (judgePush(known, { sequence, stage: state.stage, ...invitation_id })) {
    case "stale":
      return known?.sequence ?? sequence;
    case "end":
      if (known !== undefined) await endReplica(services, unit, known, "owner");
      return sequence;
    case "replace":
      if (known !== undefined) await endReplica(services, unit, known, "owner");
      await takeOffer(services, unit, federation, undefined, state);
      return sequence;
    case "offer":
      if (!taken) await takeOffer(services, unit, federation, known, state);
      return sequence;
    case "share":
      if (known !== undefined && state.stage === "shared") await applySharedWorkspace(services, unit, federation, known, state);
      return sequence;
  }
}

/** An invitation from elsewhere, which keeps its id if nothing here has it; or the one that is known, told again. */
async function takeOffer(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: StoredFederation,
  known: Replica | undefined,
  state: PeerState,
): Promise<void> {
  if (state.stage !== "offered") return;
  const { workspace_id, invitation } = state;
  const { id: federation_id, org_id, partner_org_id: owner_org_id } = federation;
  const { now } = unit.call;
  if (known !== undefined) {
    unit.put(replicas, replicaId(workspace_id, org_id), repeatOffer(known, state, now));
    return;
  }
  const free = (await unit.get(invitations, invitation.id)) === undefined;
  const facts = { id: free ? invitation.id : services.newId(now), lifetime: services.config.lifetimes.invitation };
  const received = receiveOffer({ federation_id, org_id, owner_org_id }, state, facts, now);
  if (received === undefined) return;
  await requireRoomForOffer(services, unit, federation);
  unit.insert(invitations, received.invitation.id, received.invitation);
  unit.put(replicas, replicaId(workspace_id, org_id), received.replica);
  unit.record(received.event);
}
