import type { PeerState } from "@seneschal/contract/gateway";
import { type Invitation, judgePush, type Replica, refusal, timestamp } from "@seneschal/core/keys";
import type { GatewayUnit } from "../call.ts";
import type { StoredFederation } from "../federation/collections.ts";
import { isLocal } from "../organizations/is-local.ts";
import type { GatewayServices } from "../services.ts";
import { invitations, workspaces } from "../workspaces/collections.ts";
import { replicaId, replicas } from "./collections.ts";
import { endReplica } from "./end-replica.ts";
import { takeShare } from "./take-share.ts";

/**
 * Takes over what the owner's instance says of a workspace, as far as it may say so: about its own workspaces, never backwards, and
 * nothing about a membership that nobody here accepted. Answers up to where is known now. Throws `FORBIDDEN`, `CONFLICT`,
 * `STATE_CONFLICT`; then nothing changed.
 */
export async function applyState(
  services: GatewayServices,
  unit: GatewayUnit,
  federation: StoredFederation,
  state: PeerState,
): Promise<number> {
  const { workspace_id: id, sequence } = state;
  const { org_id: org, partner_org_id: owner } = federation;
  if (await isLocal(unit, owner)) {
    throw refusal("CONFLICT", "an organisation of that id lives on this instance", { owner_org_id: owner });
  }
  const known = await unit.get(replicas, replicaId(id, org));
  if (known !== undefined && known.federation_id !== federation.id) {
    throw refusal("FORBIDDEN", "the workspace is another partner's", { workspace_id: id });
  }
  const existing = await unit.get(workspaces, id);
  if (existing !== undefined && existing.org_id !== owner) {
    throw refusal("CONFLICT", "a workspace of that id exists", { workspace_id: id });
  }
  const invitation_id = state.stage === "offered" ? { invitation_id: state.invitation.id } : {};
  switch (judgePush(known, { sequence, stage: state.stage, ...invitation_id })) {
    case "stale":
      return known?.sequence ?? sequence;
    case "end":
      if (known !== undefined) await endReplica(services, unit, known, "owner");
      return sequence;
    case "replace":
      if (known !== undefined) await endReplica(services, unit, known, "owner");
      await takeOffer(unit, federation, undefined, state);
      return sequence;
    case "offer":
      await takeOffer(unit, federation, known, state);
      return sequence;
    case "share":
      if (known !== undefined && state.stage === "shared") await takeShare(services, unit, federation, known, state);
      return sequence;
  }
}

/** An invitation from elsewhere; told again, only what it says of the workspace may have changed. */
async function takeOffer(
  unit: GatewayUnit,
  federation: StoredFederation,
  known: Replica | undefined,
  state: PeerState,
): Promise<void> {
  if (state.stage !== "offered") return;
  const { workspace_id, sequence, workspace: offer, invitation } = state;
  const { id: federation_id, org_id: org, partner_org_id: owner_org_id } = federation;
  const at = timestamp(unit.call.now);
  if (known !== undefined) {
    unit.put(replicas, replicaId(workspace_id, org), { ...known, offer, sequence, updated_at: at });
    return;
  }
  const { id, invited_by, created_at, expires_at } = invitation;
  if ((await unit.get(invitations, id)) !== undefined) {
    throw refusal("CONFLICT", "an invitation of that id exists", { invitation_id: id });
  }
  const received: Invitation = {
    ...{ id, workspace_id, org_id: org, invited_by, status: "pending", created_at, updated_at: at },
    ...{ expires_at, responded_at: null },
  };
  unit.insert(invitations, id, received);
  unit.put(replicas, replicaId(workspace_id, org), {
    ...{ workspace_id, org_id: org, owner_org_id, federation_id, invitation_id: id, group_id: null, offer },
    ...{ stage: "offered" as const, sequence, created_at: at, updated_at: at },
  });
  const metadata = { org_id: org, owner_org_id, invitation_id: id };
  unit.record({ type: "workspace.invite", org, workspace: workspace_id, metadata });
}
