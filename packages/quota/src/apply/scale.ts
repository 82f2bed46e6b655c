import type { GrowAllocation, ScaleAllocation } from "../command.ts";
import { isRejection, type Rejection, reject } from "../errors.ts";
import { checkQuotas } from "../hard-quota.ts";
import { type Allocation, isSensitive, isTerminal } from "../state/allocation.ts";
import type { ComputeNode } from "../state/node.ts";
import { findNodes, gpusOf } from "./assign.ts";
import { type Held, keepAllocation, resizeAllocation } from "./keep-allocation.ts";
import { claim } from "./node.ts";
import { sortKeys, staleVersion } from "./tenant.ts";
import { type Handled, tell, type Work } from "./work.ts";

/** Reactive work asks for another size. Smaller is so at once; larger comes with the next cycle that has nodes and quota for it. */
export function scaleAllocation(work: Work, command: ScaleAllocation): Handled {
  const before = work.draft.allocations.get(command.allocation);
  if (before === undefined) return unknown(command.allocation);
  const stale = staleVersion("allocation", before.id, command.ifVersion, before.version);
  if (stale !== undefined) return stale;
  if (before.lifecycle !== "reactive" || isTerminal(before.state)) return cannotScale(before);
  const { nodes } = command;
  if (!Number.isSafeInteger(nodes) || nodes < before.minNodes || nodes > before.nodes)
    return reject("invalid_argument", `nodes must be an integer from ${before.minNodes} to ${before.nodes}`, { field: "nodes" });
  const asked: Allocation = { ...before, desiredNodes: nodes };
  const shrinks = (before.state === "running" || before.state === "staging") && before.assigned.length > nodes;
  const after = shrinks ? resizeAllocation(work, asked, firstOf(work, before, nodes)) : { ...asked, version: before.version + 1 };
  if (!shrinks) keepAllocation(work, before, after);
  tell(work, "allocation.scaled", before.tenant, {
    allocation_id: before.id,
    user: before.user,
    to: before.state,
    desired: nodes,
  });
  return { ok: true, result: { allocation: after.id, nodes: after.assigned.length, desired: nodes, version: after.version } };
}

/** Judges further nodes as an assignment is judged: versions, nodes, quotas. */
export function growAllocation(work: Work, command: GrowAllocation): Handled {
  const { draft } = work;
  const before = draft.allocations.get(command.allocation);
  if (before === undefined) return unknown(command.allocation);
  const tenant = draft.tenants.get(before.tenant);
  if (tenant === undefined) return reject("not_found", `tenant not found: ${before.tenant}`, { tenant: before.tenant });
  const { expected } = command;
  const stale =
    staleVersion("tenant", tenant.id, expected.tenant, tenant.version) ??
    staleVersion("allocation", before.id, expected.allocation, before.version) ??
    staleVersion("system", "quotas", expected.system, draft.system.version);
  if (stale !== undefined) return stale;
  if (before.lifecycle !== "reactive" || before.state !== "running") return cannotScale(before);
  const room = before.desiredNodes - before.assigned.length;
  if (command.nodes.length < 1 || command.nodes.length > room)
    return reject("invalid_argument", `nodes must be 1 to ${room} nodes`, { field: "nodes", given: command.nodes.length });
  const nodes = findNodes(work, before, command);
  if (isRejection(nodes)) return nodes;
  const unclaimed = isSensitive(before) ? nodes.filter(({ claim }) => claim === null) : [];
  const demand = { tenant: tenant.id, user: before.user, nodes: nodes.length, allocations: 0, sensitive: unclaimed.length };
  const over = checkQuotas(draft, { ...demand, gpus: gpusOf(nodes) });
  if (over !== undefined) return over;
  for (const node of unclaimed) claim(work, node, before.user, tenant.id);
  const gpusByType: Record<string, number> = { ...before.gpusByType };
  for (const [type, count] of Object.entries(gpusOf(nodes))) gpusByType[type] = (gpusByType[type] ?? 0) + count;
  const after = resizeAllocation(work, before, {
    assigned: [...before.assigned, ...command.nodes],
    places: [...before.places, ...nodes.map(({ place }) => place)],
    perNodeGpus: [...before.perNodeGpus, ...nodes.map(({ gpuCount }) => gpuCount)],
    gpusByType: sortKeys(gpusByType),
  });
  return { ok: true, result: { allocation: after.id, nodes: after.assigned.length, version: after.version } };
}

/** What is left of an allocation that keeps its first nodes. A node that declared other GPUs meanwhile never makes it hold more. */
function firstOf(work: Work, { assigned, places, perNodeGpus, gpusByType: held }: Allocation, count: number): Held {
  const kept = assigned.slice(0, count);
  const nodes = kept.map((id, i) => ({ ...(work.draft.nodes.get(id) as ComputeNode), gpuCount: perNodeGpus[i] ?? null }));
  const gpusByType = Object.fromEntries(
    Object.entries(gpusOf(nodes)).flatMap(([type, n]) =>
      Object.hasOwn(held, type) ? [[type, Math.min(n, held[type] ?? 0)]] : [],
    ),
  );
  return { assigned: kept, places: places.slice(0, count), perNodeGpus: perNodeGpus.slice(0, count), gpusByType };
}

function unknown(allocation: string): Rejection {
  return reject("not_found", `allocation not found: ${allocation}`, { allocation });
}

function cannotScale({ id, state, lifecycle }: Allocation): Rejection {
  const what = lifecycle === "reactive" ? state : lifecycle;
  return reject("invalid_transition", `allocation ${id} is ${what} and cannot be scaled`, {
    allocation: id,
    from: state,
    lifecycle,
  });
}
