import type { Random } from "@seneschal/kernel/ports";

/** Predictable bytes for tests: equal seeds give equal sequences (xorshift32). **Never for keys.** */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0 || 0x9e3779b9;
  return (length) => {
    const bytes = new Uint8Array(length);
    for (let i = 0; i < length; i += 1) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      bytes[i] = (state >>> 8) & 0xff;
    }
    return bytes;
  };
}
