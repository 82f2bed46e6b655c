import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { concat } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { DerReader, der, integer, octetString, oid, readDer, readInteger, readOid, sequence, TAG } from "./der.ts";
import { ecdsaSignatureToDer } from "./ecdsa-signature.ts";
import { OID } from "./oids.ts";
import { derOf, parsing } from "./pem.ts";
import { algorithmIdentifier, concatSigned, encodePublicKey, type PublicKey } from "./public-key.ts";

/**
 * Signs certificates, lists and answers. `sign` may be remote and slow: an HSM, a vault, custodians by FROST. It returns
 * the signature in the key's natural form: 64 bytes for Ed25519, raw r||s for ECDSA, the octets for RSA.
 */
export interface X509Signer {
  readonly publicKey: PublicKey;
  sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** A private key in memory. */
export interface PrivateKey {
  readonly kind: "ed25519" | "p256";
  /** 32 bytes: the Ed25519 seed or the P-256 scalar. */
  readonly secret: Uint8Array;
}

/** A new private key. */
export function newPrivateKey(provider: CryptoProvider, kind: "ed25519" | "p256", random: Random): PrivateKey {
  checkArgument("provider", provider, "object");
  checkArgument("kind", kind, "string");
  checkArgument("random", random, "function");
  for (;;) {
    const secret = random(32);
    try {
      publicKeyOf(provider, { kind, secret });
      return { kind, secret };
    } catch {
      // A P-256 scalar above the order: once in 2^32 draws.
    }
  }
}

export function publicKeyOf(provider: CryptoProvider, key: PrivateKey): PublicKey {
  checkArgument("provider", provider, "object");
  checkArgument("key", key, "object");
  const { kind, secret } = key;
  return encodePublicKey(kind, kind === "ed25519" ? provider.ed25519PublicKey(secret) : provider.p256PublicKey(secret));
}

/** An {@link X509Signer} over a key in memory. */
export function localSigner(provider: CryptoProvider, key: PrivateKey): X509Signer {
  checkArgument("provider", provider, "object");
  checkArgument("key", key, "object");
  return {
    publicKey: publicKeyOf(provider, key),
    sign: (message) =>
      key.kind === "ed25519" ? provider.ed25519Sign(key.secret, message) : provider.p256Sign(key.secret, message),
  };
}

/** PKCS#8 DER of a private key (RFC 5958, RFC 8410, RFC 5915), as TLS servers and OpenSSL read it. */
export function encodePrivateKey(provider: CryptoProvider, key: PrivateKey): Uint8Array {
  checkArgument("provider", provider, "object");
  checkArgument("key", key, "object");
  if (key.kind === "ed25519") return sequence(integer(0), sequence(oid(OID.ed25519)), octetString(octetString(key.secret)));
  const point = publicKeyOf(provider, key).bits;
  const inner = sequence(integer(1), octetString(key.secret), der(0xa1, der(TAG.bitString, Uint8Array.of(0), point)));
  return sequence(integer(0), sequence(oid(OID.ecPublicKey), oid(OID.p256)), octetString(inner));
}

/** Reads PKCS#8, DER or PEM. Throws `x509_invalid`. */
export function decodePrivateKey(input: Uint8Array | string): PrivateKey {
  if (typeof input !== "string") checkArgument("input", input, "bytes");
  const bytes = derOf("PRIVATE KEY", input);
  return parsing("private key", () => {
    const reader = new DerReader(readDer(bytes), TAG.sequence);
    if (readInteger(reader.next()) > 1) throw cryptoError("x509_invalid", "unknown version");
    const algorithm = new DerReader(reader.next(TAG.sequence));
    const dotted = readOid(algorithm.next());
    const content = reader.next(TAG.octetString).content;
    if (dotted === OID.ed25519) return { kind: "ed25519" as const, secret: secretOf(readDer(content).content) };
    if (dotted === OID.ecPublicKey && readOid(algorithm.next()) === OID.p256) {
      const inner = new DerReader(readDer(content), TAG.sequence);
      inner.next(TAG.integer);
      return { kind: "p256" as const, secret: secretOf(inner.next(TAG.octetString).content) };
    }
    throw cryptoError("x509_invalid", "unsupported kind of key");
  });
}

/** Signs a body and puts the three parts together. */
export async function signDer(signer: X509Signer, body: Uint8Array): Promise<Uint8Array> {
  const { kind } = signer.publicKey;
  const raw = await signer.sign(body);
  const signature = kind === "p256" || kind === "p384" ? ecdsaSignatureToDer(raw) : raw;
  return concatSigned(body, algorithmIdentifier(kind), concat(signature));
}

function secretOf(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== 32) throw cryptoError("x509_invalid", "private key of wrong length");
  return Uint8Array.from(bytes);
}
