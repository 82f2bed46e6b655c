import type { JsonObject } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { readU32, u32, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";

/** Suite AES-256-GCM with a 12-byte nonce and a 16-byte tag. */
const FORMAT = 1;
const HEADER = 1 + 4 + 12;

/** What a sealed record is bound to. */
export interface RecordPlace {
  /** Kind of data, for example `seneschal/workspace-data/v1`. */
  readonly domain: string;
  readonly workspaceId: string;
  /** The caller's context; it must be given again, equal as JSON, to open. Absent is `{}`. */
  readonly context?: JsonObject;
}

/** A {@link RecordPlace} in its canonical form, for any number of records. */
export interface RecordBinding {
  /** `domain || 0x00 || JCS({context, key_version, workspace_id})`; do not change it. */
  associatedData(version: number): Uint8Array;
}

/** Fixes what records are bound to; later changes of `context` change nothing. Throws `crypto_invalid`, `not_canonical`. */
export function bindRecord(place: RecordPlace): RecordBinding {
  checkArgument("place", place, "object");
  const { domain, workspaceId, context = {} } = place;
  // The domain ends at the zero byte, so it may not hold one.
  if (domain.includes("\0")) throw cryptoError("crypto_invalid", "domain holds a zero character");
  // Around the version, which is between the two by name.
  const [before, behind] = [
    `{"context":${canonicalJson(context)},"key_version":`,
    `,"workspace_id":${canonicalJson(workspaceId)}}`,
  ];
  const known = new Map<number, Uint8Array>();
  return {
    associatedData(version) {
      const found = known.get(version) ?? utf8(`${domain}\0${before}${canonicalJson(version)}${behind}`);
      known.set(version, found);
      return found;
    },
  };
}

/**
 * Seals data under a versioned key: `format 0x01 | key version u32 | nonce 12 | ciphertext | tag 16`. A record opens for no other
 * workspace, context or key version than it is bound to. `key` is 32 bytes; use one key for less than 2^32 records.
 * Throws `crypto_invalid`.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { bindRecord, nobleCrypto, openRecord, sealRecord } from "@seneschal/crypto";
 * const binding = bindRecord({ domain: "seneschal/workspace-data/v1", workspaceId: "w1", context: { purpose: "billing" } });
 * const key = systemRandom(32);
 * const sealed = sealRecord(nobleCrypto, { key, version: 3 }, binding, Uint8Array.of(1, 2), systemRandom);
 * console.log(openRecord(nobleCrypto, (version) => (version === 3 ? key : undefined), binding, sealed).length); // 2
 * ```
 */
export function sealRecord(
  provider: Pick<CryptoProvider, "seal">,
  key: { readonly key: Uint8Array; readonly version: number },
  binding: RecordBinding,
  plaintext: Uint8Array,
  random: Random,
): Uint8Array {
  checkArgument("provider", provider, "object");
  checkArgument("key", key, "object");
  checkArgument("binding", binding, "object");
  checkArgument("plaintext", plaintext, "bytes");
  checkArgument("random", random, "function");
  assertKey(key.key);
  const nonce = random(12);
  const sealed = provider.seal(key.key, nonce, plaintext, binding.associatedData(key.version));
  const out = new Uint8Array(HEADER + sealed.length);
  out[0] = FORMAT;
  out.set(u32(key.version), 1);
  out.set(nonce, 5);
  out.set(sealed, HEADER);
  return out;
}

/** The key version that a sealed record names. Throws `decryption_failed` when it is no record. */
export function recordKeyVersion(sealed: Uint8Array): number {
  checkArgument("sealed", sealed, "bytes");
  if (sealed[0] !== FORMAT || sealed.length < HEADER + 16) throw cryptoError("decryption_failed", "decryption failed");
  return readU32(sealed, 1);
}

/**
 * Opens a sealed record with the key of its version. Throws `decryption_failed` for anything that does not fit: unknown
 * version, other workspace, other context, changed bytes; the reasons are not told apart.
 */
export function openRecord(
  provider: Pick<CryptoProvider, "open">,
  keyOf: (version: number) => Uint8Array | undefined,
  binding: RecordBinding,
  sealed: Uint8Array,
): Uint8Array {
  checkArgument("provider", provider, "object");
  checkArgument("keyOf", keyOf, "function");
  checkArgument("binding", binding, "object");
  checkArgument("sealed", sealed, "bytes");
  const version = recordKeyVersion(sealed);
  const key = keyOf(version);
  if (key === undefined) throw cryptoError("decryption_failed", "decryption failed");
  assertKey(key);
  return provider.open(key, sealed.subarray(5, HEADER), sealed.subarray(HEADER), binding.associatedData(version));
}

function assertKey(key: Uint8Array): void {
  if (key.length !== 32) throw cryptoError("crypto_invalid", "data key must be 32 bytes");
}
