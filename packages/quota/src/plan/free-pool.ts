import { fits } from "../apply/assign.ts";
import { type Allocation, countedGpus, isSensitive } from "../state/allocation.ts";
import type { ComputeNode } from "../state/node.ts";
import { userKey } from "../state/state.ts";

/** Free nodes that are alike: any of them will do. Nodes are taken from the end. */
interface Bucket {
  readonly like: ComputeNode;
  readonly nodes: ComputeNode[];
}

/** The buckets of one group of nodes that a kind of request can use, in the order in which it takes them. */
type Group = readonly Bucket[];

/** What decides which nodes a request can use, and which it likes best. */
export type Want = Pick<Allocation, "gpuType" | "gpusPerNode" | "user" | "tenant" | "sensitive" | "labels" | "datasets">;

/** How well a request fits into what is free: in how few groups, how tightly, with how much of its data, and at what price. */
export interface Fit {
  readonly free: number;
  /** 0: it does not fit. */
  readonly groups: number;
  /** Nodes wanted over nodes free in those groups. */
  readonly tightness: number;
  /** The part of its data sets that is in place on the nodes it would get, 0..1; undefined when it names none. */
  readonly data: number | undefined;
  /** The mean energy price of the nodes it would get, as far as they declare one. */
  readonly price: number | undefined;
}

/** What a request would get now. */
interface Choice {
  readonly mine: readonly ComputeNode[];
  readonly buckets: readonly (readonly [Bucket, number])[];
  readonly groups: number;
  /** Free nodes in these groups. */
  readonly room: number;
}

/** The nodes that a cycle may still give away. */
export class FreePool {
  readonly #groups = new Map<string, Map<string, Bucket>>();
  readonly #claimed = new Map<string, ComputeNode[]>();
  /** What each kind of request can use; the buckets inside are shared. */
  readonly #views = new Map<string, readonly Group[]>();

  /** From nodes that are ready and that nobody holds. */
  constructor(nodes: Iterable<ComputeNode>) {
    for (const node of nodes) {
      if (node.claim !== null) push(this.#claimed, userKey(node.claim.claimant, node.claim.tenant), node);
      else this.#bucketOf(node).nodes.push(node);
    }
    for (const group of this.#groups.values()) for (const { nodes } of group.values()) nodes.reverse();
  }

  /** Idle nodes under the requester's own claim. */
  claimedFor(want: Want): number {
    return isSensitive(want) ? this.#mine(want).length : 0;
  }

  /** Nodes that the request could have. */
  free(want: Want): number {
    let free = this.claimedFor(want);
    for (const group of this.#view(want)) free += sizeOf(group);
    return free;
  }

  fit(want: Want, nodes: number): Fit {
    const free = this.free(want);
    if (free < nodes) return { free, groups: 0, tightness: 0, data: undefined, price: undefined };
    const own = this.claimedFor(want);
    const { mine, buckets, groups, room } = this.#choose(want, nodes);
    const kinds = [...mine.map((node) => [node, 1] as const), ...buckets.map(([{ like }, count]) => [like, count] as const)];
    let found = 0;
    let priced = 0;
    let sum = 0;
    for (const [like, count] of kinds) {
      found += count * inPlace(like, want);
      if (like.energyPrice === null) continue;
      priced += count;
      sum += count * like.energyPrice;
    }
    return {
      free,
      groups,
      tightness: own >= nodes ? 1 : nodes / (own + room),
      data: want.datasets.length === 0 ? undefined : found / (nodes * want.datasets.length),
      price: priced === 0 ? undefined : sum / priced,
    };
  }

  /**
   * Takes up to `nodes` nodes: own claims first, then the smallest group that holds the rest, else the largest groups. Among
   * groups of one size, and inside a group once few GPUs come first, those where more of its data is in place, then cheaper ones.
   */
  take(want: Want, nodes: number): readonly ComputeNode[] {
    const { mine, buckets } = this.#choose(want, nodes);
    const taken: ComputeNode[] = [...mine];
    if (mine.length > 0) {
      const gone = new Set(mine);
      const key = userKey(want.user, want.tenant);
      this.#claimed.set(key, this.#claimed.get(key)?.filter((node) => !gone.has(node)) ?? []);
    }
    for (const [bucket, count] of buckets) for (let i = 0; i < count; i++) taken.push(bucket.nodes.pop() as ComputeNode);
    return taken;
  }

  /** Puts nodes back that were taken from this pool, the last one first. */
  give(nodes: readonly ComputeNode[]): void {
    for (const node of nodes.toReversed()) {
      if (node.claim === null) this.#bucketOf(node).nodes.push(node);
      else this.#claimed.get(userKey(node.claim.claimant, node.claim.tenant))?.unshift(node);
    }
  }

  #choose(want: Want, nodes: number): Choice {
    const mine = isSensitive(want) ? this.#mine(want).slice(0, nodes) : [];
    const groups = this.#view(want);
    let missing = nodes - mine.length;
    const single = smallest(groups, missing);
    const order = single === undefined ? [...groups].sort((a, b) => sizeOf(b) - sizeOf(a)) : [single];
    const buckets: [Bucket, number][] = [];
    let used = mine.length > 0 ? 1 : 0;
    let room = 0;
    for (const group of order) {
      if (missing === 0) break;
      used++;
      room += sizeOf(group);
      for (const bucket of group) {
        const count = Math.min(missing, bucket.nodes.length);
        if (count > 0) buckets.push([bucket, count]);
        missing -= count;
      }
    }
    return { mine, buckets, groups: used, room };
  }

  #bucketOf(node: ComputeNode): Bucket {
    let group = this.#groups.get(node.group);
    if (group === undefined) {
      group = new Map();
      this.#groups.set(node.group, group);
    }
    const key = `${node.gpuType}\u0000${node.gpuCount}\u0000${node.energyPrice}\u0000${node.datasets.join("\u0000")}`;
    let bucket = group.get(key);
    if (bucket === undefined) {
      bucket = { like: node, nodes: [] };
      group.set(key, bucket);
    }
    return bucket;
  }

  #mine(want: Want): readonly ComputeNode[] {
    return this.#claimed.get(userKey(want.user, want.tenant))?.filter((node) => fits(node, want)) ?? [];
  }

  #view(want: Want): readonly Group[] {
    const key = `${want.gpuType}\u0000${want.gpusPerNode}\u0000${want.datasets.join("\u0000")}`;
    let view = this.#views.get(key);
    if (view === undefined) {
      view = [...this.#groups.values()]
        .map((group) =>
          [...group.values()]
            .filter(({ like }) => fits(like, want))
            .sort((a, b) => gpusOf(a.like) - gpusOf(b.like) || liking(want, [a], [b])),
        )
        .filter((group) => group.length > 0)
        .sort((a, b) => liking(want, a, b));
      this.#views.set(key, view);
    }
    return view;
  }
}

/** Which of two sets of nodes a request likes better, by the nodes in them: more of its data, then the lower mean price. */
function liking(want: Want, a: Group, b: Group): number {
  const data = (group: Group): number => mean(group, (like) => inPlace(like, want)) ?? 0;
  const price = (group: Group): number => mean(group, (like) => like.energyPrice) ?? Number.POSITIVE_INFINITY;
  return compare(data(b), data(a)) || compare(price(a), price(b));
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Over the nodes that say it. */
function mean(group: Group, of: (like: ComputeNode) => number | null): number | undefined {
  let sum = 0;
  let count = 0;
  for (const { like, nodes } of group) {
    const value = of(like);
    if (value === null) continue;
    sum += value * nodes.length;
    count += nodes.length;
  }
  return count === 0 ? undefined : sum / count;
}

/** How many of the wanted data sets a node has. */
function inPlace(node: ComputeNode, want: Want): number {
  let count = 0;
  for (const name of want.datasets) if (node.datasets.includes(name)) count++;
  return count;
}

function sizeOf(group: Group): number {
  let size = 0;
  for (const { nodes } of group) size += nodes.length;
  return size;
}

/** The smallest group with at least this many nodes. */
function smallest(groups: readonly Group[], nodes: number): Group | undefined {
  let best: Group | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const group of groups) {
    const size = sizeOf(group);
    if (size >= nodes && size < least) {
      best = group;
      least = size;
    }
  }
  return best;
}

function gpusOf(node: ComputeNode): number {
  return node.gpuType === null ? 0 : countedGpus(node.gpuCount);
}

function push<V>(map: Map<string, V[]>, key: string, value: V): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}
