/** Argon2id cost. `memoryKiB` is in KiB. */
export interface Argon2Params {
  readonly time: number;
  readonly memoryKiB: number;
  readonly parallelism: number;
}

/**
 * The primitives that packages/crypto builds on. Two providers exist: noble (pure, runs anywhere) and node:crypto.
 *
 * Law: for equal arguments every provider returns equal bytes, accepts the same inputs and refuses the same inputs
 * (`crypto_invalid`). Nonces are 12 bytes, tags 16, and the tag is the end of the ciphertext. Callers keep ownership of
 * every array they pass; returned arrays are fresh.
 */
export interface CryptoProvider {
  readonly name: string;
  /** AES-256-GCM. Returns ciphertext with the 16-byte tag behind it. */
  seal(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array, aad: Uint8Array): Uint8Array;
  /** Throws `decryption_failed` when key, nonce, tag or aad do not fit. */
  open(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, aad: Uint8Array): Uint8Array;
  chachaSeal(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array, aad: Uint8Array): Uint8Array;
  chachaOpen(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, aad: Uint8Array): Uint8Array;
  hash(algorithm: "sha1" | "sha256" | "sha384" | "sha512", data: Uint8Array): Uint8Array;
  hmac(algorithm: "sha1" | "sha256" | "sha512", key: Uint8Array, data: Uint8Array): Uint8Array;
  hkdf(algorithm: "sha256" | "sha512", ikm: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number): Uint8Array;
  /** AES key wrap, RFC 3394; payload at least 16 bytes and a multiple of 8. */
  wrap(kek: Uint8Array, key: Uint8Array): Uint8Array;
  unwrap(kek: Uint8Array, wrapped: Uint8Array): Uint8Array;
  /** Ed25519 over the raw 32-byte seed and public key (RFC 8032, strict verification). */
  ed25519PublicKey(seed: Uint8Array): Uint8Array;
  ed25519Sign(seed: Uint8Array, message: Uint8Array): Uint8Array;
  ed25519Verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /** ECDSA P-256 with SHA-256; signatures are raw r||s (64 bytes); high s is accepted on verify. */
  p256PublicKey(secret: Uint8Array): Uint8Array;
  p256Sign(secret: Uint8Array, message: Uint8Array): Uint8Array;
  p256Verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  x25519PublicKey(secret: Uint8Array): Uint8Array;
  /** Throws `crypto_invalid` on an all-zero shared secret. */
  x25519(secret: Uint8Array, publicKey: Uint8Array): Uint8Array;
  argon2id(password: Uint8Array, salt: Uint8Array, params: Argon2Params, length: number): Promise<Uint8Array>;
}
