import { checkArgument } from "@seneschal/kernel";
import { murmur3 } from "../placement/murmur3.ts";

/** A shard: one range of the 32-bit key hash, `from` inclusive, `to` exclusive. */
export interface Shard {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly leader: string;
  readonly voters: readonly string[];
  /** Set for this shard singly; the cluster's switch is beside it. */
  readonly maintenance: boolean;
  readonly inlineThreshold: number;
  /** Grows with every split, so that a file handle from before it is stale. */
  readonly generation: number;
  /** Placement changes: when the last one was, and how many since the last reset. */
  readonly lastMoveAt: number;
  readonly moves: number;
  /** A change of place under way: `to` learns, then votes, then `from` (if anybody) leaves. */
  readonly migration?: { readonly to: string; readonly from?: string };
}

export const hashSpace = 2 ** 32;

/**
 * `max(min(3 * nodes, 64), 3)`.
 *
 * @example
 * ```ts
 * import { initialShardCount } from "@seneschal/core/storage";
 * console.log(initialShardCount(1), initialShardCount(6)); // 3 18
 * ```
 */
export function initialShardCount(nodes: number): number {
  return Math.max(Math.min(3 * nodes, 64), 3);
}

/**
 * Even ranges over the whole hash space; leaders and voters go round the nodes, at most three voters each.
 *
 * @example
 * ```ts
 * import { initialShards } from "@seneschal/core/storage";
 * console.log(initialShards(["n1"], 128).map(({ id, leader }) => `${id} ${leader}`)); // [ 'shard-0 n1', 'shard-1 n1', 'shard-2 n1' ]
 * ```
 */
export function initialShards(nodes: readonly string[], inlineThreshold: number): readonly Shard[] {
  checkArgument("nodes", nodes, "array");
  checkArgument("inlineThreshold", inlineThreshold, "number");
  const count = initialShardCount(nodes.length);
  return Array.from({ length: count }, (_, i) => {
    const voters = Array.from({ length: Math.min(3, nodes.length) }, (_, j) => nodes[(i + j) % nodes.length] ?? "");
    return {
      id: `shard-${i}`,
      from: Math.floor((i * hashSpace) / count),
      to: Math.floor(((i + 1) * hashSpace) / count),
      leader: voters[0] ?? "",
      voters,
      maintenance: false,
      inlineThreshold,
      generation: 1,
      lastMoveAt: 0,
      moves: 0,
    };
  });
}

/**
 * The point of an object in the hash space.
 *
 * @example
 * ```ts
 * import { shardPoint } from "@seneschal/core/storage";
 * console.log(shardPoint("docs", "a") === shardPoint("docs", "a")); // true
 * ```
 */
export function shardPoint(bucket: string, key: string): number {
  return murmur3(`${bucket}/${encodeURIComponent(key)}`, 0x5a4d);
}

/**
 * The shard that owns a point. INVARIANT: ranges of a map cover the space without overlap.
 *
 * @example
 * ```ts
 * import { initialShards, shardAt } from "@seneschal/core/storage";
 * console.log(shardAt(initialShards(["n1"], 128), 0).id); // shard-0
 * ```
 */
export function shardAt(shards: readonly Shard[], point: number): Shard {
  checkArgument("shards", shards, "array");
  checkArgument("point", point, "number");
  const shard = shards.find((s) => point >= s.from && point < s.to);
  if (shard === undefined) throw new RangeError(`no shard covers ${point}`);
  return shard;
}

/**
 * Splits a shard in the middle; `undefined` when the range is a single point.
 *
 * @example
 * ```ts
 * import { initialShards, splitShard } from "@seneschal/core/storage";
 * const [shard] = initialShards(["n1"], 128);
 * if (shard) console.log(splitShard(shard, "s9")?.map(({ id }) => id)); // [ 'shard-0', 's9' ]
 * ```
 */
export function splitShard(shard: Shard, newId: string): readonly [Shard, Shard] | undefined {
  checkArgument("shard", shard, "object");
  checkArgument("newId", newId, "string");
  const middle = Math.floor((shard.from + shard.to) / 2);
  if (middle <= shard.from) return undefined;
  const generation = shard.generation + 1;
  return [
    { ...shard, to: middle, generation },
    { ...shard, id: newId, from: middle, generation },
  ];
}

/**
 * True at 10 M deltas or 10 GB.
 *
 * @example
 * ```ts
 * import { needsSplit } from "@seneschal/core/storage";
 * console.log(needsSplit(1000, 1000), needsSplit(10_000_000, 0)); // false true
 * ```
 */
export function needsSplit(deltas: number, bytes: number): boolean {
  return deltas >= 10_000_000 || bytes >= 10_000_000_000;
}
