import { checkArgument } from "@seneschal/kernel";
import { cryptoError } from "../errors.ts";
import { assertSize, splitPoint } from "./tree-hash.ts";

/** Leaves `from` (inclusive) to `to` (exclusive); a proof is the list of the roots over such ranges. */
export interface LeafRange {
  readonly from: number;
  readonly to: number;
}

/** A perfect subtree by its level (leaf: 0) and its index on that level. */
export interface NodeId {
  readonly level: number;
  readonly index: number;
}

/**
 * The ranges whose roots, in this order, prove that leaf `index` is in the tree of `size` leaves (RFC 6962 section 2.1.1).
 * A store that keeps perfect subtrees answers each with {@link rangeNodes}.
 */
export function inclusionRanges(index: number, size: number): readonly LeafRange[] {
  assertSize(index, "leaf index");
  assertSize(size, "tree size");
  if (index >= size) throw cryptoError("log_invalid", "leaf index is beyond the tree", { index, size });
  const path: LeafRange[] = [];
  let from = 0;
  let to = size;
  while (to - from > 1) {
    const middle = from + splitPoint(to - from);
    if (index < middle) {
      path.push({ from: middle, to });
      to = middle;
    } else {
      path.push({ from, to: middle });
      from = middle;
    }
  }
  return path.reverse();
}

/**
 * The ranges whose roots prove that the tree of `newSize` leaves begins with the tree of `oldSize` leaves
 * (RFC 6962 section 2.1.2). Empty for equal sizes and for the empty old tree.
 */
export function consistencyRanges(oldSize: number, newSize: number): readonly LeafRange[] {
  assertSize(oldSize, "old size");
  assertSize(newSize, "new size");
  if (oldSize > newSize) throw cryptoError("log_invalid", "the old tree is larger than the new one", { oldSize, newSize });
  if (oldSize === 0 || oldSize === newSize) return [];
  const path: LeafRange[] = [];
  let from = 0;
  let to = newSize;
  // INVARIANT: `whole` says that [from, oldSize) starts at 0, so that its root is the old root, which the verifier has.
  let whole = true;
  while (oldSize < to) {
    const middle = from + splitPoint(to - from);
    if (oldSize <= middle) {
      path.push({ from: middle, to });
      to = middle;
    } else {
      path.push({ from, to: middle });
      from = middle;
      whole = false;
    }
  }
  if (!whole) path.push({ from, to });
  return path.reverse();
}

/** The perfect subtrees that make up a range, from left to right; fold their hashes with `foldPeaks`. */
export function rangeNodes(range: LeafRange): readonly NodeId[] {
  checkArgument("range", range, "object");
  const { from, to } = range;
  const nodes: NodeId[] = [];
  for (let at = from; at < to; ) {
    let level = 0;
    let width = 1;
    while (at % (width * 2) === 0 && at + width * 2 <= to) {
      width *= 2;
      level++;
    }
    nodes.push({ level, index: at / width });
    at += width;
  }
  return nodes;
}
