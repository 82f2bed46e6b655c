import { ARGON2_DEFAULT, assertPassphrase, base64, canonicalJson, fromBase64, utf8 } from "@seneschal/crypto";
import { type SplitRecord, splitSecret } from "@seneschal/crypto/threshold";
import { checkArgument, isCoded, type JsonObject } from "@seneschal/kernel";
import type { Argon2Params, CryptoProvider, DocumentStore, Random, Stored } from "@seneschal/kernel/ports";
import { vaultError } from "./vault-error.ts";

/** A key elsewhere (of another vault, in a hardware module) that wraps the unseal key: the vault opens by itself where that is reached. */
export interface KeyWrapper {
  /** Text that only `unwrap` opens. */
  wrap(key: Uint8Array): Promise<string>;
  /** Throws `vault_unavailable` when the wrapping key is not there, `decryption_failed` when it did not wrap this. */
  unwrap(wrapped: string): Promise<Uint8Array>;
}

/** What opens an embedded vault. */
export type Unseal =
  /** 32 bytes from a key file. */
  | { readonly kind: "key"; readonly key: Uint8Array }
  | { readonly kind: "passphrase"; readonly passphrase: string; readonly cost?: Argon2Params }
  /** What unseal key shares give together: 32 bytes. */
  | { readonly kind: "shamir"; readonly key: Uint8Array }
  | { readonly kind: "transit" | "pkcs11"; readonly wrapper: KeyWrapper };

/** How a vault is to be sealed: as {@link Unseal} says, or under a key that is dealt in so many shares, `threshold` of which open it. */
export type NewSeal =
  | Exclude<Unseal, { readonly kind: "shamir" }>
  | { readonly kind: "shamir"; readonly shares: number; readonly threshold: number };

export const SEALS = "vault_seal";
/** The seal in force. */
export const ROOT = "root";
/** The kind of a seal whose vault is being moved, or was moved, to a vault server: no release opens it. The seal itself is kept inside. */
export const MOVED = "moved";
const AAD = "seneschal/vault-root/v1";

/** The seal of the vault in this store; `undefined` where none was made. */
export function storedSeal(store: DocumentStore): Promise<Stored | undefined> {
  checkArgument("store", store, "object");
  return store.get(SEALS, ROOT);
}

/** The root key of the vault in this store as the unseal key seals it. */
export async function sealedRootKey(store: DocumentStore): Promise<JsonObject> {
  const stored = await storedSeal(store);
  if (stored === undefined) throw vaultError("vault_unavailable", "the vault's seal is gone");
  return stored.doc;
}

/**
 * Gives the root key of the vault in this store, making and sealing a new one on the first use. The root key is stored
 * only sealed (AES-256-GCM) under the unseal key. Throws `vault_unavailable` when the unseal key is not the right one, `vault_invalid` for
 * a first one that is a weak passphrase.
 */
export async function unsealRootKey(
  store: DocumentStore,
  crypto: CryptoProvider,
  random: Random,
  unseal: Unseal,
): Promise<Uint8Array> {
  const existing = await storedSeal(store);
  if (existing !== undefined) return openSeal(crypto, unseal, existing.doc);
  if (unseal.kind === "shamir") throw vaultError("vault_invalid", "the vault has no seal yet", { reason: "not_initialized" });
  const root = random(32);
  const { doc } = await sealRoot(crypto, random, unseal, root);
  const commitId = `vault-init-${Buffer.from(random(16)).toString("hex")}`;
  const result = await store.commit({ commitId, puts: [{ coll: SEALS, id: ROOT, doc, ifVersion: 0 }] });
  if (result.ok) return root;
  // Another process was first: its root key is the vault's.
  root.fill(0);
  return openSeal(crypto, unseal, await sealedRootKey(store));
}

/**
 * A root key sealed anew, and the shares of a key that was dealt for it: these are nowhere else. Throws `vault_invalid` for a passphrase that is against the
 * rule of new ones; what was sealed before is opened by any.
 */
export async function sealRoot(
  crypto: CryptoProvider,
  random: Random,
  seal: NewSeal,
  root: Uint8Array,
): Promise<{ readonly doc: JsonObject; readonly shares: readonly string[] }> {
  if (seal.kind === "passphrase") requirePassphrase(seal.passphrase);
  const [salt, nonce] = [random(16), random(12)];
  const cost = seal.kind === "passphrase" ? (seal.cost ?? ARGON2_DEFAULT) : undefined;
  const kdf = cost === undefined ? null : { time: cost.time, memory_kib: cost.memoryKiB, parallelism: cost.parallelism };
  const { material, more, shares } = await newMaterial(random, seal);
  const key = await sealingKey(crypto, material, salt, cost);
  const sealed = base64(crypto.seal(key, nonce, root, bound(more)));
  key.fill(0);
  return { doc: { kind: seal.kind, salt: base64(salt), kdf, nonce: base64(nonce), sealed, ...more }, shares };
}

function requirePassphrase(passphrase: string): void {
  try {
    assertPassphrase(passphrase);
  } catch (cause) {
    if (!isCoded(cause, "crypto_invalid")) throw cause;
    throw vaultError("vault_invalid", `the vault's new seal: ${cause.message}`, { reason: "passphrase" }, cause);
  }
}

/** A seal, also where the vault is being moved. */
export function sealBelow(doc: JsonObject): JsonObject {
  checkArgument("doc", doc, "object");
  return doc["kind"] === MOVED ? (doc["seal"] as JsonObject) : doc;
}

/** The root key out of its sealed document. Throws `vault_invalid` for a vault that was moved, `vault_unavailable` when the unseal key is not the right one. */
export async function openSeal(crypto: CryptoProvider, unseal: Unseal, doc: JsonObject): Promise<Uint8Array> {
  checkArgument("crypto", crypto, "object");
  checkArgument("unseal", unseal, "object");
  checkArgument("doc", doc, "object");
  refuseMoved(doc);
  if (doc["kind"] !== unseal.kind) {
    throw vaultError("vault_unavailable", `the vault is sealed with a ${String(doc["kind"])}, not with a ${unseal.kind}`);
  }
  let key: Uint8Array | undefined;
  try {
    const { kind: _, salt, kdf, nonce, sealed, ...more } = doc as unknown as SealDocument;
    if (Object.keys(more).join() !== ({ shamir: "shares", transit: "wrapped", pkcs11: "wrapped" }[unseal.kind as string] ?? ""))
      throw new TypeError("not as it was written");
    const cost = kdf === null ? undefined : { time: kdf.time, memoryKiB: kdf.memory_kib, parallelism: kdf.parallelism };
    const material = "wrapper" in unseal ? await unseal.wrapper.unwrap(String(more["wrapped"])) : materialOf(unseal);
    key = await sealingKey(crypto, material, exactly(salt), cost);
    return crypto.open(key, exactly(nonce), exactly(sealed), bound(more));
  } catch (cause) {
    // What wraps is not there, or not as it is configured: nothing is known of the seal.
    if (isCoded(cause, "vault_unavailable", "config_invalid")) throw cause;
    throw vaultError("vault_unavailable", "the vault does not open with this key, or its seal is damaged", {}, cause);
  } finally {
    key?.fill(0);
  }
}

function refuseMoved(doc: JsonObject): void {
  if (doc["kind"] === MOVED)
    throw vaultError(
      "vault_invalid",
      `the keys of this vault were moved to ${String(doc["to"])}: configure that; where that was cut off, run seneschal migrate again`,
      { reason: MOVED },
    );
}

/** What is public of the shares that open a seal. Throws `vault_unavailable` for a seal that is not in shares, or damaged; `vault_invalid` for a vault that was moved. */
export function sharesOf(doc: JsonObject): SplitRecord {
  checkArgument("doc", doc, "object");
  refuseMoved(doc);
  const shares = doc["shares"] as StoredShares | undefined;
  if (doc["kind"] !== "shamir" || shares === undefined)
    throw vaultError("vault_unavailable", `the vault is sealed with a ${String(doc["kind"])}, not in unseal key shares`);
  const { set_id, epoch, threshold, total, salt, commitments } = shares;
  return { setId: exactly(set_id), epoch, threshold, total, salt: exactly(salt), commitments: commitments.map(exactly) };
}

interface StoredShares {
  readonly set_id: string;
  readonly epoch: number;
  readonly threshold: number;
  readonly total: number;
  readonly salt: string;
  readonly commitments: readonly string[];
}

interface SealDocument extends JsonObject {
  readonly kind: string;
  readonly salt: string;
  readonly kdf: { readonly time: number; readonly memory_kib: number; readonly parallelism: number } | null;
  readonly nonce: string;
  readonly sealed: string;
}

/** What the sealing key is derived from, what of it is stored, and the shares that are dealt of it. */
async function newMaterial(
  random: Random,
  seal: NewSeal,
): Promise<{ readonly material: Material; readonly more: JsonObject; readonly shares: readonly string[] }> {
  if (seal.kind === "key" || seal.kind === "passphrase") return { material: materialOf(seal), more: {}, shares: [] };
  const material = random(32);
  if (seal.kind !== "shamir") return { material, more: { wrapped: await seal.wrapper.wrap(material) }, shares: [] };
  const { shares, record } = await splitSecret(material, { threshold: seal.threshold, total: seal.shares, random });
  const { setId, epoch, threshold, total, salt, commitments } = record;
  const stored = { set_id: base64(setId), epoch, threshold, total, salt: base64(salt), commitments: commitments.map(base64) };
  return { material, more: { shares: stored }, shares: shares.map((share) => share.encode()) };
}

type Material = Uint8Array | string;

function materialOf(unseal: Exclude<Unseal, { readonly wrapper: KeyWrapper }>): Material {
  return unseal.kind === "passphrase" ? unseal.passphrase : unseal.key;
}

/** What is stored beside the sealed root key is bound to it: altered, it opens nothing. */
function bound(more: JsonObject): Uint8Array {
  return utf8(Object.keys(more).length === 0 ? AAD : `${AAD}\0${canonicalJson(more)}`);
}

/** Bytes whose base64 is this very text: other texts can mean the same bytes. */
function exactly(text: string): Uint8Array {
  const bytes = fromBase64(String(text));
  if (base64(bytes) !== text) throw new TypeError("not as it was written");
  return bytes;
}

async function sealingKey(
  crypto: CryptoProvider,
  material: Material,
  salt: Uint8Array,
  cost: Argon2Params | undefined,
): Promise<Uint8Array> {
  if (typeof material === "string") return crypto.argon2id(utf8(material.normalize("NFKC")), salt, cost ?? ARGON2_DEFAULT, 32);
  if (material.length !== 32) throw vaultError("vault_unavailable", "an unseal key has 32 bytes");
  return crypto.hkdf("sha256", material, salt, utf8(AAD), 32);
}
