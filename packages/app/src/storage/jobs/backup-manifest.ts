import { createHash } from "node:crypto";
import type { BackupTarget } from "@seneschal/adapters/backups";
import { type BackupManifest, checkBackupFile, expiredBackups, type KeptBackup } from "@seneschal/core/storage";
import { CodedError } from "@seneschal/kernel";
import * as z from "zod";

const manifest: z.ZodType<BackupManifest> = z.strictObject({
  format: z.literal("seneschal-backup/1"),
  snapshot_id: z.string(),
  created_at: z.iso.datetime({ precision: 3 }),
  elapsed_millis: z.number(),
  metadata_bytes: z.int(),
  data_bytes: z.int(),
  shard_count: z.int(),
  chunk_count: z.int(),
  object_count: z.int(),
  include_data: z.boolean(),
  vault: z.string().exactOptional(),
  files: z.record(z.string(), z.strictObject({ bytes: z.int(), sha256: z.string() })),
  key: z.string(),
});

/** Reads a manifest. Throws `backup_corrupt` when it is not one. */
export async function readManifest(target: BackupTarget, id: string): Promise<BackupManifest> {
  const pieces: Uint8Array[] = [];
  for await (const piece of target.read(id, "manifest.json")) pieces.push(piece);
  try {
    return manifest.parse(JSON.parse(Buffer.concat(pieces).toString("utf8")));
  } catch (error) {
    throw new CodedError(
      "backup_corrupt",
      `the manifest of backup ${id} is damaged`,
      { backup: id, file: "manifest.json" },
      error,
    );
  }
}

/** The manifests of all finished backups, oldest first; torsos have none. */
export async function listBackups(target: BackupTarget): Promise<readonly BackupManifest[]> {
  const found = await Promise.all((await target.list()).map((id) => readManifest(target, id).catch(() => undefined)));
  return found.filter((m) => m !== undefined).sort((a, b) => a.created_at.localeCompare(b.created_at));
}

/** Reads every file of a backup and compares each byte with the manifest. Throws `backup_corrupt`. */
export async function verifyBackup(target: BackupTarget, id: string): Promise<BackupManifest> {
  const found = await readManifest(target, id);
  for (const file of Object.keys(found.files)) {
    const digest = createHash("sha256");
    let bytes = 0;
    for await (const piece of target.read(id, file)) {
      digest.update(piece);
      bytes += piece.length;
    }
    checkBackupFile(id, found.files, file, { bytes, sha256: digest.digest("hex") });
  }
  return found;
}

/** Removes backups that were made more than so many days ago, and torsos without a manifest, but none of `writing`. */
export async function expireBackups(
  target: BackupTarget,
  facts: { readonly writing: readonly string[]; readonly retentionDays: number; readonly now: number },
): Promise<void> {
  const kept: KeptBackup[] = [];
  for (const id of await target.list()) {
    const found = await readManifest(target, id).catch(() => undefined);
    kept.push({ id, ...(found !== undefined && { made: found.created_at }) });
  }
  for (const id of expiredBackups(kept, facts)) await target.remove(id);
}
