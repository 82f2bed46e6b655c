import { ARGON2_DEFAULT, base64, fromBase64, utf8 } from "@seneschal/crypto";
import type { JsonObject } from "@seneschal/kernel";
import type { Argon2Params, CryptoProvider, DocumentStore, Random } from "@seneschal/kernel/ports";
import { vaultError } from "./vault-error.ts";

/** What opens an embedded vault: 32 bytes from a key file, or a passphrase. */
export type Unseal =
  | { readonly kind: "key"; readonly key: Uint8Array }
  | { readonly kind: "passphrase"; readonly passphrase: string; readonly cost?: Argon2Params };

const COLLECTION = "vault_seal";
const ID = "root";
const AAD = utf8("seneschal/vault-root/v1");

/** The root key of the vault in this store as the unseal key seals it. */
export async function sealedRootKey(store: DocumentStore): Promise<JsonObject> {
  const stored = await store.get(COLLECTION, ID);
  if (stored === undefined) throw vaultError("vault_unavailable", "the vault's seal is gone");
  return stored.doc;
}

/**
 * Gives the root key of the vault in this store, making and sealing a new one on the first use. The root key is stored
 * only sealed (AES-256-GCM) under the unseal key. Throws `vault_unavailable` when the unseal key is not the right one.
 */
export async function unsealRootKey(
  store: DocumentStore,
  crypto: CryptoProvider,
  random: Random,
  unseal: Unseal,
): Promise<Uint8Array> {
  const existing = await store.get(COLLECTION, ID);
  if (existing !== undefined) return openSeal(crypto, unseal, existing.doc);
  const root = random(32);
  const doc = await seal(crypto, random, unseal, root);
  const commitId = `vault-init-${Buffer.from(random(16)).toString("hex")}`;
  const result = await store.commit({ commitId, puts: [{ coll: COLLECTION, id: ID, doc, ifVersion: 0 }] });
  if (result.ok) return root;
  // Another process was first: its root key is the vault's.
  root.fill(0);
  return openSeal(crypto, unseal, await sealedRootKey(store));
}

async function seal(crypto: CryptoProvider, random: Random, unseal: Unseal, root: Uint8Array): Promise<JsonObject> {
  const salt = random(16);
  const nonce = random(12);
  const cost = unseal.kind === "passphrase" ? (unseal.cost ?? ARGON2_DEFAULT) : undefined;
  const key = await unsealKey(crypto, unseal, salt, cost);
  const sealed = base64(crypto.seal(key, nonce, root, AAD));
  key.fill(0);
  const kdf = cost === undefined ? null : { time: cost.time, memory_kib: cost.memoryKiB, parallelism: cost.parallelism };
  return { kind: unseal.kind, salt: base64(salt), kdf, nonce: base64(nonce), sealed };
}

/** The root key out of its sealed document. Throws `vault_unavailable` when the unseal key is not the right one. */
export async function openSeal(crypto: CryptoProvider, unseal: Unseal, doc: JsonObject): Promise<Uint8Array> {
  if (doc["kind"] !== unseal.kind) {
    throw vaultError("vault_unavailable", `the vault is sealed with a ${String(doc["kind"])}, not with a ${unseal.kind}`);
  }
  let key: Uint8Array | undefined;
  try {
    const [salt, nonce, sealed] = ["salt", "nonce", "sealed"].map((field) => exactly(String(doc[field])));
    if (Object.keys(doc).sort().join() !== "kdf,kind,nonce,salt,sealed") throw new TypeError("not as it was written");
    const kdf = doc["kdf"] as { readonly time: number; readonly memory_kib: number; readonly parallelism: number } | null;
    const cost = kdf === null ? undefined : { time: kdf.time, memoryKiB: kdf.memory_kib, parallelism: kdf.parallelism };
    key = await unsealKey(crypto, unseal, salt as Uint8Array, cost);
    return crypto.open(key, nonce as Uint8Array, sealed as Uint8Array, AAD);
  } catch (cause) {
    throw vaultError("vault_unavailable", "the vault does not open with this key, or its seal is damaged", {}, cause);
  } finally {
    key?.fill(0);
  }
}

/** Bytes whose base64 is this very text: other texts can mean the same bytes. */
function exactly(text: string): Uint8Array {
  const bytes = fromBase64(text);
  if (base64(bytes) !== text) throw new TypeError("not as it was written");
  return bytes;
}

async function unsealKey(
  crypto: CryptoProvider,
  unseal: Unseal,
  salt: Uint8Array,
  cost: Argon2Params | undefined,
): Promise<Uint8Array> {
  if (unseal.kind === "passphrase") {
    return crypto.argon2id(utf8(unseal.passphrase.normalize("NFKC")), salt, cost ?? ARGON2_DEFAULT, 32);
  }
  if (unseal.key.length !== 32) throw vaultError("vault_unavailable", "an unseal key has 32 bytes");
  return crypto.hkdf("sha256", unseal.key, salt, AAD, 32);
}
