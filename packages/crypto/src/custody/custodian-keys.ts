import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { concat, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";

const OWN = "seneschal/custodian-own/v1";

/**
 * A custodian's private keys: Ed25519 to sign, X25519 to receive. They are not enumerable and have no JSON form; {@link toBytes} is
 * the one way out.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { CustodianKeys } from "@seneschal/crypto/custody";
 * const keys = CustodianKeys.generate(nobleCrypto, systemRandom);
 * console.log(nobleCrypto.ed25519Verify(keys.signingKey, Uint8Array.of(1), keys.sign(Uint8Array.of(1)))); // true
 * ```
 */
export class CustodianKeys {
  /** Ed25519 public key, 32 bytes. */
  readonly signingKey: Uint8Array;
  /** X25519 public key, 32 bytes. */
  readonly agreementKey: Uint8Array;
  readonly #provider: CryptoProvider;
  readonly #bytes: Uint8Array;

  /** `bytes` is the Ed25519 seed, 32 bytes, and the X25519 secret, 32 bytes. Throws `crypto_invalid`. */
  constructor(provider: CryptoProvider, bytes: Uint8Array) {
    checkArgument("provider", provider, "object");
    checkArgument("bytes", bytes, "bytes");
    if (bytes.length !== 64) throw cryptoError("crypto_invalid", "a custodian's keys must be 64 bytes");
    this.#provider = provider;
    this.#bytes = Uint8Array.from(bytes);
    this.signingKey = provider.ed25519PublicKey(this.#bytes.slice(0, 32));
    this.agreementKey = provider.x25519PublicKey(this.#bytes.slice(32));
  }

  /** New keys; the two halves are independent of each other. */
  static generate(provider: CryptoProvider, random: Random): CustodianKeys {
    checkArgument("random", random, "function");
    return new CustodianKeys(provider, concat(random(32), random(32)));
  }

  /** Ed25519 (RFC 8032) over `message`, 64 bytes. */
  sign(message: Uint8Array): Uint8Array {
    return this.#provider.ed25519Sign(this.#bytes.slice(0, 32), message);
  }

  /**
   * Seals what a custodian keeps for itself, the state of a ceremony or a share, so that only these keys open it and only they can
   * have made it: `01 | nonce 12 | AES-256-GCM ciphertext and tag` (docs/custody.md). `purpose` says what it is.
   */
  sealOwn(purpose: string, plaintext: Uint8Array, random: Random): Uint8Array {
    checkArgument("random", random, "function");
    const nonce = random(12);
    return concat(Uint8Array.of(1), nonce, this.#provider.seal(this.#ownKey(), nonce, plaintext, ownData(purpose)));
  }

  /** Opens {@link sealOwn}. Throws `decryption_failed` for other keys, another purpose or a changed byte alike. */
  openOwn(purpose: string, sealed: Uint8Array): Uint8Array {
    checkArgument("sealed", sealed, "bytes");
    if (sealed[0] !== 1 || sealed.length < 1 + 12 + 16) throw cryptoError("decryption_failed", "decryption failed");
    return this.#provider.open(this.#ownKey(), sealed.subarray(1, 13), sealed.subarray(13), ownData(purpose));
  }

  #ownKey(): Uint8Array {
    return this.#provider.hkdf("sha256", this.#bytes, new Uint8Array(), utf8(OWN), 32);
  }

  /** Seed and secret, 64 bytes; a fresh copy that the caller may zero. */
  toBytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  /** Overwrites the private keys. They are useless afterwards. */
  erase(): void {
    this.#bytes.fill(0);
  }
}

function ownData(purpose: string): Uint8Array {
  return utf8(`${OWN}\0${canonicalJson({ purpose })}`);
}
