import { checkArgument } from "@seneschal/kernel";
import { type Candidate, placeChunk } from "../placement/place.ts";

/** Where one fragment of a chunk lies. */
export interface FragmentPlace {
  readonly index: number;
  readonly device: string;
  readonly node: string;
}

/** A fragment to write again, and the device that takes it. */
export interface Rebuild {
  readonly index: number;
  readonly target: string;
}

/**
 * Chooses new places for fragments that are bad or must leave: devices that hold no other fragment of the chunk. When
 * there are not enough foreign devices, a bad fragment goes back to its own device under a new extent, if that device
 * still takes writes. No node gets more than its `share`, nor more than it had before. `undefined` when no plan keeps all
 * fragments on distinct devices.
 *
 * @example
 * ```ts
 * import { planRebuild } from "@seneschal/core/storage";
 * const candidates = ["d1", "d2", "d3"].map((id) => ({ id, node: "n1", weight: 1 }));
 * const places = [{ index: 0, device: "d1", node: "n1" }, { index: 1, device: "d2", node: "n1" }];
 * console.log(planRebuild("c1", places, new Set([1]), candidates)); // [ { index: 1, target: 'd3' } ]
 * ```
 */
export function planRebuild(
  chunkId: string,
  places: readonly FragmentPlace[],
  moving: ReadonlySet<number>,
  candidates: readonly Candidate[],
  /** Fragments of one chunk that a node may hold. */
  share = Number.POSITIVE_INFINITY,
): readonly Rebuild[] | undefined {
  checkArgument("chunkId", chunkId, "string");
  checkArgument("places", places, "array");
  checkArgument("moving", moving, "object");
  checkArgument("candidates", candidates, "array");
  const most = (node: string): number => Math.max(share, places.filter((p) => p.node === node).length);
  const staying = places.filter((p) => !moving.has(p.index));
  const holders = new Set(staying.map((p) => p.device));
  const own = new Set(places.filter((p) => moving.has(p.index)).map((p) => p.device));
  const free = candidates.filter((c) => !holders.has(c.id));
  const foreign = free.filter((c) => !own.has(c.id));
  const indexes = [...moving].sort((a, b) => a - b);
  const targets =
    placeChunk(chunkId, foreign, indexes.length, staying, most) ?? fillUp(chunkId, foreign, free, indexes.length, staying, most);
  return targets?.map((target, i) => ({ index: indexes[i] ?? 0, target: target.id }));
}

function fillUp(
  chunkId: string,
  foreign: readonly Candidate[],
  free: readonly Candidate[],
  count: number,
  staying: readonly FragmentPlace[],
  most: (node: string) => number,
): readonly Candidate[] | undefined {
  let first: readonly Candidate[] | undefined;
  for (let n = Math.min(count, foreign.length); first === undefined; n--) first = placeChunk(chunkId, foreign, n, staying, most);
  const taken = new Set(first.map((c) => c.id));
  const rest = placeChunk(
    chunkId,
    free.filter((c) => !taken.has(c.id)),
    count - first.length,
    [...staying, ...first],
    most,
  );
  return rest === undefined ? undefined : [...first, ...rest];
}

/** One finished or running repair, as the history ring keeps it. */
export interface RepairRecord {
  readonly repair_id: string;
  readonly chunk_id: string;
  readonly trigger: "scrub" | "manual" | "under_replication";
  readonly state: "running" | "succeeded" | "failed";
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly detail: string;
}
