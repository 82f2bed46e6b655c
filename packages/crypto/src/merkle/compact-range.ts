import { checkArgument } from "@seneschal/kernel";
import { cryptoError } from "../errors.ts";
import { assertSize, emptyRoot, leafHash, nobleSha256, nodeHash, type Sha256 } from "./tree-hash.ts";

/**
 * The right edge of an append-only Merkle tree: all that appending and the root need, at most 53 hashes however long the
 * log is. Keep `size` and `hashes` with the log's newest entry; commit them in the same transaction as the entry.
 *
 * @example
 * ```ts
 * import { CompactRange } from "@seneschal/crypto/merkle";
 * const log = new CompactRange();
 * log.append(Uint8Array.of(1));
 * log.append(Uint8Array.of(2));
 * console.log(log.size, log.root().length, new CompactRange(log.size, log.hashes).size); // 2 32 2
 * ```
 */
export class CompactRange {
  readonly #hash: Sha256;
  /** Roots of the perfect subtrees from left to right, one per set bit of the size, largest first. */
  readonly #peaks: Uint8Array[];
  #size: number;

  /** Continues from a saved state. Throws `log_invalid` when the number of hashes does not fit the size. */
  constructor(size = 0, hashes: readonly Uint8Array[] = [], hash: Sha256 = nobleSha256) {
    assertSize(size, "tree size");
    if (hashes.length !== setBits(size) || hashes.some((h) => h.length !== 32)) {
      throw cryptoError("log_invalid", "the hashes do not fit the size");
    }
    this.#size = size;
    this.#peaks = hashes.map((h) => Uint8Array.from(h));
    this.#hash = hash;
  }

  get size(): number {
    return this.#size;
  }

  /** The state to save; fresh copies. */
  get hashes(): readonly Uint8Array[] {
    return this.#peaks.map((peak) => Uint8Array.from(peak));
  }

  /** Appends the next leaf by its data and returns its index. */
  append(data: Uint8Array): number {
    return this.appendHash(leafHash(data, this.#hash));
  }

  /** Appends the next leaf by its hash. `onNode` sees every perfect subtree that this completes, by level (leaf: 0) and index. */
  appendHash(leaf: Uint8Array, onNode?: (level: number, index: number, hash: Uint8Array) => void): number {
    if (onNode !== undefined) checkArgument("onNode", onNode, "function");
    const index = this.#size;
    assertSize(index + 1, "tree size");
    let node = leaf;
    let level = 0;
    let at = index;
    onNode?.(level, at, node);
    for (; at % 2 === 1; at = (at - 1) / 2) {
      const left = this.#peaks.pop();
      if (left === undefined) throw cryptoError("log_invalid", "the hashes do not fit the size");
      node = nodeHash(left, node, this.#hash);
      level++;
      onNode?.(level, (at - 1) / 2, node);
    }
    this.#peaks.push(node);
    this.#size = index + 1;
    return index;
  }

  /** The tree's root (RFC 6962 section 2.1). */
  root(): Uint8Array {
    return foldPeaks(this.#peaks, this.#hash);
  }
}

/** Root over perfect subtrees of falling size: the right edge folded from the right. */
export function foldPeaks(peaks: readonly Uint8Array[], hash: Sha256 = nobleSha256): Uint8Array {
  checkArgument("peaks", peaks, "array");
  const last = peaks[peaks.length - 1];
  if (last === undefined) return emptyRoot(hash);
  return peaks.slice(0, -1).reduceRight((right, left) => nodeHash(left, right, hash), Uint8Array.from(last));
}

function setBits(size: number): number {
  let bits = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) bits += rest % 2;
  return bits;
}
