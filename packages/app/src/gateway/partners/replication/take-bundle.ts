import { offerOf, type Replica, refusal, timestamp, type Workspace } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { type BundleContent, workspaces } from "../../workspaces/index.ts";
import { replicaId, replicas } from "../collections.ts";
import { findFederation } from "../federation/find.ts";
import type { PartnerServices } from "../services.ts";
import { applySharedWorkspace } from "./apply-shared-workspace.ts";

/**
 * Takes over a workspace of a federated partner from a bundle that was carried here and checked: the import is the acceptance. A later
 * bundle of the owner brings it up to date. `undefined`: the caller is not federated with the owner. Throws `CONFLICT` for one that is no newer than what is known.
 */
export async function takeBundle(
  services: PartnerServices,
  unit: GatewayUnit,
  content: BundleContent,
): Promise<Workspace | undefined> {
  const federation = await findFederation(unit, content.workspace.owner_org_id, unit.call.principal.org);
  if (federation?.status !== "active") return undefined;
  const { org_id, partner_org_id: owner_org_id, id: federation_id } = federation;
  const { workspace, policies, export_dek, exporter_org } = content;
  const deks = export_dek[org_id];
  if (exporter_org !== owner_org_id || deks === undefined) {
    throw refusal("BUNDLE_INVALID", "the bundle's recipient does not hold", { reason: "recipient" });
  }
  const existing = await unit.get(workspaces, workspace.id);
  const known = await unit.get(replicas, replicaId(workspace.id, org_id));
  if (existing !== undefined && (known === undefined || existing.revision >= workspace.revision)) {
    throw refusal("CONFLICT", "a workspace of that id exists", { id: workspace.id });
  }
  const at = timestamp(unit.call.now);
  const replica: Replica = known ?? {
    workspace_id: workspace.id,
    org_id,
    owner_org_id,
    federation_id,
    invitation_id: services.newId(unit.call.now),
    group_id: null,
    offer: offerOf(workspace),
    stage: "accepted" as const,
    sequence: 0,
    created_at: at,
    updated_at: at,
  };
  const { id: workspace_id } = workspace;
  const shared = { workspace, policies: [...policies], deks };
  const state = { workspace_id, sequence: replica.sequence, stage: "shared" as const, ...shared };
  await applySharedWorkspace(services, unit, federation, replica, state);
  const taken = await unit.get(workspaces, workspace_id);
  if (taken === undefined) throw new Error(`workspace ${workspace_id} was not taken over`);
  return taken;
}
