import { emptyRoot, leafHash, nodeHash } from "../merkle/tree-hash.ts";

/** The left part of a tree: the largest power of two below its size. */
const left = (size: number): number => 2 ** Math.floor(Math.log2(size - 1));

/** The root of a log by the definition of RFC 6962 section 2.1, word by word: slow and obvious. */
export function slowRoot(entries: readonly Uint8Array[]): Uint8Array {
  const [only] = entries;
  if (only === undefined) return emptyRoot();
  if (entries.length === 1) return leafHash(only);
  const k = left(entries.length);
  return nodeHash(slowRoot(entries.slice(0, k)), slowRoot(entries.slice(k)));
}

/** The inclusion proof of the entry at `index`, by section 2.1.1. */
export function slowInclusionProof(index: number, entries: readonly Uint8Array[]): Uint8Array[] {
  if (entries.length <= 1) return [];
  const k = left(entries.length);
  return index < k
    ? [...slowInclusionProof(index, entries.slice(0, k)), slowRoot(entries.slice(k))]
    : [...slowInclusionProof(index - k, entries.slice(k)), slowRoot(entries.slice(0, k))];
}

/** The consistency proof from the log's first `size` entries, by section 2.1.2. */
export function slowConsistencyProof(size: number, entries: readonly Uint8Array[]): Uint8Array[] {
  return subproof(size, entries, true);
}

function subproof(size: number, entries: readonly Uint8Array[], whole: boolean): Uint8Array[] {
  if (size === entries.length) return whole ? [] : [slowRoot(entries)];
  const k = left(entries.length);
  return size <= k
    ? [...subproof(size, entries.slice(0, k), whole), slowRoot(entries.slice(k))]
    : [...subproof(size - k, entries.slice(k), false), slowRoot(entries.slice(0, k))];
}
