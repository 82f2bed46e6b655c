import { type ClusterCommand, electLeader, moveVoters, splitGrown } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import { nodeActor, type StorageContext } from "../context.ts";
import type { ClusterControl } from "./cluster-control.ts";
import type { ShardStats } from "./shard-stats.ts";

/** What a node does for the shards, once a round; each decision is one command, so that several nodes may try the same. */
export interface ShardLeadParts {
  readonly context: StorageContext;
  readonly cluster: ClusterControl;
  readonly shards: ShardStats;
  readonly up: (node: string) => boolean;
  /** The log's sequence that a node has applied, as far as it is known. */
  readonly logSeq: (node: string) => number;
}

/** Takes over what the node is to lead. */
export async function electLeaders({ context, cluster, up }: ShardLeadParts): Promise<void> {
  for (const shard of cluster.state.shards) await attempt(cluster, electLeader(shard, context.nodeId, up));
}

/** Splits what grew too large. */
export async function splitShards({ cluster, shards }: ShardLeadParts): Promise<void> {
  for (const shard of cluster.state.shards) await attempt(cluster, splitGrown(cluster.state, shard, shards.of(shard.id)));
}

/** Moves voters to where they should be, a step a round. */
export async function migrateShards({ cluster, up, logSeq }: ShardLeadParts): Promise<void> {
  for (const shard of cluster.state.shards)
    await attempt(cluster, moveVoters(cluster.state, shard, { up, logSeq, committed: cluster.status().seq }));
}

/** A refusal (the limit, the pause between changes, another node was faster) leaves it to a later round. */
async function attempt(cluster: ClusterControl, command: ClusterCommand | undefined): Promise<void> {
  if (command === undefined) return;
  try {
    await cluster.propose(command, nodeActor);
  } catch (error) {
    if (!isCoded(error, "ShardUnavailable", "InvariantViolation", "NotFound")) throw error;
  }
}
