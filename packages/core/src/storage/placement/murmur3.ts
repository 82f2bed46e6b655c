import { checkArgument } from "@seneschal/kernel";

/**
 * MurmurHash3 x86 32-bit (Austin Appleby, public domain) over the UTF-16 code units' low bytes; the inputs here are
 * ASCII identifiers. Not for anything an attacker may choose to collide for profit: placement and sharding only.
 *
 * @example
 * ```ts
 * import { murmur3 } from "@seneschal/core/storage";
 * console.log(murmur3("hello", 0)); // 613153351
 * ```
 */
export function murmur3(text: string, seed: number): number {
  checkArgument("text", text, "string");
  checkArgument("seed", seed, "number");
  let h = seed | 0;
  const blocks = text.length & ~3;
  for (let i = 0; i < blocks; i += 4) {
    const k =
      (text.charCodeAt(i) & 255) |
      ((text.charCodeAt(i + 1) & 255) << 8) |
      ((text.charCodeAt(i + 2) & 255) << 16) |
      ((text.charCodeAt(i + 3) & 255) << 24);
    h = (Math.imul(rotl(h ^ scramble(k), 13), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let i = text.length - 1; i >= blocks; i--) tail = (tail << 8) | (text.charCodeAt(i) & 255);
  if (blocks < text.length) h ^= scramble(tail);
  h ^= text.length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function rotl(x: number, r: number): number {
  return (x << r) | (x >>> (32 - r));
}

function scramble(k: number): number {
  return Math.imul(rotl(Math.imul(k, 0xcc9e2d51), 15), 0x1b873593);
}
