import { CodedError, checkArgument, type JsonObject } from "@seneschal/kernel";

/**
 * What a snapshot holds of the store, collection by collection, in the order in which it is read. Objects come before chunks: garbage collection waits
 * meanwhile, so that every chunk that a listed object refers to is still there when the chunks are listed. Versions of the past come on both sides of the
 * current ones: one that becomes current meanwhile, or ceases to be, is in one of the three; one that does both may be in none.
 */
export const snapshotOrder = [
  "storage_tenants",
  "storage_credentials",
  "storage_masters",
  "storage_buckets",
  "storage_versions",
  "storage_objects",
  "storage_versions",
  "storage_uploads",
  "storage_parts",
  "storage_chunks",
] as const;

/** A file of a backup as it was written: how many bytes, and their SHA-256 in hex. */
export interface BackupFile extends JsonObject {
  readonly bytes: number;
  readonly sha256: string;
}

/** What a backup says about itself. */
export interface BackupFacts extends JsonObject {
  readonly format: "seneschal-backup/1";
  readonly snapshot_id: string;
  /** RFC 3339, UTC, with milliseconds. */
  readonly created_at: string;
  readonly elapsed_millis: number;
  readonly metadata_bytes: number;
  readonly data_bytes: number;
  readonly shard_count: number;
  readonly chunk_count: number;
  readonly object_count: number;
  /** Chunks are in it; else it goes back onto the devices that hold them. */
  readonly include_data: boolean;
  /** The vault's keys as it exports them, where it can: sealed under its unseal key. */
  readonly vault?: string;
  /** By name. */
  readonly files: Readonly<Record<string, BackupFile>>;
}

/** The facts, and the backup's data key sealed by the vault over them. */
export interface BackupManifest extends BackupFacts {
  readonly key: string;
}

/**
 * The facts of a manifest alone: what its data key is sealed over, so that none of them can be changed.
 *
 * @example
 * ```ts
 * import { type BackupFacts, backupFacts } from "@seneschal/core/storage";
 * const counted = { elapsed_millis: 1, metadata_bytes: 1, data_bytes: 0, shard_count: 1, chunk_count: 0, object_count: 0 };
 * const facts: BackupFacts = { format: "seneschal-backup/1", snapshot_id: "s", created_at: "2026-01-01T00:00:00.000Z", ...counted, include_data: false, files: {} };
 * console.log("key" in backupFacts({ ...facts, key: "sealed" })); // false
 * ```
 */
export function backupFacts(manifest: BackupManifest): BackupFacts {
  checkArgument("manifest", manifest, "object");
  const { key: _, ...facts } = manifest;
  return facts as BackupFacts;
}

/**
 * The snapshot that a job writes, `<UTC second>-<job>`: every attempt of it writes the same one. `created_at`: milliseconds since the epoch.
 *
 * @example
 * ```ts
 * import { snapshotOf } from "@seneschal/core/storage";
 * console.log(snapshotOf({ id: "0f1e2d3c4b5a", created_at: Date.UTC(2026, 0, 2, 3, 4, 5) })); // 20260102030405-0f1e2d3c
 * ```
 */
export function snapshotOf(job: { readonly id: string; readonly created_at: number }): string {
  checkArgument("job", job, "object");
  return `${new Date(job.created_at).toISOString().replace(/\D/g, "").slice(0, 14)}-${job.id.slice(0, 8)}`;
}

/**
 * Compares a file of a backup as it was read with what the manifest says of it. Throws `backup_corrupt`, also for one of which it says nothing.
 *
 * @example
 * ```ts
 * import { checkBackupFile } from "@seneschal/core/storage";
 * const files = { "snapshot.tar": { bytes: 2, sha256: "ab" } };
 * checkBackupFile("s", files, "snapshot.tar", { bytes: 2, sha256: "ab" });
 * try {
 *   checkBackupFile("s", files, "snapshot.tar", { bytes: 1, sha256: "cd" });
 * } catch (error) {
 *   console.log((error as Error).message); // snapshot.tar of backup s is not what was written
 * }
 * ```
 */
export function checkBackupFile(snapshot: string, files: BackupFacts["files"], name: string, read: BackupFile): void {
  checkArgument("snapshot", snapshot, "string");
  checkArgument("files", files, "object");
  checkArgument("name", name, "string");
  checkArgument("read", read, "object");
  const written = Object.hasOwn(files, name) ? files[name] : undefined;
  if (written !== undefined && written.bytes === read.bytes && written.sha256 === read.sha256) return;
  const details = { backup: snapshot, file: name };
  throw new CodedError("backup_corrupt", `${name} of backup ${snapshot} is not what was written`, details);
}

/** What a target keeps under one id. `made`: what the manifest says, RFC 3339; absent: a torso, which has none. */
export interface KeptBackup {
  readonly id: string;
  readonly made?: string;
}

/**
 * The backups of a target that go, by their ids: those made more than so many days ago, and torsos, but none that is being written.
 *
 * @example
 * ```ts
 * import { expiredBackups } from "@seneschal/core/storage";
 * const kept = [{ id: "old", made: "2026-01-01T00:00:00Z" }, { id: "torso" }, { id: "now" }];
 * console.log(expiredBackups(kept, { writing: ["now"], retentionDays: 7, now: Date.UTC(2026, 0, 31) })); // [ 'old', 'torso' ]
 * ```
 */
export function expiredBackups(
  kept: readonly KeptBackup[],
  facts: { readonly writing: readonly string[]; readonly retentionDays: number; readonly now: number },
): readonly string[] {
  checkArgument("kept", kept, "array");
  checkArgument("facts", facts, "object");
  const { writing, retentionDays, now } = facts;
  const before = now - retentionDays * 86_400_000;
  const goes = ({ id, made }: KeptBackup): boolean => !writing.includes(id) && (made === undefined || Date.parse(made) < before);
  return kept.filter(goes).map(({ id }) => id);
}
