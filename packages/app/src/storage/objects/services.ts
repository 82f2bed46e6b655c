import {
  hasQuorum,
  isReadOnly,
  type ReplicationDestination,
  type ReplicationLeave,
  type RequestOrigin,
  type Shard,
  shardAt,
  shardPoint,
  storageError,
} from "@seneschal/core/storage";
import type { Stored } from "@seneschal/kernel/ports";
import type { Buffers } from "../bytes/buffers.ts";
import type { ClusterControl } from "../cluster/cluster-control.ts";
import type { ShardStats } from "../cluster/shards.ts";
import type { StorageContext } from "../context.ts";
import type { ChunkStore } from "../data/chunk-store.ts";
import type { MemoryBudget } from "../data/memory-budget.ts";
import type { TenantKeys } from "../keys/tenant-keys.ts";
import type { WebhookTenants } from "../notify/notice-puts.ts";
import type { ReadAhead } from "./read-ahead.ts";

/** Who may have buckets copied to a server, and into which of its buckets; absent: into all that the operator's key for it reaches. */
export interface DestinationAccess {
  readonly tenants: ReadonlySet<string>;
  readonly buckets?: ReadonlySet<string>;
}

/** Whether buckets of the tenant may be copied there. A destination of other tenants is as one that there is not. */
export function replicationTo(
  { destinations }: Pick<ObjectServices, "destinations">,
  tenant: string,
  { name, bucket }: ReplicationDestination,
): ReplicationLeave {
  const found = destinations.get(name);
  if (found?.tenants.has(tenant) !== true) return "no destination";
  return found.buckets?.has(bucket) === false ? "no bucket" : "leave";
}

/** What object operations work with. */
export interface ObjectServices {
  readonly context: StorageContext;
  readonly cluster: ClusterControl;
  readonly chunks: ChunkStore;
  readonly tenants: Pick<TenantKeys, "purge">;
  readonly shards: ShardStats;
  readonly readAhead: ReadAhead;
  readonly memory: MemoryBudget;
  readonly buffers: Buffers;
  /** True for a node that answers. */
  readonly up: (node: string) => boolean;
  /** The webhooks that buckets of their tenants may name as destinations. */
  readonly webhooks: WebhookTenants;
  /** Where buckets of their tenants may be copied, by the operator's names. */
  readonly destinations: ReadonlyMap<string, DestinationAccess>;
  /** Of a request that somebody sent: what notifications say of it. */
  readonly origin?: RequestOrigin;
  /** The records of buckets that one request has read; absent: each is read whenever it is asked for. */
  readonly records?: Map<string, Promise<Stored | undefined>>;
}

/** What one request works with: it reads the record of a bucket once, and again only where a commit met another. */
export function forRequest(services: ObjectServices, origin: RequestOrigin): ObjectServices {
  return Object.assign({ records: new Map(), origin }, services);
}

/** Before anything of a bucket's own changes. Throws `MaintenanceMode`. */
export function refuseInMaintenance({ cluster }: Pick<ObjectServices, "cluster">): void {
  if (cluster.state.maintenance) throw storageError("MaintenanceMode", "the cluster is in maintenance: reads work, writes wait");
}

/**
 * The shard of an object, as the cluster has it within the last second. Throws `MaintenanceMode` when it is read-only,
 * `QuorumLost` when a majority of its voters (or of the log) does not answer, `ShardUnavailable` while it has no leader.
 */
export async function writableShard(services: ObjectServices, bucket: string, key: string): Promise<Shard> {
  const { cluster, up } = services;
  await cluster.confirm();
  if (cluster.state.shards.length === 0)
    throw storageError("ShardUnavailable", "the cluster is being formed: its shards are not laid out yet");
  const shard = shardAt(cluster.state.shards, shardPoint(bucket, key));
  if (isReadOnly(cluster.state, shard.id))
    throw storageError("MaintenanceMode", `shard ${shard.id} is in maintenance: reads work, writes wait`, { shard: shard.id });
  if (!hasQuorum(shard, up))
    throw storageError("QuorumLost", `shard ${shard.id}: most of its voters do not answer`, { shard: shard.id });
  if (!up(shard.leader))
    throw storageError("ShardUnavailable", `shard ${shard.id} has no leader at the moment`, { shard: shard.id });
  return shard;
}
