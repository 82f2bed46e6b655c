import { foldPeaks, type LeafRange, rangeNodes, type Sha256 } from "@seneschal/crypto/merkle";

/** Of a perfect subtree: indexes of a log's tree stay far below 2^47. */
const keyOf = (level: number, index: number): number => index * 64 + level;

/** Collects, while a tree grows, the perfect subtrees of which the roots over some ranges of its leaves are made. */
export class RangeRoots {
  readonly #ranges: readonly LeafRange[];
  readonly #nodes = new Map<number, Uint8Array | undefined>();

  constructor(ranges: readonly LeafRange[]) {
    this.#ranges = ranges;
    for (const range of ranges) for (const { level, index } of rangeNodes(range)) this.#nodes.set(keyOf(level, index), undefined);
  }

  /** For `CompactRange.appendHash`. */
  readonly onNode = (level: number, index: number, hash: Uint8Array): void => {
    const key = keyOf(level, index);
    if (this.#nodes.has(key)) this.#nodes.set(key, hash);
  };

  /** In the order of the ranges, when the tree has grown over all of them. */
  roots(sha256: Sha256): readonly Uint8Array[] {
    return this.#ranges.map((range) =>
      foldPeaks(
        rangeNodes(range).map(({ level, index }) => {
          const node = this.#nodes.get(keyOf(level, index));
          if (node === undefined) throw new RangeError("the tree does not reach over the range");
          return node;
        }),
        sha256,
      ),
    );
  }
}
