import type { AssignAllocation } from "../command.ts";
import { isRejection, type Rejection, reject } from "../errors.ts";
import { checkQuotas } from "../hard-quota.ts";
import { type Allocation, canMove, countedGpus, isSensitive } from "../state/allocation.ts";
import { type ComputeNode, ownerOf, stateOf, versionOf } from "../state/node.ts";
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
  // staging becomes running by a move: an assignment would put it on other nodes and leave its own behind
  if (allocation.state !== "pending" || !canMove(allocation.state, command.to))
    return reject("invalid_transition", `allocation ${allocation.id} is ${allocation.state} and cannot become ${command.to}`, {
      allocation: allocation.id,
      from: allocation.state,
      to: command.to,
    });
  const { length: count } = command.nodes;
  if (count < allocation.minNodes || count > allocation.nodes)
    return reject("invalid_argument", `nodes must be ${allocation.minNodes} to ${allocation.nodes} nodes`, {
      field: "nodes",
      given: count,
    });
  const nodes = findNodes(work, allocation, command);
  if (isRejection(nodes)) return nodes;

  const gpusByType = gpusOf(nodes);
  const unclaimed = isSensitive(allocation) ? nodes.filter(({ claim }) => claim === null) : [];
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
    places: nodes.map(({ place }) => place),
    perNodeGpus: nodes.map(({ gpuCount }) => gpuCount),
    gpusByType,
    startedAt: work.at,
    preemptedFor: null,
    exitCode: null,
    wipes: command.wipe === true && tenant.isolationLevel === "strict",
  });
  if (isRejection(after)) return after;
  return { ok: true, result: { allocation: after.id, state: after.state, version: after.version } };
}

/** Every node exists once, is ready, unowned, and may be used by this allocation. */
export function findNodes(
  work: Work,
  allocation: Allocation,
  { nodes: ids, expected }: Pick<AssignAllocation, "nodes" | "expected">,
): readonly ComputeNode[] | Rejection {
  if (new Set(ids).size !== ids.length) return reject("invalid_argument", "nodes must not name a node twice", { field: "nodes" });
  const sensitive = isSensitive(allocation);
  const find = work.draft.nodes.finder();
  const found: ComputeNode[] = [];
  for (const [index, id] of ids.entries()) {
    const node = find(id);
    if (node === undefined) return unknownNode(id);
    const owner = ownerOf(work.draft, node);
    if (owner !== null) return reject("ownership_conflict", `node ${id} is owned by another allocation`, { node: id, owner });
    if (node.claim !== null && !(sensitive && claimedFor(node, allocation)))
      return reject("ownership_conflict", `node ${id} is claimed for sensitive use by another`, { node: id });
    const stale = staleVersion("node", id, expected.nodes?.[index], versionOf(work.draft, node));
    if (stale !== undefined) return stale;
    if (node.state !== "ready")
      return reject("invalid_transition", `node ${id} is ${stateOf(work.draft, node)}, not ready`, {
        node: id,
        from: stateOf(work.draft, node),
      });
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

/** GPUs by flavour, flavours in order. */
export function gpusOf(nodes: readonly ComputeNode[]): Readonly<Record<string, number>> {
  const gpus = new Map<string, number>();
  for (const { gpuType, gpuCount } of nodes)
    if (gpuType !== null) gpus.set(gpuType, (gpus.get(gpuType) ?? 0) + countedGpus(gpuCount));
  return Object.fromEntries([...gpus].sort(([a], [b]) => (a < b ? -1 : 1)));
}
