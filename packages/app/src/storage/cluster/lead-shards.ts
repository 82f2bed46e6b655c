import { type ClusterCommand, type ClusterState, needsSplit, nextMigrationStep, type Shard } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import { nodeActor, type StorageContext } from "../context.ts";
import type { ClusterControl } from "./cluster-control.ts";
import type { ShardStats } from "./shard-stats.ts";

/** Voters that a shard has where there are nodes enough. */
const wantedVoters = 3;

/** What a node does for the shards, once a round; each decision is one command, so that several nodes may try the same. */
export interface ShardLeadParts {
  readonly context: StorageContext;
  readonly cluster: ClusterControl;
  readonly shards: ShardStats;
  readonly up: (node: string) => boolean;
  /** The log's sequence that a node has applied, as far as it is known. */
  readonly logSeq: (node: string) => number;
}

/** True on the node that does what one node must do for the cluster: the leader of the first shard. */
export function coordinates(state: ClusterState, nodeId: string): boolean {
  return state.shards[0]?.leader === nodeId;
}

/** A majority of the voters answers. */
export function hasQuorum(shard: Shard, up: (node: string) => boolean): boolean {
  return shard.voters.filter(up).length * 2 > shard.voters.length;
}

/** The first voter that answers takes over from a leader that does not, if it sees a majority. */
export async function electLeaders({ context, cluster, up }: ShardLeadParts): Promise<void> {
  for (const shard of cluster.state.shards) {
    if (up(shard.leader) || !hasQuorum(shard, up) || shard.voters.find(up) !== context.nodeId) continue;
    await attempt(cluster, { kind: "shard.leader", id: shard.id, from: shard.leader, leader: context.nodeId });
  }
}

/** Splits what grew too large. Not in maintenance: then nothing new is begun that writes would have asked for. */
export async function splitShards({ cluster, shards }: ShardLeadParts): Promise<void> {
  for (const { id, maintenance } of cluster.state.shards) {
    const { deltas, bytes } = shards.of(id);
    if (maintenance || cluster.state.maintenance || !needsSplit(deltas, bytes)) continue;
    await attempt(cluster, { kind: "shard.split", id });
  }
}

/** Moves voters to where they should be, a step a round. */
export async function migrateShards(parts: ShardLeadParts): Promise<void> {
  for (const shard of parts.cluster.state.shards) {
    if (shard.migration !== undefined) await advance(parts, shard);
    else await beginMigration(parts, shard);
  }
}

/** One step of a migration: the learner is promoted when it has applied what is committed, then the old voter leaves. */
async function advance({ cluster, up, logSeq }: ShardLeadParts, shard: Shard): Promise<void> {
  const { to, from } = shard.migration ?? { to: "" };
  const { id, voters } = shard;
  const step = nextMigrationStep({
    to,
    voters,
    learners: [to],
    learnerIndex: logSeq(to),
    commitIndex: cluster.status().seq,
    ...(from === undefined ? {} : { from }),
  });
  if (step?.kind === "demote") await attempt(cluster, { kind: "shard.demote", id });
  else if (!up(to)) await attempt(cluster, { kind: "shard.abort", id });
  else if (step?.kind === "promote") await attempt(cluster, { kind: "shard.promote", id });
}

/** Replaces a voter that leaves, or adds one where there are too few. */
async function beginMigration({ cluster, up }: ShardLeadParts, { id, voters }: Shard): Promise<void> {
  const { nodes, shards } = cluster.state;
  const from = voters.find((v) => !["Active", "Degraded"].includes(nodes[v]?.state ?? "Evicted"));
  const active = Object.values(nodes).filter((n) => n.state === "Active" && up(n.id));
  if (from === undefined && voters.length >= Math.min(wantedVoters, active.length)) return;
  const load = (node: string) => shards.filter((s) => s.voters.includes(node)).length;
  const [target] = active.filter((n) => !voters.includes(n.id)).sort((a, b) => load(a.id) - load(b.id) || (a.id < b.id ? -1 : 1));
  if (target === undefined) return;
  await attempt(cluster, { kind: "shard.migrate", id, to: target.id, ...(from === undefined ? {} : { from }) });
}

/** A refusal (the limit, the pause between changes, another node was faster) leaves it to a later round. */
async function attempt(cluster: ClusterControl, command: ClusterCommand): Promise<void> {
  try {
    await cluster.propose(command, nodeActor);
  } catch (error) {
    if (!isCoded(error, "ShardUnavailable", "InvariantViolation", "NotFound")) throw error;
  }
}
