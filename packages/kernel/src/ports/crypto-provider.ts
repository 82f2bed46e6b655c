/** Argon2id cost. `memoryKiB` is in KiB. */
export interface Argon2Params {
  readonly time: number;
  readonly memoryKiB: number;
  readonly parallelism: number;
}

/**
 * The primitives that packages/crypto builds on. Two providers exist: noble (pure, runs anywhere) and node:crypto.
 *
 * Laws (each is a test of the exported conformance suite):
 * - **byte-equal**: for equal arguments every provider returns equal bytes, accepts the same inputs and refuses the same
 *   inputs with the same code: `crypto_invalid` for lengths and encodings, `decryption_failed` for what does not open.
 * - **sizes**: AES keys are 16, 24 or 32 bytes, ChaCha keys 32, nonces 12, tags 16; the tag is the end of the ciphertext.
 * - **verify** answers `false` for every wrong signature and every key that is no valid point; only a public key of a
 *   wrong length is an error.
 * - **ownership**: callers keep every array they pass; returned arrays are fresh.
 */
export interface CryptoProvider {
  readonly name: string;
  /** AES-GCM (SP 800-38D). Returns ciphertext with the 16-byte tag behind it. */
  seal(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array, aad: Uint8Array): Uint8Array;
  /** Throws `decryption_failed` when key, nonce, tag or aad do not fit. */
  open(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, aad: Uint8Array): Uint8Array;
  /** ChaCha20-Poly1305 (RFC 8439), same shape as {@link seal}. */
  chachaSeal(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array, aad: Uint8Array): Uint8Array;
  chachaOpen(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, aad: Uint8Array): Uint8Array;
  hash(algorithm: "sha1" | "sha256" | "sha384" | "sha512", data: Uint8Array): Uint8Array;
  hmac(algorithm: "sha1" | "sha256" | "sha512", key: Uint8Array, data: Uint8Array): Uint8Array;
  /** RFC 5869; `length` from 1 to 255 hashes. */
  hkdf(algorithm: "sha256" | "sha512", ikm: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number): Uint8Array;
  /** AES key wrap (RFC 3394); payload at least 16 bytes and a multiple of 8. */
  wrap(kek: Uint8Array, key: Uint8Array): Uint8Array;
  unwrap(kek: Uint8Array, wrapped: Uint8Array): Uint8Array;
  /** AES key wrap with padding (RFC 5649); payload of any length from 1 byte, for DER-encoded keys. */
  wrapPadded(kek: Uint8Array, key: Uint8Array): Uint8Array;
  unwrapPadded(kek: Uint8Array, wrapped: Uint8Array): Uint8Array;
  /**
   * Ed25519 over the raw 32-byte seed and public key (RFC 8032). Verification is the strict one: canonical encodings,
   * no small-order public key, equation without the cofactor.
   */
  ed25519PublicKey(seed: Uint8Array): Uint8Array;
  ed25519Sign(seed: Uint8Array, message: Uint8Array): Uint8Array;
  ed25519Verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /**
   * ECDSA P-256 with SHA-256. Public keys are SEC1, 65 bytes uncompressed (33 compressed accepted on verify);
   * signatures raw r||s (64 bytes), low s on sign, high s accepted on verify. Signing is the only function whose bytes
   * may differ between providers: both are valid.
   */
  p256PublicKey(secret: Uint8Array): Uint8Array;
  p256Sign(secret: Uint8Array, message: Uint8Array): Uint8Array;
  p256Verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  x25519PublicKey(secret: Uint8Array): Uint8Array;
  /** RFC 7748. Throws `crypto_invalid` on an all-zero shared secret. */
  x25519(secret: Uint8Array, publicKey: Uint8Array): Uint8Array;
  /** RFC 9106, version 0x13. Throws `crypto_invalid` below 19 MiB or two passes: such a hash is not worth storing. */
  argon2id(password: Uint8Array, salt: Uint8Array, params: Argon2Params, length: number): Promise<Uint8Array>;
}
