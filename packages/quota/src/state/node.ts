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
}

/** A machine. INVARIANT: `owner` names an allocation whose `assigned` names this node, and the other way round. */
export interface ComputeNode extends NodeInventory {
  readonly id: string;
  readonly state: NodeState;
  readonly stateReason: string | null;
  /** The principal that registered it and may report for it; null is a system administrator. */
  readonly agent: string | null;
  readonly lastHeartbeat: number | null;
  /** The allocation that holds it. */
  readonly owner: string | null;
  /** The sensitive claim on it: counted while it stands, idle or not. */
  readonly claim: { readonly claimant: string; readonly tenant: string; readonly at: number } | null;
  readonly version: number;
}

/** In the pool that shares are fractions of: ready, or working. */
export function isSchedulable(node: ComputeNode): boolean {
  return node.state === "ready" || (node.owner !== null && node.state !== "down" && node.state !== "failed");
}
