import { base64, fromBase64, fromUtf8, utf8 } from "@seneschal/crypto";
import type { JsonObject } from "@seneschal/kernel";
import { checkOptions } from "@seneschal/kernel";
import type {
  BatchItem,
  Clock,
  Collections,
  CryptoProvider,
  DocumentStore,
  Random,
  Vault,
  VaultErrorCode,
} from "@seneschal/kernel/ports";
import { addVersion, configure, decryptWith, encryptWith, infoOf, newTransitKey, type TransitKey, trim } from "./transit-key.ts";
import { assertKeyName, vaultError } from "./vault-error.ts";
import { openExport, sealExport } from "./vault-export.ts";
import { forgetOldSeals } from "./vault-rekey.ts";
import { sealedRootKey, type Unseal, unsealRootKey } from "./vault-seal.ts";

const KEYS = "vault_keys";
const ATTEMPTS = 50;

/** The collections that the store of an embedded vault must declare. */
export const vaultCollections: Collections = {
  vault_seal: { indexes: {} },
  vault_keys: { indexes: { name: { key: (doc) => [String(doc["name"])] } } },
};

/** Keys that travel to another vault with the same unseal key, for disaster recovery. */
export interface PortableKeys {
  /** The keys of these names, as text that opens only with the unseal key; names are sealed too. */
  exportKeys(named: (name: string) => boolean): Promise<string>;
  /**
   * Opens such text; this vault is as it was until `adopt`. Throws `decryption_failed` when it is damaged, or was made by another vault under
   * another unseal key.
   */
  openExport(text: string): Promise<ExportedKeys>;
}

/** What an export holds. */
interface ExportedKeys {
  readonly decrypt: Vault["decrypt"];
  /**
   * Takes the keys into this vault. A key here with every version of the one that arrives stays. Any other gives way to it; with
   * `lose: false` only when none of its versions is lost, else `vault_invalid` and nothing changes.
   */
  adopt(options?: { readonly lose?: boolean }): Promise<void>;
}

/** An embedded vault: {@link Vault}, keys that can be carried away sealed, and a way to forget the root key. */
export interface EmbeddedVault extends Vault, PortableKeys {
  /** Erases the root key from memory; every call is `vault_unavailable` from then on. The store stays the caller's. */
  seal(): void;
}

interface Held {
  readonly version: number;
  readonly key: TransitKey;
}

/**
 * Opens the vault that lives in a document store, making it on first use. Every key ring is one document, sealed as a
 * whole under the root key and bound to its name; several processes on one store see each other's changes at once. Who
 * can write the store can put an older document back, but reads nothing. A deleted key is in none of the store's files where the store
 * can expunge; elsewhere (PostgreSQL: dead rows until VACUUM FULL, the write-ahead log) it opens with the unseal key until they are gone.
 *
 * Throws `vault_unavailable` for a wrong unseal key; `vault_invalid` where operators are to unseal a vault that was not made
 * ({@link initVault}).
 *
 * @example
 * ```ts
 * import { openMemoryStore } from "@seneschal/adapters/memory";
 * import { nodeCrypto } from "@seneschal/adapters/node-crypto";
 * import { systemClock, systemRandom } from "@seneschal/adapters/system";
 * import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
 * const vault = await openEmbeddedVault({
 *   store: openMemoryStore({ collections: vaultCollections }), crypto: nodeCrypto, random: systemRandom, clock: systemClock,
 *   unseal: { kind: "key", key: systemRandom(32) },
 * });
 * await vault.createKey("org-kek-acme");
 * const sealed = await vault.encrypt("org-kek-acme", Uint8Array.of(1, 2, 3));
 * console.log(sealed.startsWith("vault:v1:"), (await vault.decrypt("org-kek-acme", sealed)).length); // true 3
 * ```
 */
export async function openEmbeddedVault(options: {
  readonly store: DocumentStore;
  readonly crypto: CryptoProvider;
  readonly random: Random;
  readonly clock: Clock;
  readonly unseal: Unseal;
}): Promise<EmbeddedVault> {
  checkOptions("options", options, { store: "object", crypto: "object", random: "function", clock: "object", unseal: "object" });
  const { store, crypto, random, clock } = options;
  let root: Uint8Array | undefined = await unsealRootKey(store, crypto, random, options.unseal);
  await forgetOldSeals(options);
  const cache = new Map<string, Held>();

  const expunge = async (): Promise<void> => store.expunge?.();

  const rootKey = (): Uint8Array => {
    if (root === undefined) throw vaultError("vault_unavailable", "the vault is sealed");
    return root;
  };
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      throw vaultError("vault_unavailable", "the vault's store did not answer", {}, cause);
    }
  };

  const find = async (name: string): Promise<Held | undefined> => {
    const key = rootKey();
    assertKeyName(name);
    const stored = await guarded(() => store.get(KEYS, name));
    if (stored === undefined) {
      cache.delete(name);
      return undefined;
    }
    const known = cache.get(name);
    if (known !== undefined && known.version === stored.version) return known;
    const held = { version: stored.version, key: openStoredKey(crypto, key, name, stored.doc) };
    cache.set(name, held);
    return held;
  };

  const need = async (name: string): Promise<Held> => {
    const held = await find(name);
    if (held === undefined) throw vaultError("key_not_found", "no such key", { key: name });
    return held;
  };

  const put = async (key: TransitKey, ifVersion: number): Promise<boolean> => {
    const nonce = random(12);
    const sealed = crypto.seal(rootKey(), nonce, utf8(JSON.stringify(key)), associated(key.name));
    const doc = { name: key.name, sealed: base64(Buffer.concat([nonce, sealed])) };
    const result = await guarded(() =>
      store.commit({ commitId: commitId(), puts: [{ coll: KEYS, id: key.name, doc, ifVersion }] }),
    );
    return result.ok;
  };

  const commitId = (): string => `vault-${Buffer.from(random(16)).toString("hex")}`;

  const listKeys = async (): Promise<string[]> => {
    rootKey();
    return guarded(() => storedKeyNames(store));
  };

  /** Whether one key has every version of another. */
  const covers = (a: TransitKey, b: TransitKey): boolean =>
    Object.entries(b.versions).every(([version, { key }]) => a.versions[version]?.key === key);

  const adopt = async (key: TransitKey, lose: boolean): Promise<void> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const held = await find(key.name);
      if (held !== undefined && covers(held.key, key)) return;
      if (held !== undefined && !lose && !covers(key, held.key)) throw otherKey(key.name);
      if (await put(key, held?.version ?? 0)) return;
    }
    throw vaultError("vault_unavailable", "the key is being changed by too many at once", { key: key.name });
  };

  /** Changes a key from its current version on; a lost race starts over from the winner's state. */
  const change = async (name: string, next: (key: TransitKey) => TransitKey): Promise<TransitKey> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const held = await need(name);
      const key = next(held.key);
      if (await put(key, held.version)) return key;
    }
    throw vaultError("vault_unavailable", "the key is being changed by too many at once", { key: name });
  };

  return {
    async createKey(name) {
      if ((await find(name)) !== undefined) return;
      await put(newTransitKey(name, { random, now: clock.now() }), 0);
    },
    keyInfo: async (name) => {
      const held = await find(name);
      return held && infoOf(held.key);
    },
    listKeys,
    rotateKey: async (name) => (await change(name, (key) => addVersion(key, random, clock.now()))).latestVersion,
    async configureKey(name, config) {
      await change(name, (key) => configure(key, config));
    },
    async trimKey(name, minAvailableVersion) {
      await change(name, (key) => trim(key, minAvailableVersion));
    },
    async deleteKey(name) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const held = await find(name);
        // An earlier call may have got no further than the deletion.
        if (held === undefined) await guarded(expunge);
        if (held === undefined) throw vaultError("key_not_found", "no such key", { key: name });
        if (!held.key.deletionAllowed)
          throw vaultError("deletion_not_allowed", "deletion is not allowed for this key", { key: name });
        const dels = [{ coll: KEYS, id: name, ifVersion: held.version }];
        const result = await guarded(() => store.commit({ commitId: commitId(), dels }));
        cache.delete(name);
        if (!result.ok) continue;
        await guarded(expunge);
        return;
      }
      throw vaultError("vault_unavailable", "the key is being changed by too many at once", { key: name });
    },
    encrypt: async (name, plaintext, aad) => {
      const { key } = await need(name);
      return encryptWith(crypto, random, key, plaintext, aad === undefined ? {} : { aad });
    },
    decrypt: async (name, ciphertext, aad) => {
      const { key } = await need(name);
      return decryptWith(crypto, key, ciphertext, aad === undefined ? {} : { aad });
    },
    async rewrap(name, ciphertext, aad) {
      const { key } = await need(name);
      const use = aad === undefined ? {} : { aad };
      return encryptWith(crypto, random, key, decryptWith(crypto, key, ciphertext, use), use);
    },
    async encryptMany(name, items) {
      const { key } = await need(name);
      return items.map(({ plaintext, aad }) =>
        attempt(() => encryptWith(crypto, random, key, plaintext, aad === undefined ? {} : { aad })),
      );
    },
    async decryptMany(name, items) {
      const { key } = await need(name);
      return items.map(({ ciphertext, aad }) =>
        attempt(() => decryptWith(crypto, key, ciphertext, aad === undefined ? {} : { aad })),
      );
    },
    async exportKeys(named) {
      const names = (await listKeys()).filter(named);
      const held = await Promise.all(names.map(find));
      const seal = await guarded(() => sealedRootKey(store));
      return sealExport(
        crypto,
        random,
        { key: rootKey(), seal },
        held.flatMap((h) => h?.key ?? []),
      );
    },
    async openExport(text) {
      const keys = await openExport(crypto, { root: rootKey(), unseal: options.unseal }, text);
      return {
        async decrypt(name, ciphertext, aad) {
          const key = keys.find((k) => k.name === name);
          if (key === undefined) throw vaultError("key_not_found", "no such key", { key: name });
          return decryptWith(crypto, key, ciphertext, aad === undefined ? {} : { aad });
        },
        async adopt({ lose = true } = {}) {
          for (const key of lose ? [] : keys) {
            const held = await find(key.name);
            if (held !== undefined && !covers(held.key, key) && !covers(key, held.key)) throw otherKey(key.name);
          }
          for (const key of keys) await adopt(key, lose);
        },
      };
    },
    health: async () => ({ sealed: root === undefined, initialized: true, version: "embedded" }),
    seal() {
      root?.fill(0);
      root = undefined;
      cache.clear();
    },
  };
}

const associated = (name: string): Uint8Array => utf8(`seneschal/vault-key/v1\0${name}`);

/** The names of all keys of the vault in a store, in order. */
export async function storedKeyNames(store: DocumentStore): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list(KEYS, "name", [], { limit: 500, ...(cursor === undefined ? {} : { cursor }) });
    names.push(...page.items.map((item) => item.id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return names.sort();
}

/** A key out of its stored document. Throws `vault_unavailable` when it is damaged, of another name or of another vault. */
export function openStoredKey(crypto: CryptoProvider, root: Uint8Array, name: string, doc: JsonObject): TransitKey {
  const sealed = String(doc["sealed"]);
  let text: Uint8Array;
  try {
    const bytes = fromBase64(sealed);
    text = crypto.open(root, bytes.subarray(0, 12), bytes.subarray(12), associated(name));
    if (base64(bytes) !== sealed || doc["name"] !== name) throw new TypeError("not as it was written");
  } catch {
    throw vaultError("vault_unavailable", "a stored key is damaged or does not belong to this vault", { key: name });
  }
  const key = JSON.parse(fromUtf8(text)) as TransitKey;
  text.fill(0);
  return key;
}

function otherKey(name: string) {
  return vaultError("vault_invalid", "another key of this name is here", { key: name, reason: "other_key" });
}

/** One item of a batch: its value, or the code and reason of its failure. */
function attempt<T>(work: () => T): BatchItem<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    const { code, details } = error as { code: VaultErrorCode; details?: { reason?: string } };
    return { ok: false, code, reason: details?.reason ?? code };
  }
}
