import type { ReplicatedPolicy } from "@seneschal/contract/gateway";
import { followPolicies, type PolicyVersion, type Replica, refusal, retirePolicies, timestamp } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import type { GatewayUnit, Reader } from "../../ground/index.ts";
import { policies, requireCompiles } from "../../workspaces/index.ts";
import type { StoredFederation } from "../collections.ts";
import type { PartnerServices } from "../services.ts";

/** Where a policy of another instance stands here. Its owner chose the id: it is one within the workspace only. */
const placeOf = (workspace: string, policy: string): string => `${workspace}/${policy}`;

/** A replica's policy where it stands now, or where such policies stood before they had places of their own. */
async function standing(read: Reader, owner: string, workspace: string, id: string) {
  const known = await read.get(policies, placeOf(workspace, id));
  if (known !== undefined) return { place: placeOf(workspace, id), known };
  const before = await read.get(policies, id);
  return before?.org_id === owner && before.workspace_id === workspace ? { place: id, known: before } : undefined;
}

/**
 * Throws `POLICY_INVALID` naming the first policy of a workspace from elsewhere that does not compile, or may not be kept: asked before
 * anything is taken over, under the bounds of every policy, at the cost of the partner's own budget. What is known here was asked before.
 */
export async function requirePoliciesCompile(
  services: PartnerServices,
  { id: federation, partner_org_id: owner }: Pick<StoredFederation, "id" | "partner_org_id">,
  workspace: string,
  pushed: readonly ReplicatedPolicy[],
): Promise<void> {
  for (const { id, name, rego } of pushed) {
    if ((await standing(services.read, owner, workspace, id))?.known.rego === rego) continue;
    await requireCompiles(services, { name, rego, workspace }, `partner ${federation}`).catch((error: unknown) => {
      throw isCoded(error, "POLICY_INVALID")
        ? refusal("POLICY_INVALID", error.message, { ...error.details, policy_id: id })
        : error;
    });
  }
}

/**
 * Makes the policies of a workspace from elsewhere those that its owner names, and tells the log of each of `orgs`, which they bind; answers the versions of those that it took away so far.
 * Throws `STATE_CONFLICT` for a version that goes back or changes its text, also by way of having been taken away.
 */
export async function takePolicies(
  unit: GatewayUnit,
  owner: string,
  replica: Pick<Replica, "workspace_id" | "retired_policies">,
  pushed: readonly ReplicatedPolicy[],
  orgs: readonly string[],
): Promise<Readonly<Record<string, number>>> {
  const at = timestamp(unit.call.now);
  const { workspace_id: workspace, retired_policies: retired = {} } = replica;
  const bound = (await unit.list(policies, "by_workspace", [workspace])).filter(({ org_id }) => org_id === owner);
  const { changed, gone } = followPolicies(bound, retired, pushed);
  const record = (type: "policy.create" | "policy.update" | "policy.delete", { id, version }: PolicyVersion): void => {
    for (const org of orgs) unit.record({ type, org, workspace, metadata: { policy_id: id, version, owner_org_id: owner } });
  };
  await dropPolicies(unit, owner, workspace, gone);
  for (const policy of gone) record("policy.delete", policy);
  for (const policy of changed) {
    const found = await standing(unit, owner, workspace, policy.id);
    const known = found?.known;
    unit.put(policies, found?.place ?? placeOf(workspace, policy.id), {
      ...policy,
      org_id: owner,
      workspace_id: workspace,
      created_by: known?.created_by ?? unit.call.principal.id,
      created_at: known?.created_at ?? at,
      updated_at: at,
    });
    record(known === undefined ? "policy.create" : "policy.update", policy);
  }
  return retirePolicies(retired, gone);
}

/** Takes policies of a replica away. */
export async function dropPolicies(
  unit: GatewayUnit,
  owner: string,
  workspace: string,
  gone: readonly { readonly id: string }[],
): Promise<void> {
  for (const { id } of gone) {
    const found = await standing(unit, owner, workspace, id);
    if (found !== undefined) unit.delete(policies, found.place);
  }
}
