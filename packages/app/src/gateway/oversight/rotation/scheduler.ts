import { isRotationDue, type RotationPolicy, stepWorkspace, workspaceRefusal, workspaceStatus } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import { Lease } from "../../../platform/jobs/lease.ts";
import { systemCall } from "../../ground/index.ts";
import type { PartnerServices } from "../../partners/index.ts";
import { requireAllowedByPolicy, rotationPolicies, saveWorkspace, workspaces } from "../../workspaces/index.ts";

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
