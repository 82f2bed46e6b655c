import type { AssignAllocation } from "../command.ts";
import { isRejection, type Rejection, reject } from "../errors.ts";
import { checkQuotas } from "../hard-quota.ts";
import { type Allocation, canMove, countedGpus, isSensitive } from "../state/allocation.ts";
import type { ComputeNode } from "../state/node.ts";
import { moveAllocation } from "./keep-allocation.ts";
import { claim, unknownNode } from "./node.ts";
import { staleVersion } from "./tenant.ts";
import type { Handled, Work } from "./work.ts";

/**
 * Commits an assignment. Checks in this order, the first failure is the answer: tenant, versions, nodes, quotas.
 * Owner, nodes, GPU counts, state and start change together or not at all.
 */
export function assignAllocation(work: Work, command: AssignAllocation): Handled {
  const { draft } = work;
  const allocation = draft.allocations.get(command.allocation);
  if (allocation === undefined)
    return reject("not_found", `allocation not found: ${command.allocation}`, { allocation: command.allocation });
  const tenant = draft.tenants.get(allocation.tenant);
  if (tenant === undefined) return reject("not_found", `tenant not found: ${allocation.tenant}`, { tenant: allocation.tenant });
  const { expected } = command;
  const stale =
    staleVersion("tenant", tenant.id, expected.tenant, tenant.version) ??
    staleVersion("allocation", allocation.id, expected.allocation, allocation.version) ??
    staleVersion("system", "quotas", expected.system, draft.system.version);
  if (stale !== undefined) return stale;
  if (!canMove(allocation.state, command.to))
    return reject("invalid_transition", `allocation ${allocation.id} is ${allocation.state} and cannot become ${command.to}`, {
      allocation: allocation.id,
      from: allocation.state,
      to: command.to,
    });
  const nodes = findNodes(work, allocation, command);
  if (isRejection(nodes)) return nodes;

  const gpusByType: Record<string, number> = {};
  const perNodeGpus: (number | null)[] = [];
  const unclaimed: ComputeNode[] = [];
  const sensitive = isSensitive(allocation);
  for (const node of nodes) {
    perNodeGpus.push(node.gpuCount);
    if (node.gpuType !== null) gpusByType[node.gpuType] = (gpusByType[node.gpuType] ?? 0) + countedGpus(node.gpuCount);
    if (sensitive && node.claim === null) unclaimed.push(node);
  }
  const over = checkQuotas(draft, {
    tenant: tenant.id,
    user: allocation.user,
    nodes: nodes.length,
    allocations: 1,
    sensitive: unclaimed.length,
    gpus: gpusByType,
  });
  if (over !== undefined) return over;
  for (const node of unclaimed) claim(work, node, allocation.user, tenant.id);
  const after = moveAllocation(work, allocation, command.to, {
    assigned: command.nodes,
    perNodeGpus,
    gpusByType: sorted(gpusByType),
    startedAt: work.at,
    preemptedFor: null,
    exitCode: null,
  });
  if (isRejection(after)) return after;
  return { ok: true, result: { allocation: after.id, state: after.state, version: after.version } };
}

/** Every node exists once, is ready, unowned, and may be used by this allocation. */
function findNodes(work: Work, allocation: Allocation, command: AssignAllocation): readonly ComputeNode[] | Rejection {
  const { nodes: ids, expected } = command;
  if (ids.length < allocation.minNodes || ids.length > allocation.nodes)
    return reject("invalid_argument", `nodes must be ${allocation.minNodes} to ${allocation.nodes} nodes`, {
      field: "nodes",
      given: ids.length,
    });
  if (new Set(ids).size !== ids.length) return reject("invalid_argument", "nodes must not name a node twice", { field: "nodes" });
  const sensitive = isSensitive(allocation);
  const found: ComputeNode[] = [];
  for (const [index, id] of ids.entries()) {
    const node = work.draft.nodes.get(id);
    if (node === undefined) return unknownNode(id);
    if (node.owner !== null)
      return reject("ownership_conflict", `node ${id} is owned by another allocation`, { node: id, owner: node.owner });
    if (node.claim !== null && !(sensitive && claimedFor(node, allocation)))
      return reject("ownership_conflict", `node ${id} is claimed for sensitive use by another`, { node: id });
    const stale = staleVersion("node", id, expected.nodes?.[index], node.version);
    if (stale !== undefined) return stale;
    if (node.state !== "ready")
      return reject("invalid_transition", `node ${id} is ${node.state}, not ready`, { node: id, from: node.state });
    if (!fits(node, allocation))
      return reject("invalid_argument", `node ${id} does not have the GPUs that were asked for`, { field: "nodes", node: id });
    found.push(node);
  }
  return found;
}

function claimedFor(node: ComputeNode, allocation: Allocation): boolean {
  return node.claim?.claimant === allocation.user && node.claim.tenant === allocation.tenant;
}

/** Has the GPUs that the request asks for. */
export function fits(node: ComputeNode, request: Pick<Allocation, "gpuType" | "gpusPerNode">): boolean {
  if (request.gpuType !== null && node.gpuType !== request.gpuType) return false;
  return request.gpusPerNode === null || countedGpus(node.gpuCount) >= request.gpusPerNode;
}

function sorted(gpus: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(gpus).sort(([a], [b]) => (a < b ? -1 : 1)));
}
