import { join } from "node:path";
import { readText, writeAside } from "@seneschal/adapters/files";
import { notFound, refusal } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import { isCoded } from "@seneschal/kernel";
import { base64, kekName, utf8 } from "../../ground/index.ts";
import type { PartnerServices } from "../../partners/index.ts";

/** What a backup file says of itself in the clear, on its first line. Sealed pieces follow, one a line. */
export interface BackupHead {
  readonly format_version: 1 | 2;
  readonly backup_id: string;
  readonly org_id: string;
  readonly created_by: string;
  readonly created_at: string;
  /** Bytes of the plaintext. */
  readonly size: number;
  /** Base64 SHA-256 of the plaintext. */
  readonly checksum: string;
  readonly pieces: number;
  /** Whether the first line behind this one is the organisation's vault key, as an embedded vault exports it. From format 2 on. */
  readonly keys?: boolean;
  /** Base64 SHA-256 of the rest of the head and every line behind it: damage is told from another vault. From format 2 on. */
  readonly file_checksum?: string;
}

/** A backup file, read and not yet opened. */
export interface BackupFile {
  readonly head: BackupHead;
  readonly keys: string | undefined;
  readonly pieces: readonly string[];
}

/** What an opened backup holds. */
interface OpenedBackup {
  readonly plain: Uint8Array;
  /**
   * Takes the vault key that the backup carries into this instance's vault. Where documents may be sealed by another key of the
   * same name, that is `VAULT_MISMATCH`.
   */
  adoptKeys(clean: boolean): Promise<void>;
}

/** What one call of the vault seals. */
const PIECE = 1 << 20;

const aad = (head: BackupHead, piece: number): Uint8Array =>
  utf8(`seneschal/backup/v1\0${head.backup_id}\0${head.org_id}\0${piece}/${head.pieces}`);

/** The directory of backup files. Throws `SERVICE_UNAVAILABLE` where none is configured. */
function location({ config }: PartnerServices): string {
  const { location: path } = config.backup;
  if (path === undefined) throw refusal("SERVICE_UNAVAILABLE", "no place for backups is configured");
  return path;
}

/**
 * Seals a plaintext under the organisation's key-encryption key and writes it where the database is not, with that key beside it where
 * the vault lets its keys travel: the file and what unseals the vault are enough for an instance that has neither. Repeatable.
 */
export async function writeBackupFile(
  services: PartnerServices,
  facts: Omit<BackupHead, "format_version" | "pieces" | "keys" | "file_checksum">,
  plain: Uint8Array,
): Promise<void> {
  const { vault } = services;
  const kek = await services.organizationKeys.ensureKek(facts.org_id);
  const keys = await vault.exportKeys?.((name) => name === kek);
  const head: BackupHead = { format_version: 2, ...facts, pieces: Math.ceil(plain.length / PIECE), keys: keys !== undefined };
  const lines = keys === undefined ? [] : [keys];
  for (let piece = 0; piece < head.pieces; piece++) {
    lines.push(await vault.encrypt(kek, plain.subarray(piece * PIECE, (piece + 1) * PIECE), aad(head, piece)));
  }
  const first = { ...head, file_checksum: fileChecksum(services, head, lines) };
  const name = `${head.backup_id}.backup`;
  const file = await writeAside(
    location(services),
    `${name}.part`,
    [JSON.stringify(first), ...lines].map((line) => `${line}\n`),
  );
  await file.moveTo(name);
}

/** The first line of a backup file and the sealed lines behind it. Throws `NOT_FOUND`, `CHECKSUM_MISMATCH` for what is no backup. */
export async function readBackupFile(services: PartnerServices, id: string): Promise<BackupFile> {
  // Where nothing is kept there is none.
  if (services.config.backup.location === undefined) throw notFound("backup");
  let text: string;
  try {
    text = await readText(join(location(services), `${id}.backup`));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw notFound("backup");
    throw error;
  }
  const [first = "", ...rest] = text.trimEnd().split("\n");
  const head = parseHead(first);
  if (head === undefined || head.backup_id !== id) throw damaged();
  if (head.format_version !== 1 && head.file_checksum !== fileChecksum(services, head, rest)) throw damaged();
  const [keys, pieces] = head.keys === true ? [rest[0], rest.slice(1)] : [undefined, rest];
  if (pieces.length !== head.pieces) throw damaged();
  return { head, keys, pieces };
}

/**
 * Opens the seals and checks the checksum. Throws `CHECKSUM_MISMATCH` for anything that is not what was written, `VAULT_MISMATCH` for
 * what another vault sealed. The vault is as it was until `adoptKeys`.
 */
export async function openBackup(services: PartnerServices, { head, keys, pieces }: BackupFile): Promise<OpenedBackup> {
  const { vault } = services;
  const carried =
    keys === undefined
      ? undefined
      : await vault.openExport?.(keys).catch((error: unknown) => {
          throw isCoded(error, "decryption_failed") ? otherVault() : error;
        });
  const parts: Uint8Array[] = [];
  try {
    for (const [piece, sealed] of pieces.entries()) {
      parts.push(await (carried ?? vault).decrypt(kekName(head.org_id), sealed, aad(head, piece)));
    }
  } catch (error) {
    if (!isCoded(error, "decryption_failed", "key_not_found")) throw error;
    // The file is what was written and no keys in it opened, or there is no such key at all: it is of another vault.
    const foreign = carried === undefined && (head.format_version !== 1 || isCoded(error, "key_not_found"));
    throw foreign ? otherVault() : damaged();
  }
  const plain = new Uint8Array(Buffer.concat(parts));
  const checksum = Buffer.from(services.crypto.hash("sha256", plain)).toString("base64");
  if (checksum !== head.checksum || plain.length !== head.size) throw damaged();
  return {
    plain,
    async adoptKeys(clean) {
      await carried?.adopt({ lose: clean }).catch((error: unknown) => {
        if (!isCoded(error, "vault_invalid")) throw error;
        const message = "the vault of this instance has another key of the organisation: restore into an instance without any";
        throw refusal("VAULT_MISMATCH", message);
      });
    },
  };
}

function fileChecksum({ crypto }: PartnerServices, head: BackupHead, lines: readonly string[]): string {
  const { file_checksum: _own, ...rest } = head;
  return base64(crypto.hash("sha256", utf8([canonicalJson(rest), ...lines].join("\n"))));
}

function parseHead(line: string): BackupHead | undefined {
  try {
    const head = JSON.parse(line) as BackupHead;
    const known = head.format_version === 1 || head.format_version === 2;
    return known && typeof head.org_id === "string" && Number.isInteger(head.pieces) ? head : undefined;
  } catch {
    return undefined;
  }
}

function damaged() {
  return refusal("CHECKSUM_MISMATCH", "the backup is not what was written");
}

function otherVault() {
  return refusal(
    "VAULT_MISMATCH",
    "the backup was sealed by another vault: this instance needs the vault or the unseal key it was made with",
  );
}
