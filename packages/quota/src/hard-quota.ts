import { checkArgument } from "@seneschal/kernel";
import { type Rejection, reject } from "./errors.ts";
import { contribution, holdingOf, lineage, userHoldingOf } from "./state/holdings.ts";
import type { QuotaState } from "./state/state.ts";

/** What a command would add to what is held. */
export interface Demand {
  readonly tenant: string;
  readonly user: string;
  readonly nodes: number;
  readonly allocations: number;
  /** Nodes that would come under a sensitive claim. */
  readonly sensitive: number;
  readonly gpus: Readonly<Record<string, number>>;
}

/**
 * The hard quotas in their fixed order: max_nodes, max_concurrent_allocations, sensitive_pool_size, then those beyond the
 * specification (max_gpus by flavour, caps per user). The first that `current + requested > limit` breaks is reported.
 * The tenant's ancestors are judged with it, nearest first; a child's guaranteed nodes count against its ancestors whether
 * it uses them or not.
 */
export function checkQuotas(state: QuotaState, demand: Demand): Rejection | undefined {
  checkArgument("state", state, "object");
  checkArgument("demand", demand, "object");
  let requested = demand.nodes;
  for (const level of lineage(state, demand.tenant)) {
    if (requested === 0) break;
    const { reserved } = holdingOf(state, level.id);
    const limit = level.maxNodes + (level.parent === null ? 0 : level.borrowingLimit);
    if (reserved + requested > limit) return exceeded(demand, level.id, "max_nodes", reserved, requested, limit);
    requested = contribution(level, reserved + requested) - contribution(level, reserved);
  }
  for (const level of demand.allocations === 0 ? [] : lineage(state, demand.tenant)) {
    const { allocations } = holdingOf(state, level.id);
    const limit = level.maxConcurrentAllocations;
    if (limit !== null && allocations + demand.allocations > limit)
      return exceeded(demand, level.id, "max_concurrent_allocations", allocations, demand.allocations, limit);
  }
  const pool = state.system.sensitivePoolSize;
  if (demand.sensitive > 0 && state.claimed + demand.sensitive > pool)
    return exceeded(demand, demand.tenant, "sensitive_pool_size", state.claimed, demand.sensitive, pool);
  for (const type of Object.keys(demand.gpus).sort()) {
    const gpus = demand.gpus[type] as number;
    for (const level of lineage(state, demand.tenant)) {
      const limit = Object.hasOwn(level.maxGpus, type) ? level.maxGpus[type] : undefined;
      const current = holdingOf(state, level.id).gpus[type] ?? 0;
      if (limit !== undefined && current + gpus > limit)
        return exceeded(demand, level.id, `max_gpus.${type}`, current, gpus, limit);
    }
  }
  const tenant = state.tenants.get(demand.tenant);
  const mine = userHoldingOf(state, demand.user, demand.tenant);
  const [nodeCap, allocationCap] = [tenant?.userMaxNodes ?? null, tenant?.userMaxConcurrentAllocations ?? null];
  if (nodeCap !== null && demand.nodes > 0 && mine.nodes + demand.nodes > nodeCap)
    return exceeded(demand, demand.tenant, "user_max_nodes", mine.nodes, demand.nodes, nodeCap);
  if (allocationCap !== null && demand.allocations > 0 && mine.allocations + demand.allocations > allocationCap)
    return exceeded(
      demand,
      demand.tenant,
      "user_max_concurrent_allocations",
      mine.allocations,
      demand.allocations,
      allocationCap,
    );
  return undefined;
}

const WAIT = "wait for running allocations to finish or contact the tenant admin";

/** The rejection text and fields of the specification, word for word. */
function exceeded(demand: Demand, tenant: string, quota: string, current: number, requested: number, limit: number): Rejection {
  const text = `allocation rejected: tenant ${tenant} would exceed ${quota} quota (current: ${current}, requested: ${requested}, limit: ${limit})`;
  const reduced = current > limit ? `; current usage ${current}, new limit ${limit}: ${WAIT}` : "";
  const never = requested > limit;
  return reject("quota_exceeded", text + reduced, {
    tenant,
    quota,
    current,
    requested,
    limit,
    hint: never ? "the request alone exceeds the limit: it can never fit" : WAIT,
    retriable: !never,
    ...(tenant === demand.tenant ? {} : { requested_by: demand.tenant }),
  });
}
