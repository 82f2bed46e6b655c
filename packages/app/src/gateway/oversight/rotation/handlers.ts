import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  nextRotation,
  notFound,
  type RotationPolicy,
  requireRotationAge,
  requireWorkspace,
  timestamp,
  type Workspace,
} from "@seneschal/core/keys";
import type { PartnerServices } from "../../partners/index.ts";
import { findOwnWorkspace, findVisibleWorkspace, rotationPolicies, workspaces } from "../../workspaces/index.ts";

type Routes = Pick<GatewayContract, "listRotationPolicies" | "setRotationPolicy" | "getRotationPolicy" | "removeRotationPolicy">;

const HOUR = 3_600_000;

/** The age of a key is the key's own, never that of the last edit. */
function view(policy: RotationPolicy, workspace: Workspace) {
  return {
    ...policy,
    max_age: `${policy.max_age / HOUR}h`,
    last_rotated_at: workspace.dek_created_at,
    next_rotation_at: nextRotation(policy, workspace.dek_created_at),
  };
}

export const rotationPolicyHandlers: Handlers<Routes, PartnerServices> = {
  async listRotationPolicies({ read }, { principal, query }) {
    const { items, total } = await read.page(rotationPolicies, "by_org", [principal.org], query);
    const of = await Promise.all(items.map((policy) => read.get(workspaces, policy.workspace_id)));
    const policies = items.flatMap((policy, i) => {
      const workspace = of[i];
      return workspace === undefined ? [] : [view(policy, workspace)];
    });
    return { policies, count: policies.length, total };
  },

  async setRotationPolicy(services, { principal, params, body, now, requestId }) {
    requireRotationAge(body.max_age);
    return services.transact({ principal, now, requestId }, async (unit) => {
      const workspace = await findOwnWorkspace(unit, params.id, principal.org);
      requireWorkspace(workspace, "rotate", now);
      const known = await unit.get(rotationPolicies, workspace.id);
      const at = timestamp(now);
      const policy: RotationPolicy = {
        id: known?.id ?? services.newId(now),
        org_id: principal.org,
        workspace_id: workspace.id,
        max_age: body.max_age,
        enabled: body.enabled,
        created_at: known?.created_at ?? at,
        updated_at: at,
      };
      unit.put(rotationPolicies, workspace.id, policy);
      unit.record({
        type: "rotation.policy.set",
        workspace: workspace.id,
        metadata: { max_age_hours: policy.max_age / HOUR, enabled: policy.enabled },
      });
      return view(policy, workspace);
    });
  },

  async getRotationPolicy({ read }, { principal, params, now }) {
    const workspace = await findVisibleWorkspace(read, params.id, principal, now);
    const policy = await read.get(rotationPolicies, workspace.id);
    if (policy === undefined) throw notFound("rotation policy");
    return view(policy, workspace);
  },

  async removeRotationPolicy(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const workspace = await findOwnWorkspace(unit, params.id, principal.org);
      if ((await unit.get(rotationPolicies, workspace.id)) === undefined) throw notFound("rotation policy");
      unit.delete(rotationPolicies, workspace.id);
      unit.record({ type: "rotation.policy.remove", workspace: workspace.id });
    });
  },
};
