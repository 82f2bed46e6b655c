import { fits } from "../apply/assign.ts";
import { type Allocation, countedGpus, isSensitive } from "../state/allocation.ts";
import type { ComputeNode } from "../state/node.ts";
import { userKey } from "../state/state.ts";

/** Free nodes that are alike: any of them will do. Nodes are taken from the end. */
interface Bucket {
  readonly group: string;
  readonly like: ComputeNode;
  readonly nodes: ComputeNode[];
}

type Want = Pick<Allocation, "gpuType" | "gpusPerNode" | "user" | "tenant" | "sensitive" | "labels">;

/** How well a request fits into what is free: in how few groups, and how tightly. */
export interface Fit {
  readonly free: number;
  readonly groups: number;
  readonly tightness: number;
}

/** The nodes that a cycle may still give away. */
export class FreePool {
  readonly #buckets: readonly Bucket[];
  readonly #claimed = new Map<string, ComputeNode[]>();

  constructor(nodes: Iterable<ComputeNode>) {
    const buckets = new Map<string, Bucket>();
    for (const node of nodes) {
      if (node.state !== "ready" || node.owner !== null) continue;
      if (node.claim !== null) {
        const key = userKey(node.claim.claimant, node.claim.tenant);
        const mine = this.#claimed.get(key);
        if (mine === undefined) this.#claimed.set(key, [node]);
        else mine.push(node);
        continue;
      }
      const key = `${node.group}\u0000${node.gpuType}\u0000${node.gpuCount}`;
      const bucket = buckets.get(key);
      if (bucket === undefined) buckets.set(key, { group: node.group, like: node, nodes: [node] });
      else bucket.nodes.push(node);
    }
    // few GPUs first, so that work without GPUs leaves them free
    this.#buckets = [...buckets.values()].sort((a, b) => gpusOf(a.like) - gpusOf(b.like));
    for (const { nodes } of this.#buckets) nodes.reverse();
  }

  /** Idle nodes under the requester's own claim. */
  claimedFor(want: Want): number {
    return isSensitive(want) ? this.#mine(want).length : 0;
  }

  fit(want: Want, nodes: number): Fit {
    const sizes = [...this.#byGroup(want).values()].map(({ size }) => size).sort((a, b) => b - a);
    const own = this.claimedFor(want);
    const free = own + sizes.reduce((sum, n) => sum + n, 0);
    const single = sizes.findLast((size) => size >= nodes);
    if (single !== undefined) return { free, groups: 1, tightness: nodes / single };
    let taken = own;
    let groups = own > 0 ? 1 : 0;
    for (const size of sizes) {
      if (taken >= nodes) break;
      taken += size;
      groups++;
    }
    return { free, groups, tightness: taken >= nodes && taken > 0 ? nodes / taken : 0 };
  }

  /** Takes `nodes` nodes: own claims first, then the smallest group that holds the rest, else the largest groups. */
  take(want: Want, nodes: number): readonly ComputeNode[] {
    const taken: ComputeNode[] = [];
    if (isSensitive(want)) {
      const mine = this.#mine(want).slice(0, nodes);
      taken.push(...mine);
      const key = userKey(want.user, want.tenant);
      this.#claimed.set(key, this.#claimed.get(key)?.filter((node) => !mine.includes(node)) ?? []);
    }
    const groups = [...this.#byGroup(want).values()].sort((a, b) => b.size - a.size);
    const single = groups.findLast(({ size }) => size >= nodes - taken.length);
    for (const { buckets } of single === undefined ? groups : [single])
      for (const bucket of buckets)
        while (taken.length < nodes && bucket.nodes.length > 0) taken.push(bucket.nodes.pop() as ComputeNode);
    return taken;
  }

  #mine(want: Want): ComputeNode[] {
    return this.#claimed.get(userKey(want.user, want.tenant))?.filter((node) => fits(node, want)) ?? [];
  }

  #byGroup(want: Want): ReadonlyMap<string, { size: number; buckets: Bucket[] }> {
    const groups = new Map<string, { size: number; buckets: Bucket[] }>();
    for (const bucket of this.#buckets) {
      if (bucket.nodes.length === 0 || !fits(bucket.like, want)) continue;
      const group = groups.get(bucket.group);
      if (group === undefined) groups.set(bucket.group, { size: bucket.nodes.length, buckets: [bucket] });
      else {
        group.size += bucket.nodes.length;
        group.buckets.push(bucket);
      }
    }
    return groups;
  }
}

function gpusOf(node: ComputeNode): number {
  return node.gpuType === null ? 0 : countedGpus(node.gpuCount);
}
