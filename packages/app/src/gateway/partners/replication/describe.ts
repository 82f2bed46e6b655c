import type { PeerState } from "@seneschal/contract/gateway";
import { offerOf, type Share } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { invitations, replicatedPolicies, replicatedWorkspace, sealKeys, workspaces } from "../../workspaces/index.ts";
import { federations } from "../collections.ts";
import { keysOfPartner } from "../federation/certified-keys.ts";
import type { PartnerServices } from "../services.ts";

/**
 * The state that a share stands for now, with the keys that its partner did not confirm yet. The number is the share's, read before everything else: what is told under it is never older
 * than it. `undefined` when there is nothing to tell: the workspace is air-gapped, or the partner's certificate vouches for no keys.
 */
export async function describeShare(services: PartnerServices, unit: GatewayUnit, share: Share): Promise<PeerState | undefined> {
  const { workspace_id, sequence } = share;
  const ended: PeerState = { workspace_id, sequence, stage: "ended" };
  if (share.stage === "ended") return ended;
  const workspace = await unit.get(workspaces, workspace_id);
  if (workspace === undefined) return ended;
  if (workspace.mode === "airgap") return undefined;
  if (share.stage === "offered") {
    const invitation = await unit.get(invitations, share.invitation_id);
    if (invitation === undefined) return ended;
    const { id, invited_by, created_at, expires_at } = invitation;
    const offer = { id, invited_by, created_at, expires_at };
    return { workspace_id, sequence, stage: "offered", invitation: offer, workspace: offerOf(workspace) };
  }
  const federation = await unit.get(federations, share.federation_id);
  const keys = federation === undefined ? undefined : keysOfPartner(federation);
  if (keys === undefined) return undefined;
  const recipient = { org: share.partner_org_id, exchange: keys.exchange };
  const sealed = await sealKeys(services, unit, workspace, share.org_id, [recipient], share.follower?.dek_version);
  const policies = await replicatedPolicies(unit, workspace_id);
  const deks = sealed[recipient.org] ?? "";
  return { workspace_id, sequence, stage: "shared", workspace: replicatedWorkspace(workspace), policies, deks };
}
