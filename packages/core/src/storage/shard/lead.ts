import { checkArgument } from "@seneschal/kernel";
import type { ClusterState } from "../cluster/state.ts";
import type { ClusterCommand } from "../cluster/step.ts";
import { needsSplit, type Shard } from "./map.ts";
import { nextMigrationStep } from "./migration.ts";

/** Voters that a shard has where there are nodes enough. */
export const wantedVoters = 3;

/**
 * True on the node that does what one node must do for the cluster: the leader of the first shard.
 *
 * @example
 * ```ts
 * import { coordinates, initialShards } from "@seneschal/core/storage";
 * console.log(coordinates({ shards: initialShards(["n1", "n2"], 128) }, "n1")); // true
 * ```
 */
export function coordinates(state: Pick<ClusterState, "shards">, node: string): boolean {
  checkArgument("state", state, "object");
  return state.shards[0]?.leader === node;
}

/**
 * A majority of the voters answers.
 *
 * @example
 * ```ts
 * import { hasQuorum } from "@seneschal/core/storage";
 * console.log(hasQuorum({ voters: ["n1", "n2", "n3"] }, (node) => node !== "n1")); // true
 * ```
 */
export function hasQuorum(shard: Pick<Shard, "voters">, up: (node: string) => boolean): boolean {
  checkArgument("shard", shard, "object");
  return shard.voters.filter(up).length * 2 > shard.voters.length;
}

/**
 * What a node says to take a shard over: the first voter that answers takes it from a leader that does not, if it sees a majority.
 *
 * @example
 * ```ts
 * import { electLeader, initialShards } from "@seneschal/core/storage";
 * const [shard] = initialShards(["n1", "n2", "n3"], 128);
 * if (shard) console.log(electLeader(shard, "n2", (node) => node !== "n1")?.kind, electLeader(shard, "n2", () => true)); // shard.leader undefined
 * ```
 */
export function electLeader(shard: Shard, node: string, up: (node: string) => boolean): ClusterCommand | undefined {
  checkArgument("shard", shard, "object");
  if (up(shard.leader) || !hasQuorum(shard, up) || shard.voters.find(up) !== node) return undefined;
  return { kind: "shard.leader", id: shard.id, from: shard.leader, leader: node };
}

/**
 * Splits a shard that grew too large. Not in maintenance: then nothing new is begun that writes would have asked for.
 *
 * @example
 * ```ts
 * import { splitGrown } from "@seneschal/core/storage";
 * console.log(splitGrown({ maintenance: false }, { id: "s0", maintenance: false }, { deltas: 20_000_000, bytes: 0 })?.kind); // shard.split
 * ```
 */
export function splitGrown(
  state: Pick<ClusterState, "maintenance">,
  shard: Pick<Shard, "id" | "maintenance">,
  grown: { readonly deltas: number; readonly bytes: number },
): ClusterCommand | undefined {
  checkArgument("state", state, "object");
  checkArgument("shard", shard, "object");
  if (shard.maintenance || state.maintenance || !needsSplit(grown.deltas, grown.bytes)) return undefined;
  return { kind: "shard.split", id: shard.id };
}

/** What is known of the nodes. `logSeq`: how far a node has applied the log; `committed`: how far that goes. */
export interface NodesSeen {
  readonly up: (node: string) => boolean;
  readonly logSeq: (node: string) => number;
  readonly committed: number;
}

/**
 * The next command that brings a shard's voters to where they should be, if any: a voter that leaves is replaced, and where there are too few one is
 * added, each time by the active node that has the fewest shards. The learner is promoted when it has applied what is committed, then the
 * old voter leaves; a move to a node that does not answer is given up before that.
 *
 * @example
 * ```ts
 * import { emptyCluster, moveVoters, stepCluster } from "@seneschal/core/storage";
 * let state = emptyCluster;
 * for (const id of ["n1", "n2"]) {
 *   const at = stepCluster(state, { kind: "node.join", node: { id, address: "a:1", dataAddress: "a:2", peerAddress: "a:3" } }, 0);
 *   if (at.ok) state = at.state;
 *   const init = stepCluster(state, { kind: "shards.init", nodes: 1 }, 0);
 *   if (init.ok) state = init.state;
 * }
 * const seen = { up: () => true, logSeq: () => 9, committed: 9 };
 * console.log(state.shards.map((shard) => moveVoters(state, shard, seen)?.kind)[0]); // shard.migrate
 * ```
 */
export function moveVoters(
  state: Pick<ClusterState, "nodes" | "shards">,
  shard: Shard,
  seen: NodesSeen,
): ClusterCommand | undefined {
  checkArgument("state", state, "object");
  checkArgument("shard", shard, "object");
  checkArgument("seen", seen, "object");
  return shard.migration === undefined ? beginMigration(state, shard, seen.up) : goOn(shard, shard.migration, seen);
}

function goOn(
  { id, voters }: Shard,
  { to, from }: NonNullable<Shard["migration"]>,
  { up, logSeq, committed }: NodesSeen,
): ClusterCommand | undefined {
  const facts = { to, voters, learners: [to], learnerIndex: logSeq(to), commitIndex: committed };
  const step = nextMigrationStep({ ...facts, ...(from !== undefined && { from }) });
  if (step?.kind === "demote") return { kind: "shard.demote", id };
  if (!up(to)) return { kind: "shard.abort", id };
  return step?.kind === "promote" ? { kind: "shard.promote", id } : undefined;
}

function beginMigration(
  { nodes, shards }: Pick<ClusterState, "nodes" | "shards">,
  { id, voters }: Shard,
  up: (node: string) => boolean,
): ClusterCommand | undefined {
  const from = voters.find((v) => !["Active", "Degraded"].includes(nodes[v]?.state ?? "Evicted"));
  const active = Object.values(nodes).filter((n) => n.state === "Active" && up(n.id));
  if (from === undefined && voters.length >= Math.min(wantedVoters, active.length)) return undefined;
  const load = (node: string) => shards.filter((s) => s.voters.includes(node)).length;
  const [target] = active.filter((n) => !voters.includes(n.id)).sort((a, b) => load(a.id) - load(b.id) || (a.id < b.id ? -1 : 1));
  if (target === undefined) return undefined;
  return { kind: "shard.migrate", id, to: target.id, ...(from !== undefined && { from }) };
}
