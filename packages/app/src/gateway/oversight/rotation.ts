import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  isRotationDue,
  nextRotation,
  notFound,
  type RotationPolicy,
  requireRotationAge,
  requireWorkspace,
  stepWorkspace,
  timestamp,
  type Workspace,
  workspaceRefusal,
  workspaceStatus,
} from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import { Lease } from "../../platform/jobs/lease.ts";
import { systemCall } from "../ground/index.ts";
import type { PartnerServices } from "../partners/index.ts";
import {
  findOwnWorkspace,
  findVisibleWorkspace,
  requireAllowedByPolicy,
  rotationPolicies,
  saveWorkspace,
  workspaces,
} from "../workspaces/index.ts";

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

/** Rotates data keys that grew older than their policy allows. */
export interface RotationScheduler {
  /** One scan; answers how many keys were rotated. Nothing while another process holds the lease. `now` in milliseconds. */
  run(now: number): Promise<number>;
  /** Gives the lease back, so that another process need not wait for it. */
  release(): Promise<void>;
}

const PAGE = 200;
const LEASE_MS = 300_000;

/**
 * A scheduler over the stored policies. It keeps no state of its own: what is due follows from the age of the keys, so that time
 * spent switched off is made up for by the next scan, with one rotation. The lease spares several processes the same work;
 * that no key is rotated twice rests on the transaction, which judges the age again.
 */
export function rotationScheduler(services: PartnerServices): RotationScheduler {
  const randomId = (): string => Buffer.from(services.nonces(16)).toString("hex");
  const lease = new Lease(services.store, "rotation", randomId(), LEASE_MS);
  let running: Promise<number> | undefined;

  const scan = async (now: number): Promise<number> => {
    if (!(await lease.hold(now, randomId()))) return 0;
    let rotated = 0;
    let cursor: string | undefined;
    do {
      const page = await services.store.list(rotationPolicies.name, "enabled", [], {
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const { doc } of page.items) {
        if (await attempt(services, doc as unknown as RotationPolicy, now)) rotated += 1;
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
    return rotated;
  };

  return {
    run(now) {
      running ??= scan(now).finally(() => {
        running = undefined;
      });
      return running;
    },
    async release() {
      await running?.catch(() => undefined);
      await lease.release(randomId());
    },
  };
}

/** One workspace's failure is no other's: it is logged and tried again with the next scan. */
async function attempt(services: PartnerServices, policy: RotationPolicy, now: number): Promise<boolean> {
  try {
    return await rotateIfDue(services, policy, now);
  } catch (error) {
    const denied = isCoded(error, "POLICY_VIOLATION");
    services.metrics.operation("rotate", denied ? "denied" : "error");
    services.log.warn({ error, workspace: policy.workspace_id }, "a data key was not rotated");
    if (denied) {
      await services.transact(systemCall("system:rotation", policy.org_id, now), async (unit) => {
        unit.record({
          type: "policy.violation",
          workspace: policy.workspace_id,
          result: "denied",
          metadata: { operation: "rotate", reason: error.message },
        });
      });
    }
    return false;
  }
}

async function rotateIfDue(services: PartnerServices, { workspace_id, org_id }: RotationPolicy, now: number): Promise<boolean> {
  const rotated = await services.transact(systemCall("system:rotation", org_id, now), async (unit) => {
    const policy = await unit.get(rotationPolicies, workspace_id);
    const workspace = await unit.get(workspaces, workspace_id);
    if (policy === undefined || workspace === undefined) return false;
    if (workspaceRefusal(workspaceStatus(workspace, now), "rotate") !== undefined) return false;
    if (!isRotationDue(policy, workspace.dek_created_at, now)) return false;
    await requireAllowedByPolicy(services, unit, workspace, "rotate");
    const step = stepWorkspace(workspace, { kind: "rotate" }, now);
    const { state } = step;
    await saveWorkspace(services, unit, step);
    unit.record({ type: "key.rotate", workspace: state.id, metadata: { version: state.dek_version, policy_id: policy.id } });
    return true;
  });
  if (rotated) services.metrics.operation("rotate", "success");
  return rotated;
}
