import type { SubmitAllocation } from "../command.ts";
import { type Rejection, reject } from "../errors.ts";
import { checkQuotas } from "../hard-quota.ts";
import { type Allocation, type AllocationRequest, isSensitive } from "../state/allocation.ts";
import { ownerOf } from "../state/node.ts";
import { sortedNames } from "../state/sorted-names.ts";
import type { QuotaState } from "../state/state.ts";
import { keepAllocation } from "./keep-allocation.ts";
import { makeTenant, sortKeys } from "./tenant.ts";
import { type Handled, tell, type Work } from "./work.ts";

/** Judges a request against the hard quotas as if it started now: too much is refused at once, there is no waiting queue for it. */
export function submitAllocation(work: Work, command: SubmitAllocation): Handled {
  const { request, allocation: id } = command;
  const wrong = checkRequest(request);
  if (wrong !== undefined) return wrong;
  if (work.draft.allocations.has(id)) return reject("already_exists", `allocation already exists: ${id}`, { allocation: id });
  if (!work.draft.tenants.has(request.tenant)) {
    if (command.createTenant === undefined)
      return reject("not_found", `tenant not found: ${request.tenant}`, { tenant: request.tenant });
    const made = makeTenant(work, command, request.tenant, null, command.createTenant);
    if (!made.ok) return made;
  }
  const over = checkQuotas(work.draft, submissionDemand(work.draft, request));
  if (over !== undefined) return over;
  const allocation: Allocation = {
    tenant: request.tenant,
    user: request.user,
    project: request.project,
    vcluster: request.vcluster,
    entrypoint: request.entrypoint,
    nodes: request.nodes,
    minNodes: request.minNodes,
    walltimeHours: request.walltimeHours,
    lifecycle: request.lifecycle,
    requeuePolicy: request.requeuePolicy,
    maxRequeue: request.maxRequeue,
    image: request.image,
    sensitive: request.sensitive,
    priorityClass: request.priorityClass,
    checkpoint: request.checkpoint,
    gpuType: request.gpuType,
    gpusPerNode: request.gpusPerNode,
    datasets: sortedNames(request.datasets),
    labels: sortKeys(request.labels),
    id,
    state: "pending",
    desiredNodes: request.lifecycle === "reactive" ? request.minNodes : request.nodes,
    wipes: false,
    statusReason: null,
    assigned: [],
    places: [],
    perNodeGpus: [],
    gpusByType: {},
    createdAt: work.at,
    startedAt: null,
    completedAt: null,
    exitCode: null,
    requeues: 0,
    attempts: [],
    since: work.at,
    preemptedFor: null,
    lastAssigned: [],
    lastPerNodeGpus: [],
    version: 1,
  };
  keepAllocation(work, undefined, allocation);
  tell(work, "allocation.submitted", request.tenant, { allocation_id: id, user: request.user, to: "pending" });
  return { ok: true, result: { allocation: id } };
}

/** What a request would hold, by its upper end. */
function submissionDemand(state: QuotaState, request: AllocationRequest): Parameters<typeof checkQuotas>[1] {
  const { tenant, user, nodes, gpuType, gpusPerNode } = request;
  return {
    tenant,
    user,
    nodes,
    allocations: 1,
    sensitive: isSensitive(request) ? Math.max(0, nodes - idleClaims(state, request)) : 0,
    gpus: gpuType === null ? {} : { [gpuType]: nodes * (gpusPerNode ?? 1) },
  };
}

/** Nodes that the requester has claimed already and that nothing runs on. */
function idleClaims(state: QuotaState, request: AllocationRequest): number {
  let idle = 0;
  for (const node of state.nodes.values())
    if (node.claim?.claimant === request.user && node.claim.tenant === request.tenant && ownerOf(state, node) === null) idle++;
  return idle;
}

function checkRequest(request: AllocationRequest): Rejection | undefined {
  const { nodes, minNodes, walltimeHours, maxRequeue, priorityClass, gpusPerNode } = request;
  const integer = (value: number, from: number, to: number): boolean =>
    Number.isSafeInteger(value) && value >= from && value <= to;
  const refuse = (field: string, must: string): Rejection => reject("invalid_argument", `${field} must be ${must}`, { field });
  if (request.user === "") return refuse("user", "known");
  if (!integer(nodes, 1, Number.MAX_SAFE_INTEGER)) return refuse("nodes", "an integer >= 1");
  if (!integer(minNodes, 1, nodes)) return refuse("minNodes", "an integer from 1 to nodes");
  if (!Number.isFinite(walltimeHours) || walltimeHours <= 0) return refuse("walltimeHours", "a number > 0");
  if (!integer(maxRequeue, 0, 100)) return refuse("maxRequeue", "an integer from 0 to 100");
  if (!integer(priorityClass, 0, 10)) return refuse("priorityClass", "an integer from 0 to 10");
  if (gpusPerNode !== null && !integer(gpusPerNode, 0, 1024)) return refuse("gpusPerNode", "an integer from 0 to 1024");
  return undefined;
}
