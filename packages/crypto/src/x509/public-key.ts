import { p384 } from "@noble/curves/nist.js";
import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { bytesEqual, concat } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import {
  bitString,
  type DerElement,
  DerReader,
  NULL,
  oid,
  readBitString,
  readDer,
  readOid,
  readUnsigned,
  sequence,
  TAG,
} from "./der.ts";
import { ecdsaSignatureFromDer } from "./ecdsa-signature.ts";
import { OID } from "./oids.ts";
import { parsing } from "./pem.ts";
import { type RsaHash, rsaVerify } from "./rsa-verify.ts";

export type PublicKeyKind = "ed25519" | "p256" | "p384" | "rsa";

/** A parsed SubjectPublicKeyInfo. */
export interface PublicKey {
  readonly kind: PublicKeyKind;
  /** The whole SubjectPublicKeyInfo, DER. */
  readonly spki: Uint8Array;
  /** The key itself: 32 bytes, a SEC1 point, or the DER of an RSAPublicKey. */
  readonly bits: Uint8Array;
}

/** Reads a SubjectPublicKeyInfo. Throws `x509_invalid` for keys of another kind or form. */
export function parsePublicKey(spki: Uint8Array): PublicKey {
  checkArgument("spki", spki, "bytes");
  return parsing("public key", () => {
    const reader = new DerReader(readDer(spki), TAG.sequence);
    const algorithm = new DerReader(reader.next(TAG.sequence));
    const dotted = readOid(algorithm.next());
    const bits = readBitString(reader.next());
    reader.end();
    const key = (kind: PublicKeyKind): PublicKey => {
      algorithm.end();
      return { kind, spki: Uint8Array.from(spki), bits: Uint8Array.from(bits) };
    };
    if (dotted === OID.ed25519 && bits.length === 32) return key("ed25519");
    if (dotted === OID.rsaEncryption && bytesEqual(algorithm.next().encoded, NULL)) {
      rsaNumbers(bits);
      return key("rsa");
    }
    if (dotted === OID.ecPublicKey) {
      const curve = readOid(algorithm.next());
      if (curve === OID.p256 && bits.length === 65 && bits[0] === 4) return key("p256");
      if (curve === OID.p384 && bits.length === 97 && bits[0] === 4) return key("p384");
    }
    throw cryptoError("x509_invalid", "unsupported kind of key");
  });
}

/** SubjectPublicKeyInfo of a raw Ed25519 key (32 bytes) or an uncompressed P-256 point (65 bytes). */
export function encodePublicKey(kind: "ed25519" | "p256", raw: Uint8Array): PublicKey {
  checkArgument("kind", kind, "string");
  checkArgument("raw", raw, "bytes");
  const algorithm = kind === "ed25519" ? sequence(oid(OID.ed25519)) : sequence(oid(OID.ecPublicKey), oid(OID.p256));
  return parsePublicKey(sequence(algorithm, bitString(raw)));
}

/** Subject key identifier: the first 160 bits of SHA-256 over the key bits (RFC 7093 section 2, method 1). */
export function keyIdentifier(provider: Pick<CryptoProvider, "hash">, key: PublicKey): Uint8Array {
  checkArgument("provider", provider, "object");
  checkArgument("key", key, "object");
  return provider.hash("sha256", key.bits).slice(0, 20);
}

/** Signature algorithms that are understood, by identifier. */
const ALGORITHMS: Readonly<Record<string, { readonly kind: PublicKeyKind; readonly hash?: RsaHash }>> = {
  [OID.ed25519]: { kind: "ed25519" },
  [OID.ecdsaSha256]: { kind: "p256" },
  [OID.ecdsaSha384]: { kind: "p384" },
  [OID.rsaSha256]: { kind: "rsa", hash: "sha256" },
  [OID.rsaSha384]: { kind: "rsa", hash: "sha384" },
  [OID.rsaSha512]: { kind: "rsa", hash: "sha512" },
};

/**
 * Whether `signature` over `message` under an AlgorithmIdentifier is the key's. `false` for every mismatch of key and
 * algorithm and for parameters that do not belong (Ed25519 and ECDSA have none, RSA has NULL).
 */
export function verifySignature(
  provider: CryptoProvider,
  key: PublicKey,
  algorithm: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  try {
    const reader = new DerReader(readDer(algorithm), TAG.sequence);
    const known = ALGORITHMS[readOid(reader.next())];
    if (known === undefined || known.kind !== key.kind) return false;
    if (known.kind === "rsa" && !bytesEqual(reader.next().encoded, NULL)) return false;
    reader.end();
    switch (known.kind) {
      case "ed25519":
        return provider.ed25519Verify(key.bits, message, signature);
      case "p256":
        return provider.p256Verify(key.bits, message, ecdsaSignatureFromDer(signature, 32));
      case "p384":
        return p384.verify(ecdsaSignatureFromDer(signature, 48), message, key.bits, { lowS: false });
      case "rsa":
        return rsaVerify(rsaNumbers(key.bits), known.hash ?? "sha256", message, signature);
    }
  } catch {
    return false;
  }
}

/** AlgorithmIdentifier that a key of this kind signs with here. */
export function algorithmIdentifier(kind: PublicKeyKind): Uint8Array {
  switch (kind) {
    case "ed25519":
      return sequence(oid(OID.ed25519));
    case "p256":
      return sequence(oid(OID.ecdsaSha256));
    case "p384":
      return sequence(oid(OID.ecdsaSha384));
    case "rsa":
      return sequence(oid(OID.rsaSha256), NULL);
  }
}

function rsaNumbers(bits: Uint8Array) {
  const reader = new DerReader(readDer(bits), TAG.sequence);
  const numbers = { modulus: readUnsigned(reader.next()), exponent: readUnsigned(reader.next()) };
  reader.end();
  return numbers;
}

/** The three parts of everything that is SIGNED: body, algorithm, signature. */
export interface Signed {
  readonly body: DerElement;
  readonly algorithm: Uint8Array;
  readonly signature: Uint8Array;
}

export function readSigned(bytes: Uint8Array): Signed {
  const reader = new DerReader(readDer(bytes), TAG.sequence);
  const body = reader.next(TAG.sequence);
  const algorithm = reader.next(TAG.sequence).encoded;
  const signature = readBitString(reader.next());
  reader.end();
  return { body, algorithm, signature };
}

export function concatSigned(body: Uint8Array, algorithm: Uint8Array, signature: Uint8Array): Uint8Array {
  return sequence(concat(body, algorithm, bitString(signature)));
}
