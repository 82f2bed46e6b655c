import { aeskw, aeskwp, gcm } from "@noble/ciphers/aes.js";
import { chacha20poly1305 } from "@noble/ciphers/chacha.js";
import { mulAddUnsafe } from "@noble/curves/abstract/curve.js";
import { ed25519, x25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { argon2idAsync } from "@noble/hashes/argon2.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { bytesEqual, concat } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import {
  assertAesKey,
  assertArgon2,
  assertHkdfLength,
  assertLength,
  assertNonce,
  assertP256PublicKey,
  assertP256Secret,
  assertWrapPayload,
  isStrictEd25519Key,
} from "./policy.ts";

const HASHES = { sha1, sha256, sha384, sha512 };
function hashNamed(algorithm: keyof typeof HASHES) {
  if (!Object.hasOwn(HASHES, algorithm)) throw new TypeError(`algorithm: expected ${Object.keys(HASHES).join(", ")}`);
  return HASHES[algorithm];
}

const { Point } = ed25519;
const { Fn } = Point;

/** Runs a primitive; whatever it refuses becomes one code without the library's words. */
function attempt<T>(code: "crypto_invalid" | "decryption_failed", message: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw cryptoError(code, message, {}, cause);
  }
}

/**
 * The pure {@link CryptoProvider}: @noble/* everywhere, runs in any JavaScript host. Ten to fifty times slower than
 * node:crypto from some KiB on; equal in bytes.
 *
 * @example
 * ```ts
 * import { nobleCrypto } from "@seneschal/crypto";
 * const key = new Uint8Array(32);
 * const sealed = nobleCrypto.seal(key, new Uint8Array(12), Uint8Array.of(1, 2, 3), new Uint8Array());
 * console.log(sealed.length); // 19
 * ```
 */
export const nobleCrypto: CryptoProvider = {
  name: "noble",
  seal(key, nonce, plaintext, aad) {
    assertAesKey(key);
    assertNonce(nonce);
    return gcm(key, nonce, aad).encrypt(plaintext);
  },
  open(key, nonce, sealed, aad) {
    assertAesKey(key);
    assertNonce(nonce);
    return attempt("decryption_failed", "decryption failed", () => gcm(key, nonce, aad).decrypt(sealed));
  },
  chachaSeal(key, nonce, plaintext, aad) {
    assertLength(key, 32, "ChaCha20 key");
    assertNonce(nonce);
    return chacha20poly1305(key, nonce, aad).encrypt(plaintext);
  },
  chachaOpen(key, nonce, sealed, aad) {
    assertLength(key, 32, "ChaCha20 key");
    assertNonce(nonce);
    return attempt("decryption_failed", "decryption failed", () => chacha20poly1305(key, nonce, aad).decrypt(sealed));
  },
  hash: (algorithm, data) => hashNamed(algorithm)(data),
  hmac: (algorithm, key, data) => hmac(hashNamed(algorithm), key, data),
  hkdf(algorithm, ikm, salt, info, length) {
    const hash = hashNamed(algorithm);
    assertHkdfLength(length, hash.outputLen);
    return hkdf(hash, ikm, salt, info, length);
  },
  wrap(kek, key) {
    assertAesKey(kek);
    assertWrapPayload(key.length);
    return aeskw(kek).encrypt(key);
  },
  unwrap(kek, wrapped) {
    assertAesKey(kek);
    assertWrapPayload(wrapped.length - 8);
    return attempt("decryption_failed", "unwrapping failed", () => aeskw(kek).decrypt(wrapped));
  },
  wrapPadded(kek, key) {
    assertAesKey(kek);
    if (key.length === 0) throw cryptoError("crypto_invalid", "key to wrap is empty");
    return aeskwp(kek).encrypt(key);
  },
  unwrapPadded(kek, wrapped) {
    assertAesKey(kek);
    return attempt("decryption_failed", "unwrapping failed", () => aeskwp(kek).decrypt(wrapped));
  },
  ed25519PublicKey(seed) {
    assertLength(seed, 32, "Ed25519 seed");
    return ed25519.getPublicKey(seed);
  },
  ed25519Sign(seed, message) {
    assertLength(seed, 32, "Ed25519 seed");
    return ed25519.sign(message, seed);
  },
  ed25519Verify(publicKey, message, signature) {
    assertLength(publicKey, 32, "Ed25519 public key");
    if (signature.length !== 64 || !isStrictEd25519Key(publicKey)) return false;
    // Not ed25519.verify: that one multiplies by the cofactor and so accepts what OpenSSL and most verifiers refuse.
    try {
      const key = Point.fromBytes(publicKey);
      const s = Fn.fromBytes(signature.subarray(32));
      const challenge = sha512(concat(signature.subarray(0, 32), publicKey, message));
      const k = Fn.create(littleEndian(challenge));
      const r = mulAddUnsafe(Point, [Point.BASE, key.negate()], [s, k]);
      return bytesEqual(r.toBytes(), signature.subarray(0, 32));
    } catch {
      return false;
    }
  },
  p256PublicKey(secret) {
    assertP256Secret(secret);
    return p256.getPublicKey(secret, false);
  },
  p256Sign(secret, message) {
    assertP256Secret(secret);
    return p256.sign(message, secret, { lowS: true });
  },
  p256Verify(publicKey, message, signature) {
    assertP256PublicKey(publicKey);
    if (signature.length !== 64) return false;
    try {
      return p256.verify(signature, message, publicKey, { lowS: false });
    } catch {
      return false;
    }
  },
  x25519PublicKey(secret) {
    assertLength(secret, 32, "X25519 secret");
    return x25519.getPublicKey(secret);
  },
  x25519(secret, publicKey) {
    assertLength(secret, 32, "X25519 secret");
    assertLength(publicKey, 32, "X25519 public key");
    return attempt("crypto_invalid", "X25519 public key of low order", () => x25519.getSharedSecret(secret, publicKey));
  },
  async argon2id(password, salt, params, length) {
    assertArgon2(salt, params, length);
    return argon2idAsync(password, salt, {
      t: params.time,
      m: params.memoryKiB,
      p: params.parallelism,
      dkLen: length,
      maxmem: 2 ** 32 - 1,
    });
  },
};

function littleEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i] ?? 0);
  return value;
}
