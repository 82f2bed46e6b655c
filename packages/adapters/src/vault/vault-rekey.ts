import type { JsonObject } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import type { AuditDraft, CryptoProvider, Del, DocumentStore, Put, Random } from "@seneschal/kernel/ports";
import { vaultError } from "./vault-error.ts";
import { sealOfExport } from "./vault-export.ts";
import { type NewSeal, openSeal, ROOT, SEALS, sealRoot, storedSeal, type Unseal } from "./vault-seal.ts";

/** A seal in shares that nobody has shown to have yet: the one before it stays in force. */
const NEXT = "next";
/** Stands while files of the store may still hold a seal of before. */
const FORGET = "forget";

interface Parts {
  readonly store: DocumentStore;
  readonly crypto: CryptoProvider;
  readonly random: Random;
}

/**
 * Makes the vault of a store that has none, or one that guards nothing yet. Gives the unseal key shares of a `shamir` seal: they are
 * stored nowhere. Throws `vault_invalid` when the vault has keys, or for a weak passphrase.
 */
export async function initVault(parts: Parts, seal: NewSeal, audit?: AuditDraft): Promise<readonly string[]> {
  checkArgument("parts", parts, "object");
  checkArgument("seal", seal, "object");
  const { crypto, random } = parts;
  const root = random(32);
  const { doc, shares } = await sealRoot(crypto, random, seal, root).finally(() => root.fill(0));
  await begin(parts, doc, audit);
  return shares;
}

/**
 * Makes the vault of such a store with the seal of another, of which this is an export: what unsealed that one unseals this, and opens
 * what it exported. Throws as {@link initVault} does, and for what is no export.
 */
export async function initVaultAs(parts: Parts, exported: string, audit?: AuditDraft): Promise<void> {
  await begin(parts, sealOfExport(exported), audit);
}

async function begin({ store, random }: Parts, doc: JsonObject, audit?: AuditDraft): Promise<void> {
  const existing = await storedSeal(store);
  const { items } = await store.list("vault_keys", "name", [], { limit: 1 });
  if (existing !== undefined && items.length > 0)
    throw vaultError("vault_invalid", "the vault is initialized and has keys: rekey it", { reason: "initialized" });
  await put({ store, random }, [{ coll: SEALS, id: ROOT, doc, ifVersion: existing?.version ?? 0 }], [], audit);
}

/**
 * Seals the root key of a vault anew; its keys stay what they are. The new seal is in force, and the old one opens nothing, from one
 * commit on. One in shares is put in force by {@link verifyRekey} only, when enough of them were shown to be kept: until then the old one
 * stands. Killed at any point, the vault opens by the old or by the new. Gives the shares. Throws `vault_unavailable` when `from` does
 * not open the vault, `vault_invalid` for a new passphrase that is weak.
 */
export async function rekeyVault(parts: Parts, from: Unseal, to: NewSeal, audit?: AuditDraft): Promise<readonly string[]> {
  checkArgument("parts", parts, "object");
  checkArgument("from", from, "object");
  checkArgument("to", to, "object");
  const { store, crypto, random } = parts;
  const current = await storedSeal(store);
  if (current === undefined) throw vaultError("vault_invalid", "the vault has no seal yet", { reason: "not_initialized" });
  const root = await openSeal(crypto, from, current.doc);
  const { doc, shares } = await sealRoot(crypto, random, to, root).finally(() => root.fill(0));
  if (to.kind === "shamir") {
    const checks = [{ coll: SEALS, id: ROOT, version: current.version }];
    const commitId = `vault-rekey-${Buffer.from(random(16)).toString("hex")}`;
    const staged = await store.commit({ commitId, puts: [{ coll: SEALS, id: NEXT, doc }], checks });
    if (!staged.ok) throw changedByOthers();
    return shares;
  }
  // INVARIANT: what is in force has been opened by what is configured: a wrapping key that only wraps would lose the vault.
  (await openSeal(crypto, to, doc)).fill(0);
  await replace(parts, { coll: SEALS, id: ROOT, doc, ifVersion: current.version }, audit);
  return shares;
}

/** The seal in shares that waits for {@link verifyRekey}. */
export async function stagedSeal(store: DocumentStore) {
  checkArgument("store", store, "object");
  return (await store.get(SEALS, NEXT))?.doc;
}

/** Puts the seal in force whose shares gave `key`. Throws `vault_unavailable` when they do not open the root key, `vault_invalid` when no seal waits. */
export async function verifyRekey(parts: Parts, key: Uint8Array, audit?: AuditDraft): Promise<void> {
  checkArgument("parts", parts, "object");
  checkArgument("key", key, "bytes");
  const { store, crypto } = parts;
  const [current, next] = [await storedSeal(store), await store.get(SEALS, NEXT)];
  if (next === undefined || current === undefined) throw vaultError("vault_invalid", "no new seal waits", { reason: "no_rekey" });
  (await openSeal(crypto, { kind: "shamir", key }, next.doc)).fill(0);
  await replace(parts, { coll: SEALS, id: ROOT, doc: next.doc, ifVersion: current.version }, audit);
}

/** Takes seals of before out of the store's files where an earlier run got no further than to replace them. */
export async function forgetOldSeals({ store, random }: Pick<Parts, "store" | "random">): Promise<void> {
  if ((await store.get(SEALS, FORGET)) === undefined) return;
  await store.expunge?.();
  await put({ store, random }, [], [{ coll: SEALS, id: FORGET }]);
}

async function replace({ store, random }: Parts, seal: Put, audit?: AuditDraft): Promise<void> {
  await put({ store, random }, [seal, { coll: SEALS, id: FORGET, doc: {} }], [{ coll: SEALS, id: NEXT }], audit);
  await forgetOldSeals({ store, random });
}

async function put(
  { store, random }: Pick<Parts, "store" | "random">,
  puts: readonly Put[],
  dels: readonly Del[],
  audit?: AuditDraft,
): Promise<void> {
  const commitId = `vault-seal-${Buffer.from(random(16)).toString("hex")}`;
  const result = await store.commit({ commitId, puts, dels, ...(audit === undefined ? {} : { audit: [audit] }) });
  if (!result.ok) throw changedByOthers();
}

function changedByOthers() {
  return vaultError("vault_invalid", "the seal was changed by others at the same time", { reason: "changed" });
}
