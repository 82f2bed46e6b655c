import { sha256 } from "@noble/hashes/sha2.js";
import { checkArgument } from "@seneschal/kernel";
import { cryptoError } from "../errors.ts";

/** SHA-256, from whichever provider is at hand. */
export type Sha256 = (data: Uint8Array) => Uint8Array;

/** The default {@link Sha256}: noble, which needs no host. */
export const nobleSha256: Sha256 = sha256;

/** Hash of a leaf's data: H(0x00 || data) (RFC 6962 section 2.1). */
export function leafHash(data: Uint8Array, hash: Sha256 = nobleSha256): Uint8Array {
  checkArgument("data", data, "bytes");
  const input = new Uint8Array(data.length + 1);
  input.set(data, 1);
  return hash(input);
}

/** Hash of an inner node: H(0x01 || left || right). */
export function nodeHash(left: Uint8Array, right: Uint8Array, hash: Sha256 = nobleSha256): Uint8Array {
  checkArgument("left", left, "bytes");
  checkArgument("right", right, "bytes");
  const input = new Uint8Array(1 + left.length + right.length);
  input[0] = 1;
  input.set(left, 1);
  input.set(right, 1 + left.length);
  return hash(input);
}

/** Root of the empty tree: H(""). */
export function emptyRoot(hash: Sha256 = nobleSha256): Uint8Array {
  return hash(new Uint8Array());
}

/** Sizes and indexes are integers up to 2^53 - 1: no bitwise operators on them, those stop at 2^31. */
export function assertSize(value: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < 0) throw cryptoError("log_invalid", `${what} must be a non-negative integer`);
}

/** The largest power of two smaller than n, for n >= 2. */
export function splitPoint(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}
