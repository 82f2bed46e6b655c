import { hchacha } from "@noble/ciphers/chacha.js";
import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { cryptoError } from "../errors.ts";

/** "expand 32-byte k" as little-endian words. */
const SIGMA = Uint32Array.of(0x61707865, 0x3320646e, 0x79622d32, 0x6b206574);

/**
 * XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03): 24-byte nonces, long enough to be drawn at random without counting.
 * The subkey is derived here, the rest is the provider's ChaCha20-Poly1305. Throws `crypto_invalid`.
 */
export function xchachaSeal(
  provider: Pick<CryptoProvider, "chachaSeal">,
  key: Uint8Array,
  nonce: Uint8Array,
  plaintext: Uint8Array,
  aad: Uint8Array,
): Uint8Array {
  checkArgument("provider", provider, "object");
  checkArgument("key", key, "bytes");
  checkArgument("nonce", nonce, "bytes");
  checkArgument("plaintext", plaintext, "bytes");
  checkArgument("aad", aad, "bytes");
  return provider.chachaSeal(subkey(key, nonce), tail(nonce), plaintext, aad);
}

/** Opens {@link xchachaSeal}. Throws `decryption_failed`, `crypto_invalid`. */
export function xchachaOpen(
  provider: Pick<CryptoProvider, "chachaOpen">,
  key: Uint8Array,
  nonce: Uint8Array,
  sealed: Uint8Array,
  aad: Uint8Array,
): Uint8Array {
  checkArgument("provider", provider, "object");
  checkArgument("key", key, "bytes");
  checkArgument("nonce", nonce, "bytes");
  checkArgument("sealed", sealed, "bytes");
  checkArgument("aad", aad, "bytes");
  return provider.chachaOpen(subkey(key, nonce), tail(nonce), sealed, aad);
}

function subkey(key: Uint8Array, nonce: Uint8Array): Uint8Array {
  if (key.length !== 32) throw cryptoError("crypto_invalid", "XChaCha20 key must be 32 bytes");
  if (nonce.length !== 24) throw cryptoError("crypto_invalid", "XChaCha20 nonce must be 24 bytes");
  const out = new Uint32Array(8);
  hchacha(SIGMA, words(key), words(nonce.subarray(0, 16)), out);
  const bytes = new Uint8Array(32);
  const view = new DataView(bytes.buffer);
  out.forEach((word, i) => {
    view.setUint32(i * 4, word, true);
  });
  return bytes;
}

/** The last 8 bytes behind 4 zeros: the nonce of the inner cipher. */
function tail(nonce: Uint8Array): Uint8Array {
  const inner = new Uint8Array(12);
  inner.set(nonce.subarray(16), 4);
  return inner;
}

function words(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(i * 4, true));
}
