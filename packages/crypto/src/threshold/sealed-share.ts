import { checkArgument } from "@seneschal/kernel";
import type { Argon2Params, CryptoProvider, Random } from "@seneschal/kernel/ports";
import { base64, concat, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { passwordBytes } from "../password/password-bytes.ts";
import { Share } from "./share.ts";

const FORMAT = 1;

/** What a sealed share is bound to: another key, index, epoch or public key does not open it. */
export interface SealedShareBinding {
  readonly crkId: string;
  readonly index: number;
  readonly epoch: number;
  readonly publicKey: Uint8Array;
}

/** The custodian's key from the password. It never leaves the custodian's machine; the salt and the cost do. 32 bytes. */
export function deriveShareKey(
  provider: CryptoProvider,
  password: string,
  salt: Uint8Array,
  params: Argon2Params,
): Promise<Uint8Array> {
  checkArgument("provider", provider, "object");
  checkArgument("password", password, "string");
  checkArgument("salt", salt, "bytes");
  checkArgument("params", params, "object");
  return provider.argon2id(passwordBytes(password), salt, params, 32);
}

/**
 * Seals a share for one custodian: `format 0x01 | nonce 12 | AES-256-GCM ciphertext and tag`, the associated data being
 * {@link SealedShareBinding}. Throws `crypto_invalid` for a key that is not 32 bytes.
 */
export function sealShare(
  provider: CryptoProvider,
  key: Uint8Array,
  share: Share,
  binding: Pick<SealedShareBinding, "crkId" | "publicKey">,
  random: Random,
): Uint8Array {
  checkArgument("provider", provider, "object");
  checkArgument("key", key, "bytes");
  checkArgument("share", share, "object");
  checkArgument("binding", binding, "object");
  checkArgument("random", random, "function");
  assertKey(key);
  const nonce = random(12);
  const plaintext = share.toBytes();
  const sealed = provider.seal(key, nonce, plaintext, associatedData({ ...binding, index: share.index, epoch: share.epoch }));
  plaintext.fill(0);
  return concat(Uint8Array.of(FORMAT), nonce, sealed);
}

/** Opens a sealed share. Throws `decryption_failed` for a wrong password, binding or changed bytes alike. */
export function openShare(provider: CryptoProvider, key: Uint8Array, sealed: Uint8Array, binding: SealedShareBinding): Share {
  checkArgument("provider", provider, "object");
  checkArgument("key", key, "bytes");
  checkArgument("sealed", sealed, "bytes");
  checkArgument("binding", binding, "object");
  assertKey(key);
  if (sealed[0] !== FORMAT || sealed.length < 1 + 12 + 16) throw cryptoError("decryption_failed", "decryption failed");
  const share = Share.fromBytes(provider.open(key, sealed.subarray(1, 13), sealed.subarray(13), associatedData(binding)));
  if (share.index !== binding.index || share.epoch !== binding.epoch) throw cryptoError("decryption_failed", "decryption failed");
  return share;
}

function assertKey(key: Uint8Array): void {
  if (key.length !== 32) throw cryptoError("crypto_invalid", "derived key must be 32 bytes");
}

function associatedData({ crkId, index, epoch, publicKey }: SealedShareBinding): Uint8Array {
  return concat(
    utf8("seneschal/crk-share/v1"),
    Uint8Array.of(0),
    utf8(canonicalJson({ crk_id: crkId, index, epoch, public_key: base64(publicKey) })),
  );
}
