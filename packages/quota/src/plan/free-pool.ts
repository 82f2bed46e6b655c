import { fits } from "../apply/assign.ts";
import { type Allocation, countedGpus, isSensitive } from "../state/allocation.ts";
import type { ComputeNode } from "../state/node.ts";
import { userKey } from "../state/state.ts";

/** Free nodes that are alike: any of them will do. Nodes are taken from the end. */
interface Bucket {
  readonly like: ComputeNode;
  readonly nodes: ComputeNode[];
}

/** The buckets of one group of nodes that a kind of request can use, few GPUs first. */
type Group = readonly Bucket[];

type Want = Pick<Allocation, "gpuType" | "gpusPerNode" | "user" | "tenant" | "sensitive" | "labels">;

/** How well a request fits into what is free: in how few groups, and how tightly. */
export interface Fit {
  readonly free: number;
  /** 0: it does not fit. */
  readonly groups: number;
  /** Nodes wanted over nodes free in those groups. */
  readonly tightness: number;
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
    const own = this.claimedFor(want);
    const groups = this.#view(want);
    const free = this.free(want);
    if (free < nodes) return { free, groups: 0, tightness: 0 };
    if (own >= nodes) return { free, groups: 1, tightness: 1 };
    const single = smallest(groups, nodes - own);
    if (single !== undefined) return { free, groups: own > 0 ? 2 : 1, tightness: nodes / (own + sizeOf(single)) };
    let taken = own;
    let used = own > 0 ? 1 : 0;
    for (const size of groups.map(sizeOf).sort((a, b) => b - a)) {
      if (taken >= nodes) break;
      taken += size;
      used++;
    }
    return { free, groups: used, tightness: nodes / taken };
  }

  /** Takes up to `nodes` nodes: own claims first, then the smallest group that holds the rest, else the largest groups. */
  take(want: Want, nodes: number): readonly ComputeNode[] {
    const taken: ComputeNode[] = [];
    if (isSensitive(want)) {
      const mine = this.#mine(want).slice(0, nodes);
      taken.push(...mine);
      const key = userKey(want.user, want.tenant);
      this.#claimed.set(key, this.#claimed.get(key)?.filter((node) => !mine.includes(node)) ?? []);
    }
    const groups = this.#view(want);
    const single = smallest(groups, nodes - taken.length);
    const order = single === undefined ? [...groups].sort((a, b) => sizeOf(b) - sizeOf(a)) : [single];
    for (const group of order)
      for (const bucket of group)
        while (taken.length < nodes && bucket.nodes.length > 0) taken.push(bucket.nodes.pop() as ComputeNode);
    return taken;
  }

  #bucketOf(node: ComputeNode): Bucket {
    let group = this.#groups.get(node.group);
    if (group === undefined) {
      group = new Map();
      this.#groups.set(node.group, group);
    }
    const key = `${node.gpuType}\u0000${node.gpuCount}`;
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
    const key = `${want.gpuType}\u0000${want.gpusPerNode}`;
    let view = this.#views.get(key);
    if (view === undefined) {
      view = [...this.#groups.values()]
        .map((group) =>
          [...group.values()].filter(({ like }) => fits(like, want)).sort((a, b) => gpusOf(a.like) - gpusOf(b.like)),
        )
        .filter((group) => group.length > 0);
      this.#views.set(key, view);
    }
    return view;
  }
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
