import type { ClaimNode, OperateNode, RegisterNode, ReleaseNode, ReportHeartbeats } from "../command.ts";
import { isRejection, type Rejection, reject } from "../errors.ts";
import { checkQuotas } from "../hard-quota.ts";
import { type ComputeNode, layOut, ownerOf, stateOf, versionOf } from "../state/node.ts";
import { sortedNames } from "../state/sorted-names.ts";
import { failAllocation } from "./fail-allocation.ts";
import { inService, TO_WIPE } from "./wipe.ts";
import { audit, type Handled, record, type Work } from "./work.ts";

/** A known id is refused, except to the same agent, which may come back with a new inventory after a restart. */
export function registerNode(work: Work, command: RegisterNode): Handled {
  const before = work.draft.nodes.get(command.node);
  if (before !== undefined && (command.agent === null || before.agent !== command.agent))
    return reject("already_exists", `node already exists: ${command.node}`, { node: command.node });
  const wrong = checkInventory(command);
  if (wrong !== undefined) return wrong;
  const comesBack = before?.state === "down" && before.stateReason === SILENT;
  const node: ComputeNode = {
    ...command.inventory,
    datasets: sortedNames(command.inventory.datasets),
    id: command.node,
    state: before === undefined ? "ready" : comesBack ? inService(before) : before.state,
    stateReason: comesBack ? null : (before?.stateReason ?? null),
    agent: command.agent,
    lastHeartbeat: work.at,
    claim: before?.claim ?? null,
    unwiped: before?.unwiped ?? false,
    place: before?.place ?? work.draft.nodes.size,
    edits: (before?.edits ?? 0) + 1,
  };
  putNode(work, node);
  audit(work, command, "node", node.id, { agent: command.agent, gpuType: node.gpuType, gpuCount: node.gpuCount });
  record(work, "node.registered", null, { node: node.id, agent: node.agent });
  return done(work, node.id);
}

/** The reason of a node that is down only because nobody heard from it. */
const SILENT = "no heartbeat";

export function operateNode(work: Work, command: OperateNode): Handled {
  const node = work.draft.nodes.get(command.node);
  if (node === undefined) return unknownNode(command.node);
  if (!Object.hasOwn(OPERATIONS, command.verb)) return reject("invalid_argument", `no operation on nodes: ${command.verb}`);
  const to = OPERATIONS[command.verb](node);
  const from = stateOf(work.draft, node);
  if (to === undefined)
    return reject("invalid_transition", `node ${node.id} is ${from} and cannot ${command.verb}`, {
      node: node.id,
      from,
      verb: command.verb,
    });
  const unwiped = node.unwiped && command.verb !== "wiped";
  const stateReason = to === "ready" ? null : to === "booting" ? TO_WIPE : (command.why ?? null);
  putNode(work, { ...node, state: to, stateReason, unwiped, edits: node.edits + 1 });
  if (command.verb === "fail" || command.verb === "disable") {
    const failed = endWorkOf(work, node, command.why ?? "node disabled");
    if (failed !== undefined) return failed;
  }
  const reached = stateOf(work.draft, work.draft.nodes.get(node.id) as ComputeNode);
  audit(work, command, "node", node.id, { from, to: reached }, `node.${command.verb}`);
  record(work, `node.${reached}`, null, { node: node.id, from, to: reached, reason: command.why ?? null });
  return done(work, node.id);
}

/** A node that is gone takes its allocation with it. */
function endWorkOf(work: Work, node: ComputeNode, why: string): Rejection | undefined {
  const allocation = work.draft.allocations.get(ownerOf(work.draft, node) ?? "");
  if (allocation === undefined) return undefined;
  const failed = failAllocation(work, allocation, { cause: "node", reason: `node ${node.id} failed: ${why}` });
  return isRejection(failed) ? failed : undefined;
}

const OPERATIONS: Readonly<Record<OperateNode["verb"], (node: ComputeNode) => ComputeNode["state"] | undefined>> = {
  drain: (node) => (["ready", "degraded", "unknown"].includes(node.state) ? "draining" : undefined),
  undrain: (node) => (node.state === "draining" ? inService(node) : undefined),
  enable: (node) => (["down", "failed", "unknown", "degraded"].includes(node.state) ? inService(node) : undefined),
  // one that is down only for its silence would come back with its next heartbeat
  disable: (node) => (node.state === "down" && node.stateReason !== SILENT ? undefined : "down"),
  fail: (node) => (node.state === "down" || node.state === "failed" ? undefined : "down"),
  wiped: (node) => (node.state === "booting" ? "ready" : undefined),
};

/** Writes heartbeats down; a node that was down only for its silence is ready again. Unknown nodes are passed over. */
export function reportHeartbeats(work: Work, command: ReportHeartbeats): Handled {
  const heard: [string, ComputeNode][] = [];
  for (const [id, at] of command.beats) {
    const node = work.draft.nodes.get(id);
    if (node === undefined || !Number.isSafeInteger(at)) continue;
    const last = Math.max(node.lastHeartbeat ?? 0, Math.min(at, work.at));
    const back = node.state === "down" && node.stateReason === SILENT;
    const to = inService(node);
    if (back) record(work, `node.${to}`, null, { node: id, from: "down", to, reason: "heartbeat" });
    heard.push([
      id,
      back
        ? { ...node, lastHeartbeat: last, state: to, stateReason: to === "ready" ? null : TO_WIPE, edits: node.edits + 1 }
        : { ...node, lastHeartbeat: last },
    ]);
  }
  work.draft.nodes = work.draft.nodes.setAll(heard);
  return { ok: true, result: { heard: heard.length } };
}

/** Claims an unowned node for sensitive use: recorded with the claimant before anything else happens. */
export function claimNode(work: Work, command: ClaimNode): Handled {
  if (!work.draft.tenants.has(command.tenant))
    return reject("not_found", `tenant not found: ${command.tenant}`, { tenant: command.tenant });
  const node = work.draft.nodes.get(command.node);
  if (node === undefined) return unknownNode(command.node);
  if (node.claim !== null || ownerOf(work.draft, node) !== null)
    return reject("ownership_conflict", `node ${node.id} is ${node.claim !== null ? "claimed" : "in use"} already`, {
      node: node.id,
    });
  if (node.state !== "ready")
    return reject("invalid_transition", `node ${node.id} is ${stateOf(work.draft, node)}, not ready`, {
      node: node.id,
      from: stateOf(work.draft, node),
    });
  const over = checkQuotas(work.draft, {
    tenant: command.tenant,
    user: command.by,
    nodes: 0,
    allocations: 0,
    sensitive: 1,
    gpus: {},
  });
  if (over !== undefined) return over;
  audit(work, command, "node", node.id, { claimant: command.by, tenant: command.tenant });
  claim(work, node, command.by, command.tenant);
  return done(work, node.id);
}

/** Puts a claim on a node; quotas were checked. */
export function claim(work: Work, node: ComputeNode, claimant: string, tenant: string): void {
  putNode(work, { ...node, claim: { claimant, tenant, at: work.at }, edits: node.edits + 1 });
  claimedBy(work, 1);
  record(work, "node.claimed", tenant, { node: node.id, claimant });
}

/** Only the claimant or an administrator releases a claim, and the node must be wiped before its next use. */
export function releaseNode(work: Work, command: ReleaseNode): Handled {
  const node = work.draft.nodes.get(command.node);
  if (node === undefined) return unknownNode(command.node);
  if (node.claim === null)
    return reject("invalid_transition", `node ${node.id} is not claimed`, { node: node.id, from: "unclaimed", to: "released" });
  if (node.claim.claimant !== command.by && !command.asAdmin)
    return reject("forbidden", `node ${node.id} is claimed by another`, { node: node.id });
  const owner = ownerOf(work.draft, node);
  if (owner !== null)
    return reject("ownership_conflict", `node ${node.id} runs allocation ${owner}`, { node: node.id, allocation: owner });
  const { claimant, tenant, at } = node.claim;
  audit(work, command, "node", node.id, { claimant, tenant, claimedAt: at });
  const state = node.state === "ready" ? "booting" : node.state;
  const unwiped = node.unwiped || command.wipe === true;
  putNode(work, { ...node, claim: null, state, unwiped, stateReason: "wiping after sensitive use", edits: node.edits + 1 });
  claimedBy(work, -1);
  record(work, "node.released", tenant, { node: node.id, claimant, claimed_at: at, by: command.by });
  return done(work, node.id);
}

/** The pool is an object with a version of its own. */
function claimedBy(work: Work, count: number): void {
  work.draft.claimed += count;
  work.draft.system = { ...work.draft.system, version: work.draft.system.version + 1 };
}

export function unknownNode(node: string): Rejection {
  return reject("not_found", `node not found: ${node}`, { node });
}

function putNode(work: Work, node: ComputeNode): void {
  work.draft.nodes = work.draft.nodes.set(node.id, layOut(node));
}

function done({ draft }: Work, id: string): Handled {
  const node = draft.nodes.get(id) as ComputeNode;
  return { ok: true, result: { node: id, state: stateOf(draft, node), version: versionOf(draft, node) } };
}

function checkInventory({ node, inventory }: RegisterNode): Rejection | undefined {
  if (node === "") return reject("invalid_argument", "id must not be empty", { field: "id" });
  const { gpuCount, cpuCores, memoryGb, energyPrice } = inventory;
  if (gpuCount !== null && (!Number.isSafeInteger(gpuCount) || gpuCount < 0))
    return reject("invalid_argument", "gpuCount must be an integer >= 0 or null", { field: "gpuCount" });
  for (const [field, value] of Object.entries({ cpuCores, memoryGb, energyPrice: energyPrice ?? 0 }))
    if (!Number.isFinite(value) || value < 0) return reject("invalid_argument", `${field} must be a number >= 0`, { field });
  return undefined;
}
