import { bytesEqual, concat } from "../bytes.ts";
import { nobleCrypto } from "../provider/noble.ts";
import { NULL, octetString, oid, sequence } from "./der.ts";
import { OID } from "./oids.ts";

export type RsaHash = "sha256" | "sha384" | "sha512";

/** An RSA public key; both numbers big endian. */
export interface RsaPublicKey {
  readonly modulus: Uint8Array;
  readonly exponent: Uint8Array;
}

/**
 * RSASSA-PKCS1-v1_5 verification (RFC 8017 section 8.2.2): builds the one right encoding and compares, so that there is
 * no padding to be parsed wrongly. Keys from 2048 to 8192 bits; public data only, so no constant time is needed.
 */
export function rsaVerify(key: RsaPublicKey, hash: RsaHash, message: Uint8Array, signature: Uint8Array): boolean {
  const size = key.modulus.length;
  const n = toBigInt(key.modulus);
  const e = toBigInt(key.exponent);
  const bits = n.toString(2).length;
  if (bits < 2048 || bits > 8192 || key.exponent.length > 5 || e < 3n || e % 2n === 0n) return false;
  if (signature.length !== size) return false;
  const s = toBigInt(signature);
  if (s >= n) return false;
  const info = sequence(sequence(oid(OID[hash]), NULL), octetString(nobleCrypto.hash(hash, message)));
  if (size < info.length + 11) return false;
  const padding = new Uint8Array(size - info.length - 3).fill(0xff);
  const expected = concat(Uint8Array.of(0, 1), padding, Uint8Array.of(0), info);
  return bytesEqual(toBytes(power(s, e, n), size), expected);
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

function toBigInt(bytes: Uint8Array): bigint {
  let text = "0x0";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return BigInt(text);
}

function toBytes(value: bigint, size: number): Uint8Array {
  const digits = value.toString(16).padStart(size * 2, "0");
  return Uint8Array.from({ length: size }, (_, i) => Number.parseInt(digits.slice(i * 2, i * 2 + 2), 16));
}
