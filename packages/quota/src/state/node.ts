import { checkArgument } from "@seneschal/kernel";
import type { Owners } from "./owners.ts";

/** Node states, lower case on the wire. Only `ready` nodes are assignable. */
export const NODE_STATES = ["unknown", "booting", "ready", "degraded", "down", "draining", "drained", "failed"] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** What an agent or an administrator declares about a node. */
export interface NodeInventory {
  readonly group: string;
  /** The flavour of its GPUs; null when it has none or does not say. */
  readonly gpuType: string | null;
  /** null is unknown and counts as 1 in the ledger; a known 0 stays 0. */
  readonly gpuCount: number | null;
  readonly cpuCores: number;
  readonly memoryGb: number;
  readonly agentAddress: string | null;
  /** Fingerprint of its software, for the conformance term; null is not declared. */
  readonly conformance: string | null;
  /** What an hour of it costs in energy, in a unit that all nodes share: money or grams of carbon; null is not declared. */
  readonly energyPrice: number | null;
  /** Names of the data sets that are in place on it or in reach of it, in order, each once. */
  readonly datasets: readonly string[];
}

/** A machine, without what assignments change: see {@link ownerOf} and {@link versionOf}. */
export interface ComputeNode extends NodeInventory {
  readonly id: string;
  /** One that drains is stored as `draining`, whether its work has ended or not: see {@link stateOf}. */
  readonly state: Exclude<NodeState, "drained">;
  readonly stateReason: string | null;
  /** The principal that registered it and may report for it; null is a system administrator. */
  readonly agent: string | null;
  readonly lastHeartbeat: number | null;
  /** The sensitive claim on it: counted while it stands, idle or not. */
  readonly claim: { readonly claimant: string; readonly tenant: string; readonly at: number } | null;
  /** Held what nobody else may find: it is booting, whatever leads back into service, until it was wiped. */
  readonly unwiped: boolean;
  /** Its place among the owners: 0, 1, 2 ... Derived; never encoded. */
  readonly place: number;
  /** How often it was changed, but for its owner. */
  readonly edits: number;
}

/**
 * A node with its fields in one block of memory, those first that assignments read: with hundreds of nodes per assignment
 * the time goes into fetching them.
 */
export function layOut(node: ComputeNode): ComputeNode {
  const { place, state, edits, gpuCount, gpuType, claim, unwiped, id } = node;
  const { group, cpuCores, memoryGb, agentAddress, conformance, energyPrice, datasets, stateReason, agent, lastHeartbeat } = node;
  // biome-ignore format: the order is the point
  return { place, state, edits, gpuCount, gpuType, claim, unwiped, id, group, cpuCores, memoryGb, agentAddress, conformance, energyPrice, datasets, stateReason, agent, lastHeartbeat };
}

type Owned = { readonly owners: Owners };

/** The allocation that holds the node. INVARIANT: its `assigned` names this node, and no other allocation's does. */
export function ownerOf(owned: Owned, node: ComputeNode): string | null {
  checkArgument("owned", owned, "object");
  checkArgument("node", node, "object");
  const { owners } = owned;
  return owners.of(node.place);
}

/** The state that others see: a node that drains is drained once nobody holds it. */
export function stateOf(state: Owned, node: ComputeNode): NodeState {
  checkArgument("state", state, "object");
  checkArgument("node", node, "object");
  return node.state === "draining" && ownerOf(state, node) === null ? "drained" : node.state;
}

/** Grows by one with each change of the node or of its owner. */
export function versionOf(owned: Owned, node: ComputeNode): number {
  checkArgument("owned", owned, "object");
  checkArgument("node", node, "object");
  const { owners } = owned;
  return node.edits + owners.turns(node.place);
}

/** In the pool that shares are fractions of: ready, or working. */
export function isSchedulable(state: Owned, node: ComputeNode): boolean {
  return node.state === "ready" || (ownerOf(state, node) !== null && node.state !== "down" && node.state !== "failed");
}
