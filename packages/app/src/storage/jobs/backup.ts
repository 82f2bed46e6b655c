import { createHash } from "node:crypto";
import type { BackupTarget } from "@seneschal/adapters/backups";
import { type BackupFacts, snapshotOf, snapshotOrder } from "@seneschal/core/storage";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { DocumentStore, Stored } from "@seneschal/kernel/ports";
import { pack } from "tar-stream";
import type { JobContext } from "../../platform/index.ts";
import { expireBackups, verifyBackup } from "./backup-manifest.ts";
import { newBackupSeal } from "./backup-seal.ts";
import { chunkPage } from "./chunk-pages.ts";
import type { MaintenanceParts } from "./parts.ts";
import { holdGarbage } from "./snapshot-fence.ts";

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
    if (typeof days === "number") await expireBackups(target, { writing: [id], retentionDays: days, now: context.clock.now() });
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
