import { isReadOnly, type Shard, shardAt, shardPoint, storageError } from "@seneschal/core/storage";
import type { ClusterControl } from "../cluster/cluster-control.ts";
import type { StorageContext } from "../context.ts";
import type { ChunkStore } from "../data/chunk-store.ts";
import type { ShardStats } from "../watch/shard-stats.ts";

/** What object operations work with. */
export interface ObjectServices {
  readonly context: StorageContext;
  readonly cluster: ClusterControl;
  readonly chunks: ChunkStore;
  readonly shards: ShardStats;
}

/** The shard of an object; throws `MaintenanceMode` when it is read-only. */
export function writableShard({ cluster }: ObjectServices, bucket: string, key: string): Shard {
  const shard = shardAt(cluster.state.shards, shardPoint(bucket, key));
  if (isReadOnly(cluster.state, shard.id))
    throw storageError("MaintenanceMode", `shard ${shard.id} is in maintenance: reads work, writes wait`, { shard: shard.id });
  return shard;
}
