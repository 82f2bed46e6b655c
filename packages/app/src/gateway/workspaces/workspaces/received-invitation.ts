import { type Invitation, invitationStatus } from "@seneschal/core/keys";
import type { Reader } from "../../ground/store/reader.ts";
import { replicaId, replicas } from "../../partners/replication/collections.ts";
import { workspaces } from "./collections.ts";

/** An invitation as the invited organisation sees it: whose workspace it is to, and its name while that is known. */
export async function receivedInvitation(read: Reader, invitation: Invitation, now: number) {
  const { workspace_id, org_id } = invitation;
  const workspace = await read.get(workspaces, workspace_id);
  const replica = await read.get(replicas, replicaId(workspace_id, org_id));
  return {
    ...invitation,
    status: invitationStatus(invitation, now),
    owner_org_id: workspace?.org_id ?? replica?.owner_org_id ?? org_id,
    workspace_name: workspace?.name ?? replica?.offer.name ?? "",
  };
}
