import { checkArgument } from "@seneschal/kernel";
import type { Argon2Params, CryptoProvider, Random } from "@seneschal/kernel/ports";
import { base64, bytesEqual, fromBase64 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { ARGON2_DEFAULT } from "../provider/policy.ts";
import { passwordBytes } from "./password-bytes.ts";

const SALT = 16;
const TAG = 32;

/** A password hash taken apart. */
export interface PasswordHash {
  readonly params: Argon2Params;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

/**
 * Hashes a password or token with argon2id into a PHC string, which carries its own salt and cost.
 *
 * @example
 * ```ts
 * import { nodeCrypto } from "@seneschal/adapters/node-crypto";
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { hashPassword, verifyPassword } from "@seneschal/crypto";
 * const stored = await hashPassword(nodeCrypto, "correct horse", systemRandom);
 * console.log(stored.startsWith("$argon2id$v=19$m=65536,t=3,p=4$"), await verifyPassword(nodeCrypto, "correct horse", stored)); // true true
 * ```
 */
export async function hashPassword(
  provider: CryptoProvider,
  password: string,
  random: Random,
  params: Argon2Params = ARGON2_DEFAULT,
): Promise<string> {
  checkArgument("provider", provider, "object");
  checkArgument("password", password, "string");
  checkArgument("random", random, "function");
  const salt = random(SALT);
  const hash = await provider.argon2id(passwordBytes(password), salt, params, TAG);
  return encodePasswordHash({ params, salt, hash });
}

/** Whether a password fits a PHC string; compared in constant time. Throws `crypto_invalid` for a malformed or too cheap one. */
export async function verifyPassword(provider: CryptoProvider, password: string, phc: string): Promise<boolean> {
  const { params, salt, hash } = decodePasswordHash(phc);
  return bytesEqual(hash, await provider.argon2id(passwordBytes(password), salt, params, hash.length));
}

/** The PHC string: `$argon2id$v=19$m=<KiB>,t=<passes>,p=<lanes>$<salt>$<hash>`, base64 without padding. */
export function encodePasswordHash(given: PasswordHash): string {
  checkArgument("given", given, "object");
  const { params, salt, hash } = given;
  const bare = (bytes: Uint8Array) => base64(bytes).replace(/=+$/, "");
  return `$argon2id$v=19$m=${params.memoryKiB},t=${params.time},p=${params.parallelism}$${bare(salt)}$${bare(hash)}`;
}

/** Reads a PHC string of argon2id version 19. Throws `crypto_invalid`. */
export function decodePasswordHash(phc: string): PasswordHash {
  const match = /^\$argon2id\$v=19\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,10})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(phc);
  if (match === null) throw cryptoError("crypto_invalid", "not an argon2id hash");
  const [, m, t, p, salt = "", hash = ""] = match;
  const padded = (text: string) => fromBase64(text + "=".repeat((4 - (text.length % 4)) % 4));
  return {
    params: { memoryKiB: Number(m), time: Number(t), parallelism: Number(p) },
    salt: padded(salt),
    hash: padded(hash),
  };
}

/** Whether a stored hash is cheaper than wanted, so that it is made again at the next successful login. */
export function needsRehash(phc: string, wanted: Argon2Params = ARGON2_DEFAULT): boolean {
  const { params } = decodePasswordHash(phc);
  return params.memoryKiB < wanted.memoryKiB || params.time < wanted.time;
}
