import type { Random } from "@seneschal/kernel/ports";
import { cryptoError } from "../errors.ts";

/**
 * Shares of bytes as shamir-secret-sharing and HashiCorp Vault write them: a point for each byte, then where they were taken, here at 1
 * to `total`. Every coefficient is drawn from `random`. No table is read and nothing branches on a byte of the secret.
 */
export function splitBytes(secret: Uint8Array, total: number, threshold: number, random: Random): Uint8Array[] {
  const coefficients = Array.from({ length: threshold - 1 }, () => drawn(random, secret.length));
  const shares = Array.from({ length: total }, (_, i) => {
    const share = new Uint8Array(secret.length + 1);
    for (const row of coefficients)
      for (let at = 0; at < secret.length; at++) share[at] = times((share[at] ?? 0) ^ (row[at] ?? 0), i + 1);
    for (let at = 0; at < secret.length; at++) share[at] = (share[at] ?? 0) ^ (secret[at] ?? 0);
    share[secret.length] = i + 1;
    return share;
  });
  for (const row of coefficients) row.fill(0);
  return shares;
}

/** Random bytes, of which there are enough to see that a source gives nothing: it would hand the secret to every holder. */
export function drawn(random: Random, length: number): Uint8Array {
  const bytes = random(length);
  if (bytes.length !== length || bytes.every((byte) => byte === bytes[0])) {
    throw cryptoError("crypto_invalid", "the source of randomness gives no random bytes");
  }
  return bytes;
}

/** The product in GF(2^8) with x^8 + x^4 + x^3 + x + 1. */
function times(a: number, b: number): number {
  let product = 0;
  let power = a;
  for (let bit = 0; bit < 8; bit++) {
    product ^= power & -((b >> bit) & 1);
    power = (power << 1) ^ (0x11b & -(power >> 7));
  }
  return product;
}
