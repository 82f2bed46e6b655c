import { checkArgument } from "@seneschal/kernel";
import { cryptoError } from "../errors.ts";
import { CompactRange, foldPeaks } from "./compact-range.ts";
import { consistencyRanges, inclusionRanges, type LeafRange, rangeNodes } from "./proof-ranges.ts";
import { leafHash, nobleSha256, type Sha256 } from "./tree-hash.ts";

/**
 * A whole Merkle tree in memory: appends, roots of any earlier size, inclusion and consistency proofs. For a log in a
 * store keep the nodes there ({@link CompactRange.appendHash} reports them) and use the ranges of `proof-ranges`.
 *
 * @example
 * ```ts
 * import { leafHash, MerkleTree, verifyInclusion } from "@seneschal/crypto/merkle";
 * const tree = new MerkleTree();
 * for (let i = 0; i < 5; i++) tree.append(Uint8Array.of(i));
 * const proof = tree.inclusionProof(3, 5);
 * console.log(verifyInclusion({ index: 3, size: 5, leaf: leafHash(Uint8Array.of(3)), proof, root: tree.root() })); // true
 * ```
 */
export class MerkleTree {
  readonly #hash: Sha256;
  readonly #edge: CompactRange;
  readonly #levels: Uint8Array[][] = [];

  constructor(hash: Sha256 = nobleSha256) {
    this.#hash = hash;
    this.#edge = new CompactRange(0, [], hash);
  }

  get size(): number {
    return this.#edge.size;
  }

  append(data: Uint8Array, onNode?: Parameters<CompactRange["appendHash"]>[1]): number {
    return this.appendHash(leafHash(data, this.#hash), onNode);
  }

  appendHash(leaf: Uint8Array, onNode?: Parameters<CompactRange["appendHash"]>[1]): number {
    if (onNode !== undefined) checkArgument("onNode", onNode, "function");
    return this.#edge.appendHash(leaf, (level, index, hash) => {
      const nodes = this.#levels[level] ?? [];
      nodes[index] = hash;
      this.#levels[level] = nodes;
      onNode?.(level, index, hash);
    });
  }

  /** Root of the first `size` leaves. Throws `log_invalid` beyond the tree. */
  root(size: number = this.size): Uint8Array {
    return this.#rangeRoot({ from: 0, to: this.#within(size) });
  }

  /** Hashes from the leaf's sibling up to the root's child. Throws `log_invalid`. */
  inclusionProof(index: number, size: number = this.size): readonly Uint8Array[] {
    return inclusionRanges(index, this.#within(size)).map((range) => this.#rangeRoot(range));
  }

  /** Proof that the first `oldSize` leaves of the tree of `newSize` were not changed. Throws `log_invalid`. */
  consistencyProof(oldSize: number, newSize: number = this.size): readonly Uint8Array[] {
    return consistencyRanges(oldSize, this.#within(newSize)).map((range) => this.#rangeRoot(range));
  }

  #rangeRoot(range: LeafRange): Uint8Array {
    const nodes = rangeNodes(range).map(({ level, index }) => {
      const node = this.#levels[level]?.[index];
      if (node === undefined) throw cryptoError("log_invalid", "beyond the tree");
      return node;
    });
    return foldPeaks(nodes, this.#hash);
  }

  #within(size: number): number {
    if (size > this.size) throw cryptoError("log_invalid", "size is beyond the tree", { size, available: this.size });
    return size;
  }
}
