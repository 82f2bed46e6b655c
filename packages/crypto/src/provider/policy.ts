import { checkArgument } from "@seneschal/kernel";
import type { Argon2Params } from "@seneschal/kernel/ports";
import { cryptoError } from "../errors.ts";

const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const ED25519_P = 2n ** 255n - 19n;

/** y of one of the four points of order 8; the other y of order 8 is its negative. */
const ORDER_8_Y = 55188659117513257062467267217118295137698188065244968500265048394206261417927n;
/** The y coordinates of all eight points of small order. */
const SMALL_ORDER_Y = new Set([0n, 1n, ED25519_P - 1n, ORDER_8_Y, ED25519_P - ORDER_8_Y]);

/** The lowest argon2id cost that a provider computes, and the one to use when nothing speaks against it (RFC 9106 section 4). */
export const ARGON2_FLOOR: Argon2Params = { time: 2, memoryKiB: 19 * 1024, parallelism: 1 };
export const ARGON2_DEFAULT: Argon2Params = { time: 3, memoryKiB: 64 * 1024, parallelism: 4 };

function demand(ok: boolean, message: string): void {
  if (!ok) throw cryptoError("crypto_invalid", message);
}

/** AES key sizes of FIPS 197. */
export function assertAesKey(key: Uint8Array): void {
  checkArgument("key", key, "bytes");
  demand(key.length === 16 || key.length === 24 || key.length === 32, "AES key must be 16, 24 or 32 bytes");
}

/** Only 96-bit nonces: every other GCM length hashes the nonce and loses its guarantees. */
export function assertNonce(nonce: Uint8Array): void {
  checkArgument("nonce", nonce, "bytes");
  demand(nonce.length === 12, "nonce must be 12 bytes");
}

export function assertLength(bytes: Uint8Array, length: number, what: string): void {
  checkArgument("bytes", bytes, "bytes");
  checkArgument("length", length, "number");
  checkArgument("what", what, "string");
  demand(bytes.length === length, `${what} must be ${length} bytes`);
}

export function assertHkdfLength(length: number, hashLength: number): void {
  demand(Number.isInteger(length) && length >= 1 && length <= 255 * hashLength, "HKDF length out of range");
}

/** RFC 3394: at least two blocks of 8 bytes. */
export function assertWrapPayload(length: number): void {
  demand(length >= 16 && length % 8 === 0, "key to wrap must be at least 16 bytes and a multiple of 8");
}

export function assertP256Secret(secret: Uint8Array): void {
  checkArgument("secret", secret, "bytes");
  assertLength(secret, 32, "P-256 secret key");
  const scalar = toNumber(secret);
  demand(scalar > 0n && scalar < P256_ORDER, "P-256 secret key out of range");
}

/** SEC1 uncompressed or compressed; the hybrid form and the point at infinity do not exist here. */
export function assertP256PublicKey(key: Uint8Array): void {
  checkArgument("key", key, "bytes");
  const lead = key[0];
  demand(
    (key.length === 65 && lead === 4) || (key.length === 33 && (lead === 2 || lead === 3)),
    "P-256 public key must be a SEC1 point",
  );
}

/** True for a canonical encoding whose point is not of small order; such keys sign anything. */
export function isStrictEd25519Key(key: Uint8Array): boolean {
  checkArgument("key", key, "bytes");
  const little = Uint8Array.from(key).reverse();
  little[0] = (little[0] ?? 0) & 0x7f;
  const y = toNumber(little);
  return y < ED25519_P && !SMALL_ORDER_Y.has(y);
}

/** The floor (OWASP password storage guidance); ceilings keep a hostile parameter string from taking the machine. */
export function assertArgon2(salt: Uint8Array, params: Argon2Params, length: number): void {
  checkArgument("salt", salt, "bytes");
  checkArgument("params", params, "object");
  checkArgument("length", length, "number");
  const { time, memoryKiB, parallelism } = params;
  const whole = Number.isInteger(time) && Number.isInteger(memoryKiB) && Number.isInteger(parallelism);
  demand(whole && parallelism >= ARGON2_FLOOR.parallelism, "argon2id parameters must be positive integers");
  demand(memoryKiB >= ARGON2_FLOOR.memoryKiB && time >= ARGON2_FLOOR.time, "argon2id below the floor of 19 MiB and 2 passes");
  demand(memoryKiB <= 2 * 1024 * 1024 && time <= 64 && parallelism <= 64, "argon2id parameters too large");
  demand(salt.length >= 16 && salt.length <= 1024, "argon2id salt must be 16 to 1024 bytes");
  demand(Number.isInteger(length) && length >= 16 && length <= 1024, "argon2id output must be 16 to 1024 bytes");
}

function toNumber(bigEndian: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bigEndian) value = (value << 8n) | BigInt(byte);
  return value;
}
