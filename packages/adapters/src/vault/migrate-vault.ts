import { randomBytes } from "node:crypto";
import type { JsonObject } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import type { AuditDraft, CryptoProvider, DocumentStore, Random, TransitKeyInfo, Vault } from "@seneschal/kernel/ports";
import { openStoredKey, storedKeyNames } from "./open-embedded-vault.ts";
import { openHttpVault } from "./open-http-vault.ts";
import { wrapForImport } from "./transit-import.ts";
import { encryptWith, infoOf, type TransitKey } from "./transit-key.ts";
import { demandSuccess, type VaultConnection } from "./vault-connection.ts";
import { vaultError } from "./vault-error.ts";
import { MOVED, openSeal, ROOT, SEALS, sealBelow, storedSeal, type Unseal } from "./vault-seal.ts";

interface Parts {
  readonly store: DocumentStore;
  readonly crypto: CryptoProvider;
  readonly random: Random;
}

/** A transit engine that takes keys in, and its name in words. */
export interface ImportTarget {
  readonly connection: VaultConnection;
  readonly mount: string;
  readonly name: string;
}

/** How many keys a vault server has now, each version of which opened what the embedded vault had sealed. */
export interface MigratedKeys {
  readonly keys: number;
  readonly versions: number;
}

/**
 * Imports the keys of the embedded vault of a store into a transit engine, under the same names and version numbers: what was encrypted stays as it is. From its
 * begin on the embedded vault is opened no more (`vault_invalid`, `details.reason` `moved`). Cut off anywhere it goes on when it is run again; `undefined`: an
 * earlier run had finished it. Every version that may still decrypt is tried at both ends before it ends.
 *
 * Throws `vault_unavailable` when `unseal` does not open the vault or the server does not answer; `vault_invalid` when it was moved elsewhere, when the server has
 * another key of a name, or imports none.
 */
export async function migrateVault(
  parts: Parts,
  unseal: Unseal,
  target: ImportTarget,
  at: string,
  audit: (moved: MigratedKeys) => AuditDraft,
): Promise<MigratedKeys | undefined> {
  checkArgument("parts", parts, "object");
  checkArgument("unseal", unseal, "object");
  checkArgument("target", target, "object");
  checkArgument("at", at, "string");
  checkArgument("audit", audit, "function");
  const { store, crypto } = parts;
  const stored = await storedSeal(store);
  if (stored === undefined) throw vaultError("vault_invalid", "the vault has no seal yet", { reason: "not_initialized" });
  const { doc } = stored;
  if (doc["kind"] === MOVED && doc["to"] !== target.name)
    throw vaultError("vault_invalid", `the keys of this vault are moved to ${String(doc["to"])}`, { reason: "moved" });
  if (doc["kind"] === MOVED && doc["done"] === true) return undefined;
  const seal = sealBelow(doc);
  const root = await openSeal(crypto, unseal, seal);
  try {
    const keys: TransitKey[] = [];
    for (const name of await storedKeyNames(store)) {
      const found = await store.get("vault_keys", name);
      if (found !== undefined) keys.push(openStoredKey(crypto, root, name, found.doc));
    }
    const engine = openEngine(parts, target);
    // Nothing is begun unless all can be.
    for (const key of keys) await engine.check(key, await engine.vault.keyInfo(key.name));
    const version = await putSeal(parts, { kind: MOVED, to: target.name, at, done: false, seal }, stored.version);
    for (const key of keys) await engine.take(key);
    const moved = { keys: keys.length, versions: keys.reduce((sum, { versions }) => sum + Object.keys(versions).length, 0) };
    await putSeal(parts, { kind: MOVED, to: target.name, at, done: true, seal }, version, audit(moved));
    return moved;
  } finally {
    root.fill(0);
  }
}

/**
 * Opens an embedded vault again whose keys are not all moved; those that the server has taken stay there, and are the same. `false`: no move is under way. What is
 * complete is not undone: the server may have made newer versions since.
 */
export async function abortVaultMigration(given: Pick<Parts, "store" | "random">): Promise<boolean> {
  checkArgument("given", given, "object");
  const { store, random } = given;
  const stored = await storedSeal(store);
  if (stored?.doc["kind"] !== MOVED || stored.doc["done"] === true) return false;
  await putSeal({ store, random }, sealBelow(stored.doc), stored.version);
  return true;
}

function openEngine({ crypto, random }: Parts, { connection, mount }: ImportTarget) {
  const vault: Vault = openHttpVault({ connection, mount });
  let wrapping: string | undefined;

  const importVersion = async (name: string, tail: "import" | "import_version", key: Uint8Array): Promise<void> => {
    wrapping ??= String(demandSuccess(await connection.call("GET", `${mount}/wrapping_key`)).data["public_key"]);
    const more = tail === "import" ? { type: "aes256-gcm96", allow_rotation: true } : {};
    const body = { ciphertext: wrapForImport(wrapping, key), hash_function: "SHA256", ...more };
    const answer = await connection.call("POST", `${mount}/keys/${name}/${tail}`, body);
    if (answer.status === 400 || answer.status === 404)
      throw vaultError("vault_invalid", `the vault does not import ${name}: ${answer.errors[0] ?? "no such path"}`, {
        key: name,
        reason: "import",
      });
    demandSuccess(answer);
  };

  /** Whether every version that both have, and that may decrypt, is the same key. */
  const check = async (key: TransitKey, info: TransitKeyInfo | undefined): Promise<void> => {
    if (info === undefined) return;
    const other = () =>
      vaultError("vault_invalid", `the vault has another key ${key.name}`, { key: key.name, reason: "other_key" });
    if (info.latestVersion > key.latestVersion) throw other();
    const open = { ...key, minDecryptionVersion: 1, minEncryptionVersion: 0, minAvailableVersion: 0 };
    const probe = random(32);
    for (const version of Object.keys(key.versions).map(Number)) {
      if (version < Math.max(key.minDecryptionVersion, info.minDecryptionVersion) || version > info.latestVersion) continue;
      const ciphertext = encryptWith(crypto, random, open, probe, { version });
      const opened = await vault.decrypt(key.name, ciphertext).catch((error: { code?: string }) => {
        if (error.code === "decryption_failed") throw other();
        throw error;
      });
      if (!Buffer.from(opened).equals(probe)) throw other();
    }
  };

  const take = async (key: TransitKey): Promise<void> => {
    const { name, latestVersion, minDecryptionVersion, minEncryptionVersion, minAvailableVersion, deletionAllowed } = key;
    const before = await vault.keyInfo(name);
    for (let version = (before?.latestVersion ?? 0) + 1; version <= latestVersion; version += 1) {
      const entry = key.versions[String(version)];
      // A version that was trimmed has its number taken by a key that nobody knows.
      const bytes = entry === undefined ? randomBytes(32) : Buffer.from(entry.key, "base64");
      await importVersion(name, version === 1 ? "import" : "import_version", bytes);
      bytes.fill(0);
    }
    await vault.configureKey(name, { minDecryptionVersion, minEncryptionVersion, deletionAllowed });
    if (minAvailableVersion > 0) await vault.trimKey(name, minAvailableVersion);
    const info = await vault.keyInfo(name);
    await check(key, info);
    if (JSON.stringify(info) !== JSON.stringify(infoOf(key)))
      throw vaultError("vault_invalid", `the vault holds ${name} otherwise than it was`, { key: name, reason: "differs" });
  };

  return { vault, check, take };
}

/** Puts a seal in place of the one that was read; gives its version. */
async function putSeal(
  { store, random }: Pick<Parts, "store" | "random">,
  doc: JsonObject,
  ifVersion: number,
  audit?: AuditDraft,
): Promise<number> {
  const commitId = `vault-migrate-${Buffer.from(random(16)).toString("hex")}`;
  const puts = [{ coll: SEALS, id: ROOT, doc, ifVersion }];
  const result = await store.commit({ commitId, puts, ...(audit === undefined ? {} : { audit: [audit] }) });
  if (!result.ok) throw vaultError("vault_invalid", "the seal was changed by others at the same time", { reason: "changed" });
  return result.versions[`${SEALS}/${ROOT}`] as number;
}
