import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { isCoded } from "@seneschal/core";
import { notFound, refusal } from "@seneschal/core/keys";
import { utf8 } from "../bytes.ts";
import { kekName } from "../organizations/kek-name.ts";
import type { GatewayServices } from "../services.ts";

/** What a backup file says of itself in the clear, on its first line. Sealed pieces follow, one a line. */
export interface BackupHead {
  readonly format_version: 1;
  readonly backup_id: string;
  readonly org_id: string;
  readonly created_by: string;
  readonly created_at: string;
  /** Bytes of the plaintext. */
  readonly size: number;
  /** Base64 SHA-256 of the plaintext. */
  readonly checksum: string;
  readonly pieces: number;
}

/** What one call of the vault seals. */
const PIECE = 1 << 20;

const aad = (head: BackupHead, piece: number): Uint8Array =>
  utf8(`seneschal/backup/v1\0${head.backup_id}\0${head.org_id}\0${piece}/${head.pieces}`);

/** The directory of backup files. Throws `SERVICE_UNAVAILABLE` where none is configured. */
function location({ config }: GatewayServices): string {
  const { location: path } = config.backup;
  if (path === undefined) throw refusal("SERVICE_UNAVAILABLE", "no place for backups is configured");
  return path;
}

const fileOf = (services: GatewayServices, id: string): string => join(location(services), `${id}.backup`);

/** Seals a plaintext under the organisation's key-encryption key and writes it where the database is not. Repeatable. */
export async function writeBackupFile(
  services: GatewayServices,
  facts: Omit<BackupHead, "format_version" | "pieces">,
  plain: Uint8Array,
): Promise<void> {
  const head: BackupHead = { format_version: 1, ...facts, pieces: Math.ceil(plain.length / PIECE) };
  const path = fileOf(services, head.backup_id);
  const kek = await services.organizationKeys.ensureKek(head.org_id);
  await mkdir(location(services), { recursive: true, mode: 0o700 });
  const file = await open(`${path}.part`, "w", 0o600);
  try {
    await file.write(`${JSON.stringify(head)}\n`);
    for (let piece = 0; piece < head.pieces; piece++) {
      const sealed = await services.vault.encrypt(kek, plain.subarray(piece * PIECE, (piece + 1) * PIECE), aad(head, piece));
      await file.write(`${sealed}\n`);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
}

/** The first line of a backup file and the sealed pieces behind it. Throws `NOT_FOUND`, `CHECKSUM_MISMATCH` for what is no backup. */
export async function readBackupFile(
  services: GatewayServices,
  id: string,
): Promise<{ readonly head: BackupHead; readonly pieces: readonly string[] }> {
  // Where nothing is kept there is none.
  if (services.config.backup.location === undefined) throw notFound("backup");
  let text: string;
  try {
    text = await readFile(fileOf(services, id), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw notFound("backup");
    throw error;
  }
  const [first = "", ...rest] = text.trimEnd().split("\n");
  const head = parseHead(first);
  if (head === undefined || head.backup_id !== id || rest.length !== head.pieces) throw damaged();
  return { head, pieces: rest };
}

/** Opens the seals and checks the checksum. Throws `CHECKSUM_MISMATCH` for anything that is not what was written. */
export async function openBackup(
  services: GatewayServices,
  { head, pieces }: { readonly head: BackupHead; readonly pieces: readonly string[] },
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  try {
    for (const [piece, sealed] of pieces.entries()) {
      parts.push(await services.vault.decrypt(kekName(head.org_id), sealed, aad(head, piece)));
    }
  } catch (error) {
    if (isCoded(error, "decryption_failed") || isCoded(error, "key_not_found")) throw damaged();
    throw error;
  }
  const plain = new Uint8Array(Buffer.concat(parts));
  const checksum = Buffer.from(services.crypto.hash("sha256", plain)).toString("base64");
  if (checksum !== head.checksum || plain.length !== head.size) throw damaged();
  return plain;
}

function parseHead(line: string): BackupHead | undefined {
  try {
    const head = JSON.parse(line) as BackupHead;
    return head.format_version === 1 && typeof head.org_id === "string" && Number.isInteger(head.pieces) ? head : undefined;
  } catch {
    return undefined;
  }
}

function damaged() {
  return refusal("CHECKSUM_MISMATCH", "the backup is not what was written");
}
