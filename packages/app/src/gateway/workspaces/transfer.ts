import { refusal, timestamp, type Workspace } from "@seneschal/core/keys";
import { base64 } from "../bytes.ts";
import type { GatewayUnit } from "../call.ts";
import { organizations } from "../organizations/collections.ts";
import { policies } from "../policies/collections.ts";
import type { GatewayServices } from "../services.ts";
import { type BundleContent, bundleBytes, bundleChecksum, checkBundle, openDeks, sealDeks } from "./bundle.ts";
import { seatId, seats, workspaces } from "./collections.ts";

/** Makes the signed bundle of a workspace. Without `withKeys` it holds no key. */
export async function exportBundle(services: GatewayServices, unit: GatewayUnit, workspace: Workspace, withKeys: boolean) {
  const { principal, now } = unit.call;
  const local: string[] = [];
  for (const { org_id } of workspace.participants) {
    if ((await unit.get(organizations, org_id)) !== undefined || org_id === principal.org) local.push(org_id);
  }
  const bundled = await unit.list(policies, "by_workspace", [workspace.id]);
  const { org_id: owner_org_id, ...rest } = workspace;
  const content: BundleContent = {
    format_version: 1,
    workspace: { ...rest, owner_org_id },
    policies: bundled.map(({ id, name, rego, version }) => ({ id, name, rego, version })),
    export_dek: withKeys ? await sealDeks(services, unit, workspace, local) : {},
    recipient_orgs: local,
    exported_at: timestamp(now),
    exported_by: principal.id,
    exporter_org: principal.org,
  };
  const checksum = bundleChecksum(services, content);
  const signature = base64(await services.organizationKeys.sign(unit, principal.org, bundleBytes(content, checksum)));
  return { ...content, checksum, signature };
}

/**
 * Brings a bundle in. The id stays; one that exists is a conflict. Every participant that lives on this instance gets its
 * seat, with the keys wrapped for it.
 */
export async function importBundle(
  services: GatewayServices,
  unit: GatewayUnit,
  content: BundleContent,
  checksum: string,
  signature: string | undefined,
): Promise<Workspace> {
  const { principal, now } = unit.call;
  await checkBundle(services, unit, content, checksum, signature);
  const { owner_org_id, ...rest } = content.workspace;
  const workspace: Workspace = { ...rest, org_id: owner_org_id, revision: rest.revision + 1, updated_at: timestamp(now) };
  if ((await unit.get(workspaces, workspace.id)) !== undefined) {
    throw refusal("CONFLICT", "a workspace of that id exists", { id: workspace.id });
  }
  const deks = await openDeks(services, unit, content);
  unit.insert(workspaces, workspace.id, workspace);
  for (const { org_id } of workspace.participants) {
    if (org_id !== principal.org && (await unit.get(organizations, org_id)) === undefined) continue;
    const wrapped: Record<string, string> = {};
    for (const [version, dek] of Object.entries(deks)) {
      wrapped[version] = await services.deks.wrap(dek, workspace.id, org_id, Number(version));
    }
    unit.insert(seats, seatId(workspace.id, org_id), {
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
