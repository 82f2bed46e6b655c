import { checkArgument } from "@seneschal/kernel";
import { bytesEqual } from "../bytes.ts";
import { emptyRoot, nobleSha256, nodeHash, type Sha256 } from "./tree-hash.ts";

/**
 * Whether `leaf` (a leaf hash) is at `index` of the tree with this size and root (RFC 9162 section 2.1.3.2). Every
 * malformed input is just `false`.
 */
export function verifyInclusion(
  claim: {
    readonly index: number;
    readonly size: number;
    readonly leaf: Uint8Array;
    readonly proof: readonly Uint8Array[];
    readonly root: Uint8Array;
  },
  hash: Sha256 = nobleSha256,
): boolean {
  checkArgument("claim", claim, "object");
  const { index, size, leaf, proof, root } = claim;
  if (!isSize(index) || !isSize(size) || index >= size || !areHashes([leaf, root, ...proof])) return false;
  let fn = index;
  let sn = size - 1;
  let r = leaf;
  for (const p of proof) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      r = nodeHash(p, r, hash);
      while (fn % 2 === 0 && fn !== 0) {
        fn = half(fn);
        sn = half(sn);
      }
    } else {
      r = nodeHash(r, p, hash);
    }
    fn = half(fn);
    sn = half(sn);
  }
  return sn === 0 && bytesEqual(r, root);
}

/**
 * Whether the tree (newSize, newRoot) begins with the tree (oldSize, oldRoot) (RFC 9162 section 2.1.4.2). The empty tree
 * proves nothing about a root, so an old size of 0 is `false` unless both are empty and equal.
 */
export function verifyConsistency(
  claim: {
    readonly oldSize: number;
    readonly newSize: number;
    readonly oldRoot: Uint8Array;
    readonly newRoot: Uint8Array;
    readonly proof: readonly Uint8Array[];
  },
  hash: Sha256 = nobleSha256,
): boolean {
  checkArgument("claim", claim, "object");
  const { oldSize, newSize, oldRoot, newRoot, proof } = claim;
  if (!isSize(oldSize) || !isSize(newSize) || oldSize > newSize) return false;
  if (oldSize === 0)
    return newSize === 0 && proof.length === 0 && [oldRoot, newRoot].every((r) => bytesEqual(r, emptyRoot(hash)));
  return verifySubtreeConsistency({ start: 0, end: oldSize, size: newSize, subtreeRoot: oldRoot, root: newRoot, proof }, hash);
}

/**
 * Whether `leaf` is at `index` of the tree over leaves [start, end), with root `subtreeRoot`
 * (draft-ietf-plants-merkle-tree-certs section 4.3).
 */
export function verifySubtreeInclusion(
  claim: {
    readonly index: number;
    readonly start: number;
    readonly end: number;
    readonly leaf: Uint8Array;
    readonly subtreeRoot: Uint8Array;
    readonly proof: readonly Uint8Array[];
  },
  hash: Sha256 = nobleSha256,
): boolean {
  checkArgument("claim", claim, "object");
  const { index, start, end, leaf, subtreeRoot, proof } = claim;
  if (!isSubtree(start, end) || !isSize(index) || index < start) return false;
  return verifyInclusion({ index: index - start, size: end - start, leaf, proof, root: subtreeRoot }, hash);
}

/**
 * Whether the subtree over leaves [start, end) with root `subtreeRoot` is part of the tree (size, root)
 * (draft-ietf-plants-merkle-tree-certs section 4.4; start 0 is the consistency proof of RFC 9162).
 */
export function verifySubtreeConsistency(
  claim: {
    readonly start: number;
    readonly end: number;
    readonly size: number;
    readonly subtreeRoot: Uint8Array;
    readonly root: Uint8Array;
    readonly proof: readonly Uint8Array[];
  },
  hash: Sha256 = nobleSha256,
): boolean {
  checkArgument("claim", claim, "object");
  const { start, end, size, subtreeRoot, root, proof } = claim;
  if (!isSubtree(start, end) || !isSize(size) || end > size) return false;
  if (start === end) return proof.length === 0 && bytesEqual(subtreeRoot, emptyRoot(hash));
  if (start === 0 && end === size) return proof.length === 0 && bytesEqual(subtreeRoot, root);
  if (!areHashes([subtreeRoot, root, ...proof])) return false;
  let fn = start;
  let sn = end - 1;
  let tn = size - 1;
  const rest = [...proof];
  // Climb to the largest node that both trees share: the subtree's own root if that is one, else a node of the proof.
  const done = () => (sn === tn ? fn === sn : fn === sn || sn % 2 === 0);
  while (!done()) [fn, sn, tn] = [half(fn), half(sn), half(tn)];
  const first = fn === sn ? subtreeRoot : rest.shift();
  if (first === undefined) return false;
  let fr = first;
  let sr = first;
  for (const c of rest) {
    if (tn === 0) return false;
    if (sn % 2 === 1 || sn === tn) {
      if (fn < sn) fr = nodeHash(c, fr, hash);
      sr = nodeHash(c, sr, hash);
      while (sn % 2 === 0 && sn !== 0) [fn, sn, tn] = [half(fn), half(sn), half(tn)];
    } else {
      sr = nodeHash(sr, c, hash);
    }
    [fn, sn, tn] = [half(fn), half(sn), half(tn)];
  }
  return tn === 0 && bytesEqual(fr, subtreeRoot) && bytesEqual(sr, root);
}

/** [start, end) is a subtree when start is a multiple of the smallest power of two that holds it, or when it is empty. */
function isSubtree(start: number, end: number): boolean {
  if (!isSize(start) || !isSize(end) || start > end) return false;
  let width = 1;
  while (width < end - start) width *= 2;
  return start % width === 0;
}

function half(n: number): number {
  return Math.floor(n / 2);
}

function isSize(n: number): boolean {
  return Number.isSafeInteger(n) && n >= 0;
}

function areHashes(hashes: readonly Uint8Array[]): boolean {
  return hashes.every((h) => h.length === 32);
}
