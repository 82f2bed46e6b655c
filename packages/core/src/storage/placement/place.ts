import { checkArgument } from "@seneschal/kernel";
import { murmur3 } from "./murmur3.ts";

/** A device that may take a fragment. `weight` is in any unit, usually capacity in bytes; 0 takes nothing. */
export interface Candidate {
  readonly id: string;
  readonly node: string;
  readonly weight: number;
}

/**
 * All candidates in the chunk's order of preference: weighted rendezvous hashing (Schindelhauer & Schomaker 2005,
 * score -w / ln h). Adding or removing a device moves only the chunks that prefer it.
 *
 * @example
 * ```ts
 * import { rankDevices } from "@seneschal/core/storage";
 * const candidates = ["d1", "d2", "d3"].map((id) => ({ id, node: "n1", weight: 1 }));
 * console.log(rankDevices("c1", candidates).length, rankDevices("c1", candidates)[0]?.id === rankDevices("c1", [...candidates].reverse())[0]?.id); // 3 true
 * ```
 */
export function rankDevices<C extends Candidate>(chunkId: string, candidates: readonly C[]): readonly C[] {
  checkArgument("chunkId", chunkId, "string");
  checkArgument("candidates", candidates, "array");
  return candidates
    .filter((c) => c.weight > 0)
    .map((c) => ({ c, score: -c.weight / Math.log(unit(`${chunkId}/${c.id}`)) }))
    .sort((a, b) => b.score - a.score || (a.c.id < b.c.id ? -1 : 1))
    .map((r) => r.c);
}

/**
 * Picks `count` distinct devices, spread over nodes as evenly as the candidates allow: no node gets a second fragment
 * while another could take its first, and none more than `most` allows. Returns `undefined` when fewer than `count` find a place.
 *
 * @example
 * ```ts
 * import { placeChunk } from "@seneschal/core/storage";
 * const devices = ["a", "b", "c"].map((id) => ({ id, node: "n1", weight: 1 }));
 * console.log(placeChunk("0f".repeat(32), devices, 2)?.length); // 2
 * ```
 */
export function placeChunk<C extends Candidate>(
  chunkId: string,
  candidates: readonly C[],
  count: number,
  /** Fragments that nodes already hold of this chunk. */
  held: readonly { readonly node: string }[] = [],
  /** Fragments of this chunk that a node may hold. */
  most: (node: string) => number = () => Number.POSITIVE_INFINITY,
): readonly C[] | undefined {
  checkArgument("chunkId", chunkId, "string");
  checkArgument("candidates", candidates, "array");
  checkArgument("count", count, "number");
  let left = [...rankDevices(chunkId, candidates)];
  const perNode = new Map<string, number>();
  for (const { node } of held) perNode.set(node, (perNode.get(node) ?? 0) + 1);
  const chosen: C[] = [];
  while (chosen.length < count) {
    left = left.filter((c) => (perNode.get(c.node) ?? 0) < most(c.node));
    const least = Math.min(...left.map((c) => perNode.get(c.node) ?? 0));
    const index = left.findIndex((c) => (perNode.get(c.node) ?? 0) === least);
    const [next] = left.splice(index, 1);
    if (next === undefined) return undefined;
    perNode.set(next.node, least + 1);
    chosen.push(next);
  }
  return chosen;
}

/**
 * The devices that fragments of a chunk are to leave for others that placement prefers today; `undefined`: it lies where it should, or has no place to go
 * to. `held`: where its fragments are now; `count`: how many it has, with those that are nowhere; `share`: how many of them one node may hold.
 *
 * @example
 * ```ts
 * import { misplacedOn } from "@seneschal/core/storage";
 * const devices = ["a", "b"].map((id) => ({ id, node: id, weight: 1 }));
 * console.log(misplacedOn("0f".repeat(32), ["a", "gone"], devices, 2, 1)); // Set(1) { 'gone' }
 * console.log(misplacedOn("0f".repeat(32), ["a", "b"], devices, 2, 1)); // undefined
 * ```
 */
export function misplacedOn(
  chunkId: string,
  held: readonly string[],
  candidates: readonly Candidate[],
  count: number,
  share: number,
): ReadonlySet<string> | undefined {
  checkArgument("held", held, "array");
  checkArgument("share", share, "number");
  const ideal = placeChunk(chunkId, candidates, count, [], () => share);
  if (ideal === undefined || ideal.every(({ id }) => held.includes(id))) return undefined;
  const wanted = new Set(ideal.map(({ id }) => id));
  return new Set(held.filter((device) => !wanted.has(device)));
}

/** 52 hash bits as a number strictly between 0 and 1. */
function unit(text: string): number {
  const high = murmur3(text, 0x5eed0001) >>> 6;
  const low = murmur3(text, 0x5eed0002) >>> 6;
  return (high * 2 ** 26 + low + 0.5) / 2 ** 52;
}
