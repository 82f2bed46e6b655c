import { checkArgument, checkOptions } from "@seneschal/kernel";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { concat, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";

/** The AEADs of RFC 9180 section 7.3 by name. */
export const HPKE_AEADS = {
  "aes-128-gcm": { id: 1, key: 16 },
  "aes-256-gcm": { id: 2, key: 32 },
  "chacha20-poly1305": { id: 3, key: 32 },
} as const;

export type HpkeAead = keyof typeof HPKE_AEADS;

/** A pre-shared key and its id; the key has at least 32 bytes of entropy. */
export interface HpkePsk {
  readonly key: Uint8Array;
  readonly id: Uint8Array;
}

/** What both sides agree on before a message. Both must give the same `info`, `aead` and `psk`. */
export interface HpkeOptions {
  readonly aead?: HpkeAead;
  readonly info?: Uint8Array;
  readonly psk?: HpkePsk;
}

/**
 * An encryption context (RFC 9180 section 5.2): a sequence of messages under one key exchange. A sender's context seals,
 * a receiver's opens; both must see the messages in the same order.
 */
export interface HpkeContext {
  seal(plaintext: Uint8Array, aad?: Uint8Array): Uint8Array;
  /** Throws `decryption_failed`; the sequence number stays, so that a damaged message can be sent again. */
  open(sealed: Uint8Array, aad?: Uint8Array): Uint8Array;
  /** A secret of `length` bytes for another use, bound to the context. */
  exportSecret(exporterContext: Uint8Array, length: number): Uint8Array;
}

const AEADS = ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305", undefined] as const;
const KEM_ID = 0x0020;
const KDF_ID = 0x0001;
const VERSION = utf8("HPKE-v1");
const EMPTY = new Uint8Array();
const KEM_SUITE = concat(utf8("KEM"), i2osp(KEM_ID, 2));
/** 2^48 messages: far below the limit of the RFC and exact as a number. */
const MAX_SEQUENCE = 2 ** 48;

/**
 * Starts a message to the holder of `recipientKey`. With `senderSecret` (auth modes) the receiver also learns that the
 * holder of that key sent it; with `psk` both must know the pre-shared key. KEM: DHKEM(X25519, HKDF-SHA256); KDF:
 * HKDF-SHA256. Returns the encapsulated key to send along. Throws `crypto_invalid`.
 */
export function hpkeSender(
  provider: CryptoProvider,
  recipientKey: Uint8Array,
  options: HpkeOptions & { readonly senderSecret?: Uint8Array; readonly random: Random },
): { readonly enc: Uint8Array; readonly context: HpkeContext } {
  checkOptions("options", options, {
    aead: AEADS,
    info: "bytes?",
    psk: "object?",
    senderSecret: "bytes?",
    random: "function",
  });
  checkArgument("provider", provider, "object");
  checkArgument("recipientKey", recipientKey, "bytes");
  const ephemeral = options.random(32);
  const enc = provider.x25519PublicKey(ephemeral);
  const parts = [provider.x25519(ephemeral, recipientKey)];
  const kemContext = [enc, recipientKey];
  if (options.senderSecret !== undefined) {
    parts.push(provider.x25519(options.senderSecret, recipientKey));
    kemContext.push(provider.x25519PublicKey(options.senderSecret));
  }
  const secret = kemSecret(provider, concat(...parts), concat(...kemContext));
  return { enc, context: schedule(provider, secret, options.senderSecret !== undefined, options) };
}

/** Receives what {@link hpkeSender} started. `senderKey` selects the auth modes. Throws `crypto_invalid`. */
export function hpkeReceiver(
  provider: CryptoProvider,
  recipientSecret: Uint8Array,
  enc: Uint8Array,
  options: HpkeOptions & { readonly senderKey?: Uint8Array } = {},
): HpkeContext {
  checkOptions("options", options, { aead: AEADS, info: "bytes?", psk: "object?", senderKey: "bytes?" });
  checkArgument("provider", provider, "object");
  checkArgument("recipientSecret", recipientSecret, "bytes");
  checkArgument("enc", enc, "bytes");
  const parts = [provider.x25519(recipientSecret, enc)];
  const kemContext = [enc, provider.x25519PublicKey(recipientSecret)];
  if (options.senderKey !== undefined) {
    parts.push(provider.x25519(recipientSecret, options.senderKey));
    kemContext.push(options.senderKey);
  }
  const secret = kemSecret(provider, concat(...parts), concat(...kemContext));
  return schedule(provider, secret, options.senderKey !== undefined, options);
}

/**
 * One message in one piece: `enc || ciphertext` (RFC 9180 section 6.1).
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { hpkeOpen, hpkeSeal } from "@seneschal/crypto/hpke";
 * const secret = systemRandom(32);
 * const sealed = hpkeSeal(nobleCrypto, nobleCrypto.x25519PublicKey(secret), Uint8Array.of(5), { random: systemRandom });
 * console.log(hpkeOpen(nobleCrypto, secret, sealed)); // Uint8Array(1) [ 5 ]
 * ```
 */
export function hpkeSeal(
  provider: CryptoProvider,
  recipientKey: Uint8Array,
  plaintext: Uint8Array,
  options: HpkeOptions & { readonly aad?: Uint8Array; readonly senderSecret?: Uint8Array; readonly random: Random },
): Uint8Array {
  checkOptions("options", options, {
    aead: AEADS,
    info: "bytes?",
    psk: "object?",
    aad: "bytes?",
    senderSecret: "bytes?",
    random: "function",
  });
  checkArgument("provider", provider, "object");
  checkArgument("recipientKey", recipientKey, "bytes");
  checkArgument("plaintext", plaintext, "bytes");
  const { aad, ...setup } = options;
  const { enc, context } = hpkeSender(provider, recipientKey, setup);
  return concat(enc, context.seal(plaintext, aad));
}

/** Opens {@link hpkeSeal}. Throws `decryption_failed`. */
export function hpkeOpen(
  provider: CryptoProvider,
  recipientSecret: Uint8Array,
  sealed: Uint8Array,
  options: HpkeOptions & { readonly aad?: Uint8Array; readonly senderKey?: Uint8Array } = {},
): Uint8Array {
  checkOptions("options", options, { aead: AEADS, info: "bytes?", psk: "object?", aad: "bytes?", senderKey: "bytes?" });
  checkArgument("provider", provider, "object");
  checkArgument("recipientSecret", recipientSecret, "bytes");
  checkArgument("sealed", sealed, "bytes");
  if (sealed.length < 32 + 16) throw cryptoError("decryption_failed", "decryption failed");
  const { aad, ...setup } = options;
  let context: HpkeContext;
  try {
    context = hpkeReceiver(provider, recipientSecret, sealed.subarray(0, 32), setup);
  } catch (cause) {
    // A low-order encapsulated key is just a message that does not open.
    throw cryptoError("decryption_failed", "decryption failed", {}, cause);
  }
  return context.open(sealed.subarray(32), aad);
}

/** The X25519 secret that RFC 9180 section 7.1.3 derives from keying material of at least 32 bytes. */
export function hpkeDeriveSecret(provider: CryptoProvider, ikm: Uint8Array): Uint8Array {
  checkArgument("provider", provider, "object");
  checkArgument("ikm", ikm, "bytes");
  if (ikm.length < 32) throw cryptoError("crypto_invalid", "keying material must be at least 32 bytes");
  const prk = labeledExtract(provider, KEM_SUITE, EMPTY, "dkp_prk", ikm);
  return labeledExpand(provider, KEM_SUITE, prk, "sk", EMPTY, 32);
}

function kemSecret(provider: CryptoProvider, dh: Uint8Array, kemContext: Uint8Array): Uint8Array {
  const prk = labeledExtract(provider, KEM_SUITE, EMPTY, "eae_prk", dh);
  return labeledExpand(provider, KEM_SUITE, prk, "shared_secret", kemContext, 32);
}

/** RFC 9180 section 5.1. */
function schedule(provider: CryptoProvider, sharedSecret: Uint8Array, auth: boolean, options: HpkeOptions): HpkeContext {
  const { psk, info = EMPTY } = options;
  const name = options.aead ?? "aes-256-gcm";
  const aead = HPKE_AEADS[name];
  if (psk !== undefined && (psk.key.length < 32 || psk.id.length === 0)) {
    throw cryptoError("crypto_invalid", "a pre-shared key needs 32 bytes and an id");
  }
  const suite = concat(utf8("HPKE"), i2osp(KEM_ID, 2), i2osp(KDF_ID, 2), i2osp(aead.id, 2));
  const mode = (psk === undefined ? 0 : 1) + (auth ? 2 : 0);
  const idHash = labeledExtract(provider, suite, EMPTY, "psk_id_hash", psk?.id ?? EMPTY);
  const infoHash = labeledExtract(provider, suite, EMPTY, "info_hash", info);
  const context = concat(Uint8Array.of(mode), idHash, infoHash);
  const secret = labeledExtract(provider, suite, sharedSecret, "secret", psk?.key ?? EMPTY);
  const key = labeledExpand(provider, suite, secret, "key", context, aead.key);
  const baseNonce = labeledExpand(provider, suite, secret, "base_nonce", context, 12);
  const exporter = labeledExpand(provider, suite, secret, "exp", context, 32);
  const [seal, open] = name === "chacha20-poly1305" ? [provider.chachaSeal, provider.chachaOpen] : [provider.seal, provider.open];
  let sequence = 0;
  const nonce = (): Uint8Array => {
    if (sequence >= MAX_SEQUENCE) throw cryptoError("crypto_invalid", "too many messages in one context");
    const counter = i2osp(sequence, 12);
    return baseNonce.map((byte, i) => byte ^ (counter[i] ?? 0));
  };
  return {
    seal(plaintext, aad = EMPTY) {
      const sealed = seal(key, nonce(), plaintext, aad);
      sequence++;
      return sealed;
    },
    open(sealed, aad = EMPTY) {
      const plaintext = open(key, nonce(), sealed, aad);
      sequence++;
      return plaintext;
    },
    exportSecret: (exporterContext, length) => labeledExpand(provider, suite, exporter, "sec", exporterContext, length),
  };
}

/** RFC 9180 section 4. */
function labeledExtract(
  provider: CryptoProvider,
  suite: Uint8Array,
  salt: Uint8Array,
  label: string,
  ikm: Uint8Array,
): Uint8Array {
  return provider.hmac("sha256", salt.length === 0 ? new Uint8Array(32) : salt, concat(VERSION, suite, utf8(label), ikm));
}

function labeledExpand(
  provider: CryptoProvider,
  suite: Uint8Array,
  prk: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
): Uint8Array {
  if (!Number.isInteger(length) || length < 1 || length > 255 * 32) {
    throw cryptoError("crypto_invalid", "length of derived secret out of range");
  }
  const labeled = concat(i2osp(length, 2), VERSION, suite, utf8(label), info);
  const out = new Uint8Array(Math.ceil(length / 32) * 32);
  let block: Uint8Array = EMPTY;
  for (let i = 0; i * 32 < length; i++) {
    block = provider.hmac("sha256", prk, concat(block, labeled, Uint8Array.of(i + 1)));
    out.set(block, i * 32);
  }
  return out.slice(0, length);
}

/** Big-endian integer of `length` bytes. */
function i2osp(value: number, length: number): Uint8Array {
  const out = new Uint8Array(length);
  let rest = value;
  for (let i = length - 1; i >= 0 && rest > 0; i--) {
    out[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return out;
}
