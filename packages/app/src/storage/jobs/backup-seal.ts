import { createHash } from "node:crypto";
import { storageError } from "@seneschal/core/storage";
import { CodedError, isCoded, type Json } from "@seneschal/kernel";
import { sortedJson } from "@seneschal/kernel/log";
import type { Vault } from "@seneschal/kernel/ports";
import type { StorageContext } from "../context.ts";

const keyName = "storage-backups";

/** Seals what a backup holds beside chunks, which are sealed already: one data key a backup, in it only as the vault sealed it. */
export interface BackupSeal {
  /** One file of the snapshot: its name is bound. */
  seal(name: string, bytes: Uint8Array): Buffer;
  /** Throws `backup_corrupt`. */
  open(name: string, sealed: Uint8Array): Uint8Array;
}

/** The seal of a backup in the making. */
interface NewBackupSeal extends BackupSeal {
  /** The data key as the vault seals it, bound to all that the manifest says. Throws `KeyManagerUnavailable`. */
  wrap(manifest: Json): Promise<string>;
}

/** The seal of a new backup. Throws `KeyManagerUnavailable`. */
export async function newBackupSeal(context: StorageContext, vault: Vault, id: string): Promise<NewBackupSeal> {
  try {
    if ((await vault.keyInfo(keyName)) === undefined) await vault.createKey(keyName);
  } catch (error) {
    throw storageError("KeyManagerUnavailable", "the key manager does not answer", {}, error);
  }
  const key = context.random(32);
  return {
    ...sealWith(context, id, key),
    async wrap(manifest) {
      try {
        return await vault.encrypt(keyName, key, digest(manifest));
      } catch (error) {
        throw storageError("KeyManagerUnavailable", "the key manager does not answer", {}, error);
      }
    },
  };
}

/**
 * The seal of a backup that exists. Throws `backup_keys_missing` when the vault never had its key, `backup_corrupt` when the manifest
 * is not as it was written, `KeyManagerUnavailable`.
 */
export async function openBackupSeal(
  context: StorageContext,
  vault: Pick<Vault, "decrypt">,
  id: string,
  manifest: Json,
  wrapped: string,
): Promise<BackupSeal> {
  const key = await vault.decrypt(keyName, wrapped, digest(manifest)).catch((error: unknown) => {
    if (isCoded(error, "key_not_found"))
      throw new CodedError(
        "backup_keys_missing",
        `the vault has not the keys of backup ${id}: restore the vault first`,
        {},
        error,
      );
    if (isCoded(error, "decryption_failed"))
      throw new CodedError(
        "backup_corrupt",
        `the manifest of backup ${id} was changed, or is another vault's`,
        { backup: id },
        error,
      );
    throw storageError("KeyManagerUnavailable", "the key manager does not answer", {}, error);
  });
  return sealWith(context, id, key);
}

function sealWith({ crypto, random }: StorageContext, id: string, key: Uint8Array): BackupSeal {
  const bound = (name: string) => Buffer.from(`seneschal/storage/backup/v1/${id}/${name}`);
  return {
    seal(name, bytes) {
      const nonce = random(12);
      return Buffer.concat([nonce, crypto.seal(key, nonce, bytes, bound(name))]);
    },
    open(name, sealed) {
      try {
        return crypto.open(key, sealed.subarray(0, 12), sealed.subarray(12), bound(name));
      } catch (error) {
        throw new CodedError(
          "backup_corrupt",
          `${name} of backup ${id} does not authenticate`,
          { backup: id, file: name },
          error,
        );
      }
    },
  };
}

function digest(manifest: Json): Uint8Array {
  return createHash("sha256").update(sortedJson(manifest)).digest();
}
