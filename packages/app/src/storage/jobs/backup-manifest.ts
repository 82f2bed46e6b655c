import { createHash } from "node:crypto";
import type { BackupTarget } from "@seneschal/adapters/backups";
import { CodedError } from "@seneschal/kernel";
import * as z from "zod";

const facts = z.strictObject({
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
  /** The vault's keys as it exports them, where it can: sealed under its unseal key. */
  vault: z.string().exactOptional(),
  files: z.record(z.string(), z.strictObject({ bytes: z.int(), sha256: z.string() })),
});

/** What a backup says about itself. */
export type BackupFacts = z.output<typeof facts>;

/** The facts, and the backup's data key sealed by the vault over them. */
export interface BackupManifest extends BackupFacts {
  readonly key: string;
}

const manifest = facts.extend({ key: z.string() });

/** The facts alone: what the seal is bound to. */
export function factsOf({ key: _, ...rest }: BackupManifest): BackupFacts {
  return rest;
}

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
  for (const [file, { bytes, sha256 }] of Object.entries(found.files)) {
    const digest = createHash("sha256");
    let size = 0;
    for await (const piece of target.read(id, file)) {
      digest.update(piece);
      size += piece.length;
    }
    if (size !== bytes || digest.digest("hex") !== sha256)
      throw new CodedError("backup_corrupt", `${file} of backup ${id} is not what was written`, { backup: id, file });
  }
  return found;
}

/** Removes backups made before `before`, and torsos without a manifest, but none of `writing`. Gives their ids. */
export async function expireBackups(
  target: BackupTarget,
  before: number,
  writing: readonly string[],
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const id of await target.list()) {
    if (writing.includes(id)) continue;
    const found = await readManifest(target, id).catch(() => undefined);
    if (found !== undefined && Date.parse(found.created_at) >= before) continue;
    await target.remove(id);
    removed.push(id);
  }
  return removed;
}
