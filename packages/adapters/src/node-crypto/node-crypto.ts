import {
  createCipheriv,
  createDecipheriv,
  createECDH,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hash,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { cryptoError, nobleCrypto } from "@seneschal/crypto";
import {
  assertAesKey,
  assertArgon2,
  assertLength,
  assertNonce,
  assertP256PublicKey,
  assertP256Secret,
  isStrictEd25519Key,
} from "@seneschal/crypto/provider";
import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { argon2InWorker } from "./argon2.ts";

const TAG = 16;
/** Everything before the raw key in the DER of RFC 8410 and RFC 5480. */
const DER = {
  ed25519Private: Buffer.from("302e020100300506032b657004220420", "hex"),
  ed25519Public: Buffer.from("302a300506032b6570032100", "hex"),
  x25519Private: Buffer.from("302e020100300506032b656e04220420", "hex"),
  x25519Public: Buffer.from("302a300506032b656e032100", "hex"),
  p256Private: Buffer.from("3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420", "hex"),
  p256Public: Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex"),
  p256Compressed: Buffer.from("3039301306072a8648ce3d020106082a8648ce3d030107032200", "hex"),
};
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

type Gcm = "aes-128-gcm" | "aes-192-gcm" | "aes-256-gcm";

/** What a cipher takes at a time: what it gives back is memory of its own, and much of it at once is not in the processor's caches. */
const PIECE = 256 << 10;

function sealWith(
  algorithm: Gcm | "chacha20-poly1305",
  key: Uint8Array,
  nonce: Uint8Array,
  plaintext: Uint8Array,
  aad: Uint8Array,
  out: Uint8Array = new Uint8Array(plaintext.length + TAG),
): Uint8Array {
  const cipher = createCipheriv(algorithm as Gcm, key, nonce, { authTagLength: TAG });
  cipher.setAAD(aad);
  for (let at = 0; at < plaintext.length; at += PIECE) out.set(cipher.update(plaintext.subarray(at, at + PIECE)), at);
  cipher.final();
  out.set(cipher.getAuthTag(), plaintext.length);
  return out;
}

function openWith(
  algorithm: Gcm | "chacha20-poly1305",
  key: Uint8Array,
  nonce: Uint8Array,
  sealed: Uint8Array,
  aad: Uint8Array,
  out: Uint8Array = new Uint8Array(Math.max(0, sealed.length - TAG)),
): Uint8Array {
  if (sealed.length < TAG) throw cryptoError("decryption_failed", "decryption failed");
  // Without authTagLength Node accepts a tag cut to 4 bytes.
  const decipher = createDecipheriv(algorithm as Gcm, key, nonce, { authTagLength: TAG });
  decipher.setAAD(aad);
  const body = sealed.subarray(0, sealed.length - TAG);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
  for (let at = 0; at < body.length; at += PIECE) out.set(decipher.update(body.subarray(at, at + PIECE)), at);
  try {
    decipher.final();
  } catch {
    out.fill(0);
    throw cryptoError("decryption_failed", "decryption failed");
  }
  return out;
}

function checkBytes(given: Readonly<Record<string, Uint8Array>>): void {
  for (const [name, bytes] of Object.entries(given)) checkArgument(name, bytes, "bytes");
}

function privateKey(prefix: Buffer, raw: Uint8Array): KeyObject {
  const der = Buffer.concat([prefix, raw]);
  try {
    return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  } finally {
    der.fill(0);
  }
}

function publicKey(prefix: Buffer, raw: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([prefix, raw]), format: "der", type: "spki" });
}

/** The raw public key at the end of a SubjectPublicKeyInfo. */
function rawPublic(key: KeyObject, length: number): Uint8Array {
  return new Uint8Array(createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-length));
}

/** OpenSSL does not normalise s; r||s with the smaller of s and n - s. */
function lowS(signature: Uint8Array): Uint8Array {
  const out = new Uint8Array(signature);
  const s = BigInt(`0x${Buffer.from(out.subarray(32)).toString("hex")}`);
  if (s > P256_ORDER / 2n) out.set(Buffer.from((P256_ORDER - s).toString(16).padStart(64, "0"), "hex"), 32);
  return out;
}

/**
 * AES-GCM as `nodeCrypto.seal` has it, into memory of the caller's: 16 bytes more than the plaintext. Throws `RangeError` for memory of
 * another length.
 *
 * @example
 * ```ts
 * import { openInto, sealInto } from "@seneschal/adapters/node-crypto";
 * const [key, nonce, aad] = [new Uint8Array(32), new Uint8Array(12), new Uint8Array(0)];
 * const sealed = new Uint8Array(3 + 16);
 * sealInto(key, nonce, Uint8Array.of(1, 2, 3), aad, sealed);
 * const plaintext = new Uint8Array(3);
 * openInto(key, nonce, sealed, aad, plaintext);
 * console.log(plaintext); // Uint8Array(3) [ 1, 2, 3 ]
 * ```
 */
export function sealInto(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array, aad: Uint8Array, into: Uint8Array): void {
  checkBytes({ key, nonce, plaintext, aad, into });
  assertAesKey(key);
  assertNonce(nonce);
  if (into.length !== plaintext.length + TAG)
    throw new RangeError(`sealed bytes take ${plaintext.length + TAG}, not ${into.length}`);
  sealWith(`aes-${key.length * 8}-gcm` as Gcm, key, nonce, plaintext, aad, into);
}

/**
 * The reverse of {@link sealInto}: memory of 16 bytes less than what is sealed. Throws as `nodeCrypto.open`, and then has only zeros there.
 *
 * @example
 * ```ts
 * import { nodeCrypto, openInto } from "@seneschal/adapters/node-crypto";
 * const [key, nonce, aad] = [new Uint8Array(32), new Uint8Array(12), new Uint8Array(0)];
 * const sealed = nodeCrypto.seal(key, nonce, Uint8Array.of(1, 2, 3), aad);
 * const plaintext = new Uint8Array(3);
 * openInto(key, nonce, sealed, aad, plaintext);
 * console.log(plaintext); // Uint8Array(3) [ 1, 2, 3 ]
 * ```
 */
export function openInto(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, aad: Uint8Array, into: Uint8Array): void {
  checkBytes({ key, nonce, sealed, aad, into });
  assertAesKey(key);
  assertNonce(nonce);
  if (into.length !== Math.max(0, sealed.length - TAG))
    throw new RangeError(`opened bytes take ${sealed.length - TAG}, not ${into.length}`);
  openWith(`aes-${key.length * 8}-gcm` as Gcm, key, nonce, sealed, aad, into);
}

/**
 * The fast {@link CryptoProvider}: node:crypto (OpenSSL) where it wins, argon2id by WebAssembly in a worker thread, noble
 * where items are so small that the call costs more than the work (HKDF, key wrap).
 *
 * @example
 * ```ts
 * import { nodeCrypto } from "@seneschal/adapters/node-crypto";
 * const seed = new Uint8Array(32).fill(7);
 * const signature = nodeCrypto.ed25519Sign(seed, Uint8Array.of(1));
 * console.log(nodeCrypto.ed25519Verify(nodeCrypto.ed25519PublicKey(seed), Uint8Array.of(1), signature)); // true
 * ```
 */
export const nodeCrypto: CryptoProvider = {
  name: "node",
  seal(key, nonce, plaintext, aad) {
    assertAesKey(key);
    assertNonce(nonce);
    return sealWith(`aes-${key.length * 8}-gcm` as Gcm, key, nonce, plaintext, aad);
  },
  open(key, nonce, sealed, aad) {
    assertAesKey(key);
    assertNonce(nonce);
    return openWith(`aes-${key.length * 8}-gcm` as Gcm, key, nonce, sealed, aad);
  },
  chachaSeal(key, nonce, plaintext, aad) {
    assertLength(key, 32, "ChaCha20 key");
    assertNonce(nonce);
    return sealWith("chacha20-poly1305", key, nonce, plaintext, aad);
  },
  chachaOpen(key, nonce, sealed, aad) {
    assertLength(key, 32, "ChaCha20 key");
    assertNonce(nonce);
    return openWith("chacha20-poly1305", key, nonce, sealed, aad);
  },
  // By way of a string: Node.js makes one in half the time that it takes for a buffer.
  hash: (algorithm, data) => new Uint8Array(Buffer.from(hash(algorithm, data, "binary"), "latin1")),
  hmac: (algorithm, key, data) => new Uint8Array(createHmac(algorithm, key).update(data).digest()),
  hkdf: nobleCrypto.hkdf,
  wrap: nobleCrypto.wrap,
  unwrap: nobleCrypto.unwrap,
  wrapPadded: nobleCrypto.wrapPadded,
  unwrapPadded: nobleCrypto.unwrapPadded,
  ed25519PublicKey(seed) {
    assertLength(seed, 32, "Ed25519 seed");
    return rawPublic(privateKey(DER.ed25519Private, seed), 32);
  },
  ed25519Sign(seed, message) {
    assertLength(seed, 32, "Ed25519 seed");
    return new Uint8Array(sign(null, message, privateKey(DER.ed25519Private, seed)));
  },
  ed25519Verify(key, message, signature) {
    assertLength(key, 32, "Ed25519 public key");
    if (signature.length !== 64 || !isStrictEd25519Key(key)) return false;
    return verify(null, message, publicKey(DER.ed25519Public, key), signature);
  },
  p256PublicKey(secret) {
    assertP256Secret(secret);
    // Reading a key of OpenSSL's takes twenty times as long as the multiplication.
    const ecdh = createECDH("prime256v1");
    ecdh.setPrivateKey(secret);
    return new Uint8Array(ecdh.getPublicKey());
  },
  p256Sign(secret, message) {
    assertP256Secret(secret);
    return lowS(sign("sha256", message, { key: privateKey(DER.p256Private, secret), dsaEncoding: "ieee-p1363" }));
  },
  p256Verify(key, message, signature) {
    assertP256PublicKey(key);
    if (signature.length !== 64) return false;
    let parsed: KeyObject;
    try {
      parsed = publicKey(key.length === 65 ? DER.p256Public : DER.p256Compressed, key);
    } catch {
      return false;
    }
    return verify("sha256", message, { key: parsed, dsaEncoding: "ieee-p1363" }, signature);
  },
  x25519PublicKey(secret) {
    assertLength(secret, 32, "X25519 secret");
    return rawPublic(privateKey(DER.x25519Private, secret), 32);
  },
  x25519(secret, key) {
    assertLength(secret, 32, "X25519 secret");
    assertLength(key, 32, "X25519 public key");
    try {
      return new Uint8Array(
        diffieHellman({ privateKey: privateKey(DER.x25519Private, secret), publicKey: publicKey(DER.x25519Public, key) }),
      );
    } catch (cause) {
      throw cryptoError("crypto_invalid", "X25519 public key of low order", {}, cause);
    }
  },
  async argon2id(password, salt, params, length) {
    assertArgon2(salt, params, length);
    return argon2InWorker(password, salt, params, length);
  },
};
