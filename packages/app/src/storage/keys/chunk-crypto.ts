import { type Stripe, storageError } from "@seneschal/core/storage";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { onChunkThread } from "../bytes/chunk-threads.ts";
import { sealOverhead } from "../bytes/chunk-work.ts";
import type { MasterKey } from "./key-manager.ts";

const dekLabel = Buffer.from("seneschal/storage/chunk/v1");
const secretLabel = Buffer.from("seneschal/storage/secret/v2");
const dedupLabel = Buffer.from("seneschal/storage/dedup/v1");
const none = new Uint8Array(0);

/** A chunk, named and sealed. `id` is 64 hex digits. */
export interface SealedChunk {
  readonly id: string;
  readonly epoch: number;
  readonly nonce: Uint8Array;
  readonly sealed: Uint8Array;
}

/** What a tenant must know of a chunk to open it: wrapped under its key, bound to the chunk's id. */
export interface ChunkParameters {
  readonly epoch: number;
  readonly secret: Uint8Array;
}

/**
 * The name of a chunk and its secret, from one pass over the plaintext.
 *
 * `id` is the content address: SHA-256 of the plaintext, or an HMAC of it under a key of the tenant when the tenant opted out
 * of deduplication across tenants.
 *
 * `secret` is HMAC(label, SHA-256(plaintext || label)), which nobody can tell from the id. It is stored only wrapped under
 * tenants' keys and enters the chunk's key, so that master key and chunk id together open nothing: without a tenant's key the
 * chunk stays shut, which is what makes crypto-shred real on deduplicated data.
 */
export async function nameChunk(
  crypto: CryptoProvider,
  tenant: string,
  plaintext: Uint8Array,
  optOutKek?: Uint8Array,
): Promise<{ readonly id: string; readonly secret: Uint8Array }> {
  const mac = optOutKek && crypto.hkdf("sha256", optOutKek, none, dedupLabel, 32);
  const { digests } = await onChunkThread({ kind: "digest", plaintext, label: secretLabel, mac }, tenant);
  if (digests === undefined) throw new TypeError("a digest has digests");
  const secret = crypto.hmac("sha256", secretLabel, digests.labelled);
  return { id: Buffer.from(digests.mac ?? digests.whole).toString("hex"), secret };
}

/** DEK = HKDF-SHA256(master, salt = chunk id, info = label || secret). */
function dataKey(crypto: CryptoProvider, master: Uint8Array, id: string, secret: Uint8Array): Uint8Array {
  return crypto.hkdf("sha256", master, Buffer.from(id, "hex"), Buffer.concat([dekLabel, secret]), 32);
}

/** A chunk in the clear, and all that its key is made of. */
export interface NamedChunk {
  readonly tenant: string;
  readonly id: string;
  readonly secret: Uint8Array;
  readonly plaintext: Uint8Array;
}

/**
 * AES-256-GCM with a fresh nonce; the id is associated data. What is sealed lies in the beginning of `into`, which has 16 bytes more than
 * the plaintext, or with a stripe all that the stripe takes.
 */
export async function sealChunk(
  crypto: CryptoProvider,
  random: Random,
  master: MasterKey,
  { tenant, id, secret, plaintext }: NamedChunk,
  into: Uint8Array,
  stripe?: Stripe,
): Promise<{ readonly chunk: SealedChunk; readonly encodeSeconds: number }> {
  const nonce = random(12);
  const key = dataKey(crypto, master.bytes, id, secret);
  const aad = Buffer.from(id, "hex");
  const { encodeSeconds = 0 } = await onChunkThread({ kind: "seal", key, nonce, aad, plaintext, into, stripe }, tenant);
  const sealed = into.subarray(0, plaintext.length + sealOverhead);
  return { chunk: { id, epoch: master.epoch, nonce, sealed }, encodeSeconds };
}

/** Opens a chunk into memory of 16 bytes less than what is sealed. Throws `DataCorruption` unless the bytes are those that were sealed. */
export async function openChunk(
  crypto: CryptoProvider,
  tenant: string,
  master: MasterKey,
  secret: Uint8Array,
  { id, nonce, sealed }: SealedChunk,
  into: Uint8Array,
): Promise<void> {
  const key = dataKey(crypto, master.bytes, id, secret);
  const { authentic } = await onChunkThread({ kind: "open", key, nonce, aad: Buffer.from(id, "hex"), sealed, into }, tenant);
  if (authentic !== true) throw storageError("DataCorruption", `chunk ${id} does not authenticate`, { chunk: id });
}

/** Wraps the derivation parameters for one tenant; a blob moved to another chunk does not open. Base64. */
export function wrapParameters(
  crypto: CryptoProvider,
  random: Random,
  kek: Uint8Array,
  id: string,
  { epoch, secret }: ChunkParameters,
): string {
  const nonce = random(12);
  const plaintext = Buffer.alloc(4 + secret.length);
  plaintext.writeUInt32BE(epoch, 0);
  plaintext.set(secret, 4);
  return Buffer.concat([nonce, crypto.seal(kek, nonce, plaintext, Buffer.from(id, "hex"))]).toString("base64");
}

/** Throws `DataCorruption` when the blob is not of this tenant and chunk. */
export function unwrapParameters(crypto: CryptoProvider, kek: Uint8Array, id: string, wrapped: string): ChunkParameters {
  const bytes = Buffer.from(wrapped, "base64");
  try {
    const plaintext = Buffer.from(crypto.open(kek, bytes.subarray(0, 12), bytes.subarray(12), Buffer.from(id, "hex")));
    return { epoch: plaintext.readUInt32BE(0), secret: plaintext.subarray(4) };
  } catch (error) {
    throw storageError("DataCorruption", `the key of chunk ${id} does not open`, { chunk: id }, error);
  }
}
