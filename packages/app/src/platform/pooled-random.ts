import type { Random } from "@seneschal/kernel/ports";

const POOL = 8192;

/**
 * Draws from the source in large pieces: for ids and nonces, of which a request needs several. Bytes are handed out once and
 * as fresh arrays. Keys are drawn from the source itself, so that nothing of them lingers in a pool.
 */
export function pooledRandom(random: Random): Random {
  let pool: Uint8Array = new Uint8Array();
  let at = 0;
  return (length) => {
    if (length > 64) return random(length);
    if (at + length > pool.length) {
      pool = random(POOL);
      at = 0;
    }
    const bytes = pool.slice(at, at + length);
    pool.fill(0, at, at + length);
    at += length;
    return bytes;
  };
}
