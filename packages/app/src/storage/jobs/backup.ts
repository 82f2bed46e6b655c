import { createHash, randomUUID } from "node:crypto";
import { CodedError, type JsonObject } from "@seneschal/core";
import type { DocumentStore, Stored } from "@seneschal/core/ports";
import { pack } from "tar-stream";
import type { JobContext } from "../../platform/index.ts";
import { type BackupTarget, readText } from "./backup-target.ts";
import { chunkPage } from "./chunk-pages.ts";
import type { MaintenanceParts } from "./parts.ts";

/** Collections of a backup with an index that lists all of each. Objects before chunks: see {@link runBackup}. */
export const backupCollections = {
  storage_tenants: "by_id",
  storage_credentials: "by_tenant",
  storage_masters: "by_epoch",
  storage_buckets: "by_tenant",
  storage_objects: "by_key",
  storage_uploads: "by_key",
  storage_parts: "by_upload",
  storage_chunks: "by_id",
} as const;

export interface BackupManifest {
  readonly format: "seneschal-backup/1";
  readonly snapshot_id: string;
  readonly created_at: string;
  readonly elapsed_millis: number;
  readonly metadata_bytes: number;
  readonly data_bytes: number;
  readonly shard_count: number;
  readonly chunk_count: number;
  readonly object_count: number;
  readonly include_data: boolean;
  readonly files: Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>;
}

/**
 * Streams a snapshot to a target. Garbage collection waits meanwhile, so every chunk that a listed object refers to is
 * still there when the chunks are listed after it. Keys are in it only as the vault sealed them.
 */
export async function runBackup(parts: MaintenanceParts, job: JobContext): Promise<JsonObject> {
  const { context, cluster, io } = parts;
  const target = targetOf(parts, job.params);
  const includeData = job.params["include_data"] === true;
  const started = context.clock.now();
  // A second attempt after a crash is a new snapshot; the torso of the first has no manifest and is removed by retention.
  const id = `${new Date(started).toISOString().replace(/\D/g, "").slice(0, 14)}-${randomUUID().slice(0, 8)}`;
  const release = parts.holdGc();
  try {
    const tar = pack();
    let metadata = 0;
    let data = 0;
    let chunks = 0;
    let objects = 0;
    const add = (name: string, bytes: Uint8Array) =>
      new Promise<void>((resolve, reject) =>
        tar.entry({ name, size: bytes.length, mtime: new Date(started) }, Buffer.from(bytes), (e) => (e ? reject(e) : resolve())),
      );
    const fill = async () => {
      const state = Buffer.from(JSON.stringify(cluster.state));
      await add("cluster.json", state);
      metadata += state.length;
      for (const [coll, index] of Object.entries(backupCollections)) {
        let n = 0;
        for await (const items of pages(context.store, coll, index)) {
          job.signal.throwIfAborted();
          const bytes = Buffer.from(JSON.stringify(items.map(({ id, doc }) => ({ id, doc }))));
          await add(`meta/${coll}/${n++}.json`, bytes);
          metadata += bytes.length;
          if (coll === "storage_chunks") chunks += items.length;
          if (coll === "storage_objects") objects += items.length;
        }
      }
      let cursor: string | undefined;
      let done = 0;
      while (includeData) {
        const page = await chunkPage(context.store, cursor);
        for (const { id, doc } of page.chunks) {
          job.signal.throwIfAborted();
          const { sealed } = await io.readSealed(id, doc);
          await add(`data/${id}`, sealed);
          data += sealed.length;
        }
        done += page.chunks.length;
        await job.progress(done / Math.max(chunks, done, 1), { done, total: chunks });
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
    const manifest: BackupManifest = {
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
      files: { "snapshot.tar": { bytes: size, sha256: digest.digest("hex") } },
    };
    await target.write(id, "manifest.json", once(Buffer.from(JSON.stringify(manifest, null, 2))));
    await verifyBackup(target, id);
    context.emit("info", "admin", "backup finished", { snapshot: id, bytes: size });
    const days = job.params["retention_days"];
    if (typeof days === "number") await expireBackups(target, context.clock.now() - days * 86_400_000);
    return { snapshot_id: id, bytes: size, shard_count: manifest.shard_count, chunk_count: chunks };
  } catch (error) {
    context.emit("error", "admin", "backup failed", { snapshot: id });
    await target.remove(id).catch(() => undefined);
    throw error;
  } finally {
    release();
  }
}

/** Reads a backup back and compares every byte with its manifest. Throws `backup_corrupt`. */
export async function verifyBackup(target: BackupTarget, id: string): Promise<BackupManifest> {
  const manifest = JSON.parse(await readText(target, id, "manifest.json")) as BackupManifest;
  for (const [file, { bytes, sha256 }] of Object.entries(manifest.files)) {
    const digest = createHash("sha256");
    let size = 0;
    for await (const piece of target.read(id, file)) {
      digest.update(piece);
      size += piece.length;
    }
    if (size !== bytes || digest.digest("hex") !== sha256)
      throw new CodedError("backup_corrupt", `${file} of backup ${id} is not what was written`, { backup: id, file });
  }
  return manifest;
}

/** Removes backups made before `before`, and torsos without a manifest. */
export async function expireBackups(target: BackupTarget, before: number): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const id of await target.list()) {
    const manifest = await readText(target, id, "manifest.json").then(
      (t) => JSON.parse(t) as BackupManifest,
      () => undefined,
    );
    if (manifest !== undefined && Date.parse(manifest.created_at) >= before) continue;
    await target.remove(id);
    removed.push(id);
  }
  return removed;
}

/** The target that a job's parameters name. Throws `BackupNotConfigured`. */
export function targetOf(parts: Pick<MaintenanceParts, "backups">, params: JsonObject): BackupTarget {
  const name = (params["destination"] as string | undefined) ?? Object.keys(parts.backups)[0];
  const target = name === undefined ? undefined : parts.backups[name];
  if (target === undefined)
    throw new CodedError("BackupNotConfigured", "no backup backend is configured", { field: "destination" });
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

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
