import { refusal, timestamp, type Workspace } from "@seneschal/core/keys";
import { base64, type GatewayUnit, isLocal } from "../../ground/index.ts";
import { participationId, participations, policies, workspaces } from "../collections.ts";
import type { WorkspaceServices } from "../services.ts";
import { bundleBytes, bundleChecksum, checkBundle, openDeks } from "./bundle.ts";
import type { BundleContent } from "./bundle-content.ts";
import { replicatedPolicies, replicatedWorkspace, storedWorkspace } from "./replicated-state.ts";
import { type Recipient, sealKeys } from "./sealed-keys.ts";

/** Makes the signed bundle of a workspace. Without `withKeys` it holds no key. */
export async function exportBundle(services: WorkspaceServices, unit: GatewayUnit, workspace: Workspace, withKeys: boolean) {
  const { principal, now } = unit.call;
  const recipients = await recipientsOf(services, unit, workspace);
  const content: BundleContent = {
    format_version: 1,
    workspace: replicatedWorkspace(workspace),
    policies: await replicatedPolicies(unit, workspace.id),
    export_dek: withKeys ? await sealKeys(services, unit, workspace, principal.org, recipients) : {},
    recipient_orgs: recipients.map(({ org }) => org),
    exported_at: timestamp(now),
    exported_by: principal.id,
    exporter_org: principal.org,
  };
  const checksum = bundleChecksum(services, content);
  const signature = base64(await services.organizationKeys.sign(unit, principal.org, bundleBytes(content, checksum)));
  return { ...content, checksum, signature };
}

/** The participants whose keys are known: those of this instance, and those with which the exporter is federated. */
async function recipientsOf(
  services: WorkspaceServices,
  unit: GatewayUnit,
  { participants }: Workspace,
): Promise<readonly Recipient[]> {
  const { org: own } = unit.call.principal;
  const recipients: Recipient[] = [];
  for (const { org_id: org } of participants) {
    const here = org === own || (await isLocal(unit, org));
    const keys = here ? await services.organizationKeys.publicKeys(unit, org) : await services.replication.keysOf(unit, org, own);
    if (keys !== undefined) recipients.push({ org, exchange: keys.exchange });
  }
  return recipients;
}

/**
 * Brings a bundle in. The id stays; one that exists is a conflict. Every participant that lives on this instance gets its
 * participation, with the keys wrapped for it. A workspace whose owner lives elsewhere and is federated becomes a replica.
 */
export async function importBundle(
  services: WorkspaceServices,
  unit: GatewayUnit,
  content: BundleContent,
  checksum: string,
  signature: string | undefined,
): Promise<Workspace> {
  const { principal, now } = unit.call;
  await checkBundle(services, unit, content, checksum, signature);
  const owner = content.workspace.owner_org_id;
  const here = owner === principal.org || (await isLocal(unit, owner));
  const taken = here ? undefined : await services.replication.takeBundle(services, unit, content);
  if (taken !== undefined) return taken;
  const before = storedWorkspace(content.workspace);
  const workspace: Workspace = { ...before, revision: before.revision + 1, updated_at: timestamp(now) };
  if ((await unit.get(workspaces, workspace.id)) !== undefined) {
    throw refusal("CONFLICT", "a workspace of that id exists", { id: workspace.id });
  }
  const deks = await openDeks(services, unit, content);
  unit.insert(workspaces, workspace.id, workspace);
  for (const { org_id } of workspace.participants) {
    if (org_id !== principal.org && !(await isLocal(unit, org_id))) continue;
    const wrapped: Record<string, string> = {};
    for (const [version, dek] of Object.entries(deks)) {
      wrapped[version] = await services.deks.wrap(dek, workspace.id, org_id, Number(version));
    }
    unit.insert(participations, participationId(workspace.id, org_id), {
      workspace_id: workspace.id,
      org_id,
      group_id: workspace.group_bindings[org_id] ?? null,
      created_at: workspace.created_at,
      deks: wrapped,
    });
  }
  for (const dek of Object.values(deks)) dek.fill(0);
  for (const policy of content.policies) {
    if ((await unit.get(policies, policy.id)) !== undefined)
      throw refusal("CONFLICT", "a policy of that id exists", { id: policy.id });
    unit.insert(policies, policy.id, {
      ...policy,
      org_id: principal.org,
      workspace_id: workspace.id,
      created_by: principal.id,
      created_at: timestamp(now),
      updated_at: timestamp(now),
    });
  }
  return workspace;
}
