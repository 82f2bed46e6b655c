import { type Invitation, invitationStatus } from "@seneschal/core/keys";
import { workspaces } from "../collections.ts";
import type { WorkspaceServices } from "../services.ts";

/** An invitation as the invited organisation sees it: whose workspace it is to, and its name while that is known. */
export async function receivedInvitation({ read, replication }: WorkspaceServices, invitation: Invitation, now: number) {
  const { workspace_id, org_id } = invitation;
  const workspace = await read.get(workspaces, workspace_id);
  const replica = await replication.replicaOf(read, workspace_id, org_id);
  return {
    ...invitation,
    status: invitationStatus(invitation, now),
    owner_org_id: workspace?.org_id ?? replica?.owner_org_id ?? org_id,
    workspace_name: workspace?.name ?? replica?.offer.name ?? "",
  };
}
