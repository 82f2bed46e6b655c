import { createHash } from "node:crypto";
import type { BackupTarget } from "@seneschal/adapters/backups";
import {
  type BackupFacts,
  type BackupManifest,
  checkBackupFile,
  expiredBackups,
  type KeptBackup,
  snapshotOf,
  snapshotOrder,
} from "@seneschal/core/storage";
import { CodedError, isCoded, type JsonObject } from "@seneschal/kernel";
import type { DocumentStore, Stored } from "@seneschal/kernel/ports";
import { pack } from "tar-stream";
import * as z from "zod";
import type { JobContext } from "../../platform/index.ts";
import type { StorageContext } from "../context.ts";
import { newBackupSeal } from "./backup-seal.ts";
import { chunkPage } from "./chunk-pages.ts";
import { holdGarbage } from "./collect-garbage.ts";
import type { MaintenanceParts } from "./parts.ts";

/** An index of each collection of a snapshot that lists all of it. */
const wholeIndex: Readonly<Record<(typeof snapshotOrder)[number], string>> = {
  storage_tenants: "by_id",
  storage_credentials: "by_tenant",
  storage_masters: "by_epoch",
  storage_buckets: "by_tenant",
  storage_versions: "by_key",
  storage_objects: "all",
  storage_uploads: "by_key",
  storage_parts: "by_upload",
  storage_chunks: "by_id",
};

/** What every key of a storage node in its vault begins with. */
const vaultPrefix = "storage-";

/**
 * Streams a snapshot to a target: `manifest.json`, and `snapshot.tar` with pages of documents under `meta/`, sealed, and
 * the chunks as they are under `data/`. Garbage collection waits meanwhile, so every chunk that a listed object refers to
 * is still there when the chunks are listed after it. A job that is begun again writes the same backup from its start:
 * half of an old state and half of a new one would be no snapshot.
 */
export async function runBackup(parts: MaintenanceParts, job: JobContext): Promise<JsonObject> {
  const { context, cluster, io } = parts;
  const target = targetOf(parts, job.params);
  const includeData = job.params["include_data"] === true;
  const id = snapshotOf(job.job);
  const started = context.clock.now();
  await holdGarbage(context.store, job.job);
  const seal = await newBackupSeal(context, parts.vault, id);
  const tar = pack();
  try {
    let metadata = 0;
    let data = 0;
    let chunks = 0;
    let objects = 0;
    const add = (name: string, bytes: Buffer) =>
      new Promise<void>((resolve, reject) =>
        tar.entry({ name, size: bytes.length, mtime: new Date(started) }, bytes, (e) => (e ? reject(e) : resolve())),
      );
    const addMetadata = async (name: string, value: unknown) => {
      const bytes = seal.seal(name, Buffer.from(JSON.stringify(value)));
      metadata += bytes.length;
      await add(name, bytes);
    };
    const fill = async () => {
      await addMetadata("cluster.json", cluster.state);
      const written = new Map<string, number>();
      for (const coll of snapshotOrder) {
        let n = written.get(coll) ?? 0;
        for await (const items of pages(context.store, coll, wholeIndex[coll])) {
          job.signal.throwIfAborted();
          await addMetadata(
            `meta/${coll}/${n++}.json`,
            items.map(({ id, doc }) => ({ id, doc })),
          );
          if (coll === "storage_chunks") chunks += items.length;
          if (coll === "storage_objects") objects += items.length;
        }
        written.set(coll, n);
      }
      let cursor: string | undefined;
      let done = 0;
      while (includeData) {
        const page = await chunkPage(context.store, cursor);
        for (const { id, doc } of page.chunks) {
          job.signal.throwIfAborted();
          const { sealed } = await io.readSealed(id, doc);
          await add(`data/${id}`, Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length));
          data += sealed.length;
        }
        done += page.chunks.length;
        await job.progress(0.9 * (done / Math.max(chunks, done, 1)), { done, total: chunks });
        cursor = page.cursor;
        if (cursor === undefined) break;
      }
      tar.finalize();
    };
    const digest = createHash("sha256");
    let size = 0;
    const filled = fill().catch((error: Error) => {
      tar.destroy(error);
    });
    await target.write(
      id,
      "snapshot.tar",
      (async function* () {
        for await (const piece of tar as AsyncIterable<Uint8Array>) {
          digest.update(piece);
          size += piece.length;
          yield piece;
        }
      })(),
    );
    await filled;
    // Last: every key that something listed is sealed by exists by now.
    const vault = await parts.vault.exportKeys?.((name) => name.startsWith(vaultPrefix));
    const facts: BackupFacts = {
      format: "seneschal-backup/1",
      snapshot_id: id,
      created_at: new Date(started).toISOString(),
      elapsed_millis: context.clock.now() - started,
      metadata_bytes: metadata,
      data_bytes: data,
      shard_count: cluster.state.shards.length,
      chunk_count: chunks,
      object_count: objects,
      include_data: includeData,
      ...(vault === undefined ? {} : { vault }),
      files: { "snapshot.tar": { bytes: size, sha256: digest.digest("hex") } },
    };
    await target.write(id, "manifest.json", once(JSON.stringify({ ...facts, key: await seal.wrap(facts) }, null, 2)));
    await verifyBackup(target, id);
    context.emit("info", "admin", "backup finished", { snapshot: id, bytes: size });
    const days = job.params["retention_days"];
    // This backup is whole, whatever becomes of older ones, which each day's round looks at again.
    if (typeof days === "number")
      await expireBackups(context, target, { writing: [id], retentionDays: days, now: context.clock.now() }).catch(
        (error: unknown) =>
          context.emit("error", "admin", "expired backups could not be removed", {
            snapshot: id,
            error: (error as Error).message,
          }),
      );
    return { snapshot_id: id, bytes: size, shard_count: facts.shard_count, chunk_count: chunks };
  } catch (error) {
    tar.destroy();
    // Interrupted work is begun again and writes over this; what failed for good leaves nothing behind.
    if (!job.signal.aborted) {
      context.emit("error", "admin", "backup failed", { snapshot: id });
      await target.remove(id).catch(() => undefined);
    }
    throw error;
  }
}

/** The target that a job's parameters name, by default the first configured. Throws `BackupNotConfigured`. */
export function targetOf(parts: Pick<MaintenanceParts, "backups">, params: JsonObject): BackupTarget {
  const name = (params["destination"] as string | undefined) ?? Object.keys(parts.backups)[0];
  const target = name === undefined ? undefined : parts.backups[name];
  if (target === undefined)
    throw new CodedError("BackupNotConfigured", "no such backup backend is configured", { field: "destination" });
  return target;
}

async function* pages(store: DocumentStore, coll: string, index: string): AsyncGenerator<readonly Stored[]> {
  let cursor: string | undefined;
  do {
    const page = await store.list(coll, index, [], { limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    if (page.items.length > 0) yield page.items;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

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

/** A backup's manifest; `torso` where there is none, `damaged` where it is none. What could not be read for now is thrown. */
async function manifestOf(target: BackupTarget, id: string): Promise<BackupManifest | "torso" | "damaged"> {
  try {
    return await readManifest(target, id);
  } catch (error) {
    if (isCoded(error, "backup_file_absent")) return "torso";
    if (isCoded(error, "backup_corrupt")) return "damaged";
    throw error;
  }
}

/** The manifests of all finished backups, oldest first: torsos have none, and nothing is restored by a damaged one. */
export async function listBackups(target: BackupTarget): Promise<readonly BackupManifest[]> {
  const found = await Promise.all((await target.list()).map((id) => manifestOf(target, id)));
  return found.filter((m) => typeof m !== "string").sort((a, b) => a.created_at.localeCompare(b.created_at));
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

/**
 * Removes backups that were made more than so many days ago, and torsos without a manifest, but none of `writing`. One whose manifest is
 * damaged stays, and is told each time: nobody knows how old it is. What could not be read for now ends it, with nothing removed.
 */
export async function expireBackups(
  context: Pick<StorageContext, "emit">,
  target: BackupTarget,
  facts: { readonly writing: readonly string[]; readonly retentionDays: number; readonly now: number },
): Promise<void> {
  const kept: KeptBackup[] = [];
  for (const id of await target.list()) {
    const found = await manifestOf(target, id);
    if (found === "damaged") context.emit("warning", "admin", "a backup with a damaged manifest is kept", { snapshot: id });
    else kept.push({ id, ...(found !== "torso" && { made: found.created_at }) });
  }
  for (const id of expiredBackups(kept, facts)) await target.remove(id);
}
