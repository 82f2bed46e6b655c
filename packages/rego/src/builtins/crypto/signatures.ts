import { ed25519 } from "@noble/curves/ed25519.js";
import { p256, p384, p521 } from "@noble/curves/nist.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { BuiltinError } from "../../errors.ts";
import { charge } from "../../value/meter.ts";
import { inside, integerOf, readDer, unsigned } from "./der.ts";
import type { Curve, PrivateKey, PublicKey } from "./keys.ts";

export type HashName = "sha1" | "sha256" | "sha384" | "sha512";

const HASHES = { sha1, sha256, sha384, sha512 };
/** DigestInfo prefixes of RFC 8017, section 9.2. */
const PREFIXES: Readonly<Record<HashName, readonly number[]>> = {
  sha1: [0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14],
  sha256: [0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20],
  sha384: [0x30, 0x41, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02, 0x05, 0x00, 0x04, 0x30],
  sha512: [0x30, 0x51, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03, 0x05, 0x00, 0x04, 0x40],
};
const CURVES: Readonly<Record<Curve, typeof p256>> = { "P-256": p256, "P-384": p384, "P-521": p521 };

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  const bits = modulus.toString(16).length * 4;
  let result = 1n;
  let b = base % modulus;
  for (let e = exponent; e > 0n; e >>= 1n) {
    charge((bits * bits) >> 16);
    if ((e & 1n) === 1n) result = (result * b) % modulus;
    b = (b * b) % modulus;
  }
  return result;
}

function bytesOf(value: bigint, length: number): Uint8Array {
  const out = new Uint8Array(length);
  let rest = value;
  for (let i = length - 1; i >= 0; i--) {
    out[i] = Number(rest & 255n);
    rest >>= 8n;
  }
  return out;
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < Math.min(a.length, b.length); i++) difference |= (a[i] as number) ^ (b[i] as number);
  return difference === 0;
}

function modulusBytes(n: bigint): number {
  return Math.ceil(n.toString(2).length / 8);
}

/** The encoded message of RSASSA-PKCS1-v1_5 (RFC 8017, section 9.2); undefined if the key is too short. */
function pkcs1(hash: HashName, digest: Uint8Array, length: number): Uint8Array | undefined {
  const info = [...PREFIXES[hash], ...digest];
  if (length < info.length + 11) return undefined;
  return Uint8Array.of(0, 1, ...new Uint8Array(length - info.length - 3).fill(255), 0, ...info);
}

function mgf1(hash: HashName, seed: Uint8Array, length: number): Uint8Array {
  const out = new Uint8Array(length);
  for (let at = 0, counter = 0; at < length; counter++) {
    const block = HASHES[hash](Uint8Array.of(...seed, ...bytesOf(BigInt(counter), 4)));
    out.set(block.subarray(0, length - at), at);
    at += block.length;
  }
  return out;
}

/** EMSA-PSS verification with a salt of any length (RFC 8017, section 9.1.2). */
function pssHolds(hash: HashName, digest: Uint8Array, encoded: Uint8Array, bits: number): boolean {
  const h = digest.length;
  const length = Math.ceil(bits / 8);
  const em = encoded.subarray(encoded.length - length);
  if (length < h + 2 || em[length - 1] !== 0xbc || encoded.subarray(0, encoded.length - length).some((b) => b !== 0))
    return false;
  const masked = em.subarray(0, length - h - 1);
  const seed = em.subarray(length - h - 1, length - 1);
  const top = 0xff >> (8 * length - bits);
  if (((masked[0] as number) & ~top) !== 0) return false;
  const mask = mgf1(hash, seed, masked.length);
  const db = masked.map((b, i) => b ^ (mask[i] as number));
  db[0] = (db[0] as number) & top;
  const one = db.findIndex((b) => b !== 0);
  if (one < 0 || db[one] !== 1) return false;
  const salt = db.subarray(one + 1);
  return same(HASHES[hash](Uint8Array.of(...new Uint8Array(8), ...digest, ...salt)), seed);
}

function pssEncode(hash: HashName, digest: Uint8Array, salt: Uint8Array, bits: number): Uint8Array {
  const length = Math.ceil(bits / 8);
  const seed = HASHES[hash](Uint8Array.of(...new Uint8Array(8), ...digest, ...salt));
  const db = Uint8Array.of(...new Uint8Array(length - salt.length - digest.length - 2), 1, ...salt);
  const mask = mgf1(hash, seed, db.length);
  const masked = db.map((b, i) => b ^ (mask[i] as number));
  masked[0] = (masked[0] as number) & (0xff >> (8 * length - bits));
  return Uint8Array.of(...masked, ...seed, 0xbc);
}

/** RSA over a digest. */
export function verifyRsa(key: PublicKey, hash: HashName, digest: Uint8Array, signature: Uint8Array, pss: boolean): boolean {
  if (key.kind !== "rsa") return false;
  const length = modulusBytes(key.n);
  const s = unsigned(signature);
  if (signature.length !== length || s >= key.n) return false;
  const encoded = bytesOf(power(s, key.e, key.n), length);
  if (pss) return pssHolds(hash, digest, encoded, key.n.toString(2).length - 1);
  const wanted = pkcs1(hash, digest, length);
  return wanted !== undefined && same(wanted, encoded);
}

/** ECDSA over a digest, the signature as `r || s`. */
function verifyEcdsa(key: PublicKey, digest: Uint8Array, signature: Uint8Array): boolean {
  if (key.kind !== "ec") return false;
  charge(20_000);
  const curve = CURVES[key.curve];
  const length = curve.Point.Fn.BYTES;
  const half = Math.floor(signature.length / 2);
  const [r, s] = [unsigned(signature.subarray(0, half)), unsigned(signature.subarray(half))];
  if (r >> BigInt(8 * length) !== 0n || s >> BigInt(8 * length) !== 0n) return false;
  try {
    return curve.verify(Uint8Array.of(...bytesOf(r, length), ...bytesOf(s, length)), digest, key.point, {
      prehash: false,
      lowS: false,
    });
  } catch {
    return false;
  }
}

/** ECDSA over a digest, the signature in DER as in certificates. */
export function verifyEcdsaDer(key: PublicKey, digest: Uint8Array, signature: Uint8Array): boolean {
  if (key.kind !== "ec") return false;
  const [r, s] = inside(readDer(signature)?.[0]);
  const length = CURVES[key.curve].Point.Fn.BYTES;
  if (r === undefined || s === undefined) return false;
  const [x, y] = [integerOf(r), integerOf(s)];
  if (x <= 0n || y <= 0n) return false;
  return verifyEcdsa(key, digest, Uint8Array.of(...bytesOf(x, length), ...bytesOf(y, length)));
}

export function verifyEd25519(key: PublicKey, message: Uint8Array, signature: Uint8Array): boolean {
  if (key.kind !== "ed25519") return false;
  charge(20_000);
  try {
    return ed25519.verify(signature, message, key.key);
  } catch {
    return false;
  }
}

export function digestOf(hash: HashName, message: Uint8Array): Uint8Array {
  charge(message.length >> 2);
  return HASHES[hash](message);
}

function hashOf(alg: string): HashName {
  return `sha${alg.slice(2)}` as HashName;
}

/** Verifies a JSON Web Signature's algorithm (RFC 7518, section 3.1). */
export function verifyJws(alg: string, key: PublicKey, message: Uint8Array, signature: Uint8Array): boolean {
  if (alg === "EdDSA") return verifyEd25519(key, message, signature);
  const hash = hashOf(alg);
  if (HASHES[hash] === undefined) return false;
  switch (alg.slice(0, 2)) {
    case "RS":
      return verifyRsa(key, hash, digestOf(hash, message), signature, false);
    case "PS":
      return verifyRsa(key, hash, digestOf(hash, message), signature, true);
    case "ES":
      return verifyEcdsa(key, digestOf(hash, message), signature);
    case "HS":
      charge(message.length >> 2);
      return key.kind === "secret" && same(hmac(HASHES[hash], key.key, message), signature);
    default:
      return false;
  }
}

/** Signs by a JSON Web Signature's algorithm; `random` gives the salt of PSS. Throws {@link BuiltinError}. */
export function signJws(alg: string, key: PrivateKey, message: Uint8Array, random: (length: number) => Uint8Array): Uint8Array {
  const unfit = (): never => {
    throw new BuiltinError(`key does not fit algorithm ${alg}`);
  };
  charge(50_000);
  if (alg === "EdDSA") return key.kind === "ed25519" ? ed25519.sign(message, key.seed) : unfit();
  const hash = hashOf(alg);
  switch (alg.slice(0, 2)) {
    case "HS":
      return key.kind === "secret" ? hmac(HASHES[hash], key.key, message) : unfit();
    case "ES": {
      if (key.kind !== "ec") return unfit();
      const wanted = { ES256: "P-256", ES384: "P-384", ES512: "P-521" }[alg];
      if (wanted !== key.curve) return unfit();
      return CURVES[key.curve].sign(digestOf(hash, message), key.d, { prehash: false, lowS: false });
    }
    default: {
      if (key.kind !== "rsa" || key.n >> 16_384n !== 0n) return unfit();
      const length = modulusBytes(key.n);
      const digest = digestOf(hash, message);
      const encoded = alg.startsWith("PS")
        ? pssEncode(hash, digest, random(digest.length), key.n.toString(2).length - 1)
        : pkcs1(hash, digest, length);
      if (encoded === undefined) return unfit();
      return bytesOf(power(unsigned(encoded), key.d, key.n), length);
    }
  }
}
