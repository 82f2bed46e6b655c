import {
  type ClusterCommand,
  type ClusterState,
  electLeader,
  moveVoters,
  shardAt,
  shardPoint,
  splitGrown,
} from "@seneschal/core/storage";
import { isCoded, type JsonObject } from "@seneschal/kernel";
import { everyDocument } from "../../platform/index.ts";
import { commit, nodeActor, type StorageContext } from "../context.ts";
import type { NodeReport, ShardChanges } from "../peers/node-report.ts";
import type { ObjectDoc } from "../schema.ts";
import type { ClusterControl } from "./cluster-control.ts";

interface ShardFigures {
  readonly deltas: number;
  readonly bytes: number;
  readonly objects: number;
}

/** Live figures per shard. Objects and bytes are counted from the store at start; deltas are kept across restarts. */
export interface ShardStats {
  /** One committed metadata change. */
  changed(shard: string, bytes: number, objects: number): void;
  /** Inline bytes written now, for the rate that raises the emergency floor. */
  inlined(shard: string, bytes: number): void;
  /** Inline bytes per second over the last 10 s. */
  inlineRate(shard: string): number;
  of(shard: string): ShardFigures;
  /** What this process has changed since it started. */
  changes(): readonly ShardChanges[];
  /** What another process has changed since it started; only what is new since its last report counts. */
  foreign(report: Pick<NodeReport, "incarnation" | "shards">): void;
  /** Counts everything again; run at start and after a split. */
  recount(state: ClusterState): Promise<void>;
  save(): Promise<void>;
}

const rateWindowMs = 10_000;

export function createShardStats(context: StorageContext): ShardStats {
  const figures = new Map<string, { deltas: number; bytes: number; objects: number }>();
  const recent = new Map<string, { at: number; bytes: number }[]>();
  const of = (shard: string) => {
    const found = figures.get(shard) ?? { deltas: 0, bytes: 0, objects: 0 };
    figures.set(shard, found);
    return found;
  };
  const id = `shards-${context.nodeId}`;
  const own = new Map<string, ShardChanges>();
  const heard = new Map<string, NodeReport["shards"]>();
  const add = (shard: string, deltas: number, bytes: number, objects: number): void => {
    const f = of(shard);
    f.deltas += deltas;
    f.bytes += bytes;
    f.objects += objects;
  };
  return {
    changed(shard, bytes, objects) {
      add(shard, 1, bytes, objects);
      const before = own.get(shard) ?? { shard_id: shard, deltas: 0, bytes: 0, objects: 0 };
      own.set(shard, {
        shard_id: shard,
        deltas: before.deltas + 1,
        bytes: before.bytes + bytes,
        objects: before.objects + objects,
      });
    },
    changes: () => [...own.values()],
    foreign({ incarnation, shards }) {
      const before = heard.get(incarnation);
      heard.set(incarnation, shards);
      // What came before the first report is in the metadata that was counted at the start.
      if (before === undefined) return;
      for (const now of shards) {
        const then = before.find((b) => b.shard_id === now.shard_id) ?? { deltas: 0, bytes: 0, objects: 0 };
        add(now.shard_id, now.deltas - then.deltas, now.bytes - then.bytes, now.objects - then.objects);
      }
    },
    inlined(shard, bytes) {
      const list = recent.get(shard) ?? [];
      list.push({ at: context.clock.now(), bytes });
      recent.set(shard, list);
    },
    inlineRate(shard) {
      const since = context.clock.now() - rateWindowMs;
      const list = (recent.get(shard) ?? []).filter((r) => r.at > since);
      recent.set(shard, list);
      return list.reduce((n, r) => n + r.bytes, 0) / (rateWindowMs / 1000);
    },
    of,
    async recount(state) {
      const saved = (await context.store.get("storage_counters", id))?.doc["deltas"] as Record<string, number> | undefined;
      const counted = new Map<string, { deltas: number; bytes: number; objects: number }>();
      for (const shard of state.shards)
        counted.set(shard.id, { deltas: figures.get(shard.id)?.deltas ?? saved?.[shard.id] ?? 0, bytes: 0, objects: 0 });
      for (const coll of ["storage_objects", "storage_versions"]) {
        for await (const { doc } of everyDocument(context.store, coll, "by_key")) {
          const object = doc as ObjectDoc;
          const f = counted.get(shardAt(state.shards, shardPoint(object.bucket, object.key)).id);
          if (f === undefined || object.delete_marker === true) continue;
          f.bytes += object.size;
          f.objects += 1;
        }
      }
      figures.clear();
      for (const [shard, f] of counted) figures.set(shard, f);
    },
    async save() {
      const deltas = Object.fromEntries([...figures].map(([shard, f]) => [shard, f.deltas])) as JsonObject;
      await commit(context.store, { puts: [{ coll: "storage_counters", id, doc: { deltas } }] });
    },
  };
}

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
