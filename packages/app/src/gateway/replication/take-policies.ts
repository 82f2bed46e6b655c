import type { TravellingPolicy } from "@seneschal/contract/gateway";
import { refusal, timestamp } from "@seneschal/core/keys";
import type { GatewayUnit } from "../call.ts";
import { policies } from "../policies/collections.ts";

/**
 * Makes the policies of a workspace from elsewhere those that its owner names. Throws `CONFLICT` for an id that stands for something
 * else here, `STATE_CONFLICT` for a version that goes back or changes its text.
 */
export async function takePolicies(
  unit: GatewayUnit,
  owner: string,
  workspace: string,
  said: readonly TravellingPolicy[],
): Promise<void> {
  const at = timestamp(unit.call.now);
  const names = new Set(said.map(({ id }) => id));
  for (const { id } of await unit.list(policies, "by_workspace", [workspace])) {
    if (!names.has(id)) unit.delete(policies, id);
  }
  for (const policy of said) {
    const known = await unit.get(policies, policy.id);
    if (known !== undefined && (known.org_id !== owner || known.workspace_id !== workspace)) {
      throw refusal("CONFLICT", "a policy of that id exists", { policy_id: policy.id });
    }
    if (known !== undefined && known.version === policy.version && known.rego === policy.rego) continue;
    if (known !== undefined && known.version >= policy.version) {
      throw refusal("STATE_CONFLICT", "versions of policies do not go back", { policy_id: policy.id });
    }
    unit.put(policies, policy.id, {
      ...policy,
      org_id: owner,
      workspace_id: workspace,
      created_by: known?.created_by ?? unit.call.principal.id,
      created_at: known?.created_at ?? at,
      updated_at: at,
    });
  }
}
