import { Readable } from "node:stream";
import type { BackupTarget } from "@seneschal/adapters/backups";
import {
  acknowledgeOf,
  type BackupManifest,
  type Bucket,
  backupFacts,
  claimRestore,
  nothingCounted,
  type RestoreClaim,
  type RestoredPut,
  type SnapshotDocument,
  takeSnapshot,
} from "@seneschal/core/storage";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import { extract } from "tar-stream";
import { everyDocument, type JobContext } from "../../platform/index.ts";
import { encodeStripe, stripeLength } from "../bytes/stripes.ts";
import { commit, nodeActor } from "../context.ts";
import { nameOf } from "../data/fragment-io.ts";
import { placeWebhooks } from "../notify/notices.ts";
import { countBucket } from "../objects/bucket-usage.ts";
import { awaitReplication } from "../objects/replication-puts.ts";
import type { ChunkDoc } from "../schema.ts";
import { targetOf, verifyBackup } from "./backup.ts";
import { type BackupSeal, openBackupSeal } from "./backup-seal.ts";
import type { MaintenanceParts } from "./parts.ts";

const marker = "restore";

/**
 * Restores a backup into an empty cluster: verified first, then metadata, then (when the backup holds data) every chunk
 * is coded anew onto the devices of `pool_id`. References are counted from what was restored. The cluster takes no writes
 * meanwhile. Repeatable: a restore that was interrupted or cancelled goes on with the same snapshot, and no other. Keys that
 * the backup carries are taken into the vault.
 *
 * @throws CodedError `backup_corrupt`, `backup_keys_missing`, `restore_not_empty`, `KeyManagerUnavailable`.
 */
export async function runRestore(parts: MaintenanceParts, job: JobContext): Promise<JsonObject> {
  const { context } = parts;
  const target = targetOf(parts, job.params);
  const id = job.params["snapshot_id"] as string;
  const manifest = await verifyBackup(target, id);
  const { seal, adopt } = await openBackupKeys(parts, manifest);
  const wasReadOnly = await claim(parts, id);
  await adopt();
  try {
    return await restore(parts, job, { target, manifest, seal, wasReadOnly });
  } catch (error) {
    if (!job.signal.aborted)
      context.emit("error", "admin", "restore failed: the cluster stays read-only until it is repeated", { snapshot: id });
    throw error;
  }
}

/**
 * What opens a backup: the keys that it carries, else the vault in use. Nothing is changed until `adopt`.
 *
 * @throws CodedError `backup_keys_missing` when neither has them, `backup_corrupt`, `KeyManagerUnavailable`.
 */
export async function openBackupKeys(
  { context, vault }: Pick<MaintenanceParts, "context" | "vault">,
  manifest: BackupManifest,
): Promise<{ readonly seal: BackupSeal; adopt(): Promise<void> }> {
  const id = manifest.snapshot_id;
  const carried =
    manifest.vault === undefined
      ? undefined
      : await vault.openExport?.(manifest.vault).catch((error: unknown) => {
          throw new CodedError(
            "backup_keys_missing",
            `the keys in backup ${id} do not open: this vault has another unseal key`,
            {},
            error,
          );
        });
  const seal = await openBackupSeal(context, carried ?? vault, id, backupFacts(manifest), manifest.key);
  return { seal, adopt: async () => carried?.adopt() };
}

interface Restore {
  readonly target: BackupTarget;
  readonly manifest: BackupManifest;
  readonly seal: BackupSeal;
  readonly wasReadOnly: boolean;
}

async function restore(
  parts: MaintenanceParts,
  job: JobContext,
  { target, manifest, seal, wasReadOnly }: Restore,
): Promise<JsonObject> {
  const { context, cluster } = parts;
  const id = manifest.snapshot_id;
  const pool = job.params["pool_id"] as string;
  if (!cluster.state.maintenance) await cluster.propose({ kind: "maintenance.set", enabled: true }, nodeActor);

  const intake = takeSnapshot<ChunkDoc>();
  let documents = 0;
  let restored = 0;
  for await (const { name, bytes } of entries(target, id)) {
    job.signal.throwIfAborted();
    const [, coll] = /^meta\/([a-z_]+)\/\d+\.json$/.exec(name) ?? [];
    if (coll !== undefined) {
      const page = intake.take(
        coll,
        JSON.parse(Buffer.from(seal.open(name, bytes)).toString("utf8")) as readonly SnapshotDocument[],
      );
      if (page.moved.puts.length > 0) await commit(context.store, page.moved);
      await keep(parts, page.puts);
      documents += page.documents;
    } else if (name.startsWith("data/")) {
      const chunkId = name.slice("data/".length);
      const chunk = intake.chunk(chunkId);
      if (chunk === undefined) continue;
      await restoreChunk(parts, pool, chunkId, chunk, bytes);
      restored += 1;
      if (restored % 64 === 0) await job.progress(restored / intake.listed(), { done: restored, total: intake.listed() });
    }
  }
  // A backup of metadata alone goes back onto the devices that still hold the fragments.
  if (!manifest.include_data) for (const [id, doc] of intake.chunks()) await keep(parts, [chunkPut(id, doc)]);
  await parts.objects.shards.recount(cluster.state);
  await countLimited(parts);
  await placeWebhooks(context.store);
  await awaitReplication(context);
  await parts.keys.probe();
  if (!wasReadOnly) await cluster.propose({ kind: "maintenance.set", enabled: false }, nodeActor);
  await commit(context.store, { dels: [{ coll: "storage_counters", id: marker }] });
  context.emit("warning", "admin", "backup restored", { snapshot: id, documents, chunks: restored });
  return { snapshot_id: id, documents, chunks: restored };
}

/** What buckets with a quota hold is counted anew: a backup is of no one moment. */
async function countLimited({ context: { store } }: MaintenanceParts): Promise<void> {
  for await (const { id, doc } of everyDocument(store, "storage_buckets", "by_tenant")) {
    if ((doc as Bucket).quota === undefined) continue;
    await commit(store, { puts: [{ coll: "storage_usage", id, doc: nothingCounted }] });
    await countBucket(store, id);
  }
}

const dataCollections = [
  ["storage_buckets", "by_tenant"],
  ["storage_chunks", "by_id"],
  ["storage_tenants", "by_id"],
] as const;

/** Marks the cluster as being restored from this snapshot; true when it took no writes before. */
async function claim({ context: { store }, cluster }: MaintenanceParts, snapshot: string): Promise<boolean> {
  const before = (await store.get("storage_counters", marker))?.doc as RestoreClaim | undefined;
  const holds: string[] = [];
  if (before === undefined)
    for (const [coll, index] of dataCollections) if ((await store.count(coll, index, [])) > 0) holds.push(coll);
  const doc = claimRestore(snapshot, { before, holds, readOnly: cluster.state.maintenance });
  if (before === undefined) {
    const result = await commit(store, { puts: [{ coll: "storage_counters", id: marker, doc, ifVersion: 0 }] });
    if (!result.ok) throw new CodedError("restore_not_empty", "another restore has begun");
  }
  return doc.read_only;
}

/** Puts documents; those whose condition does not hold are left as they are. */
async function keep({ context: { store } }: MaintenanceParts, puts: readonly RestoredPut[]): Promise<void> {
  if ((await commit(store, { puts })).ok) return;
  for (const put of puts) await commit(store, { puts: [put] });
}

const chunkPut = (id: string, doc: ChunkDoc): RestoredPut => ({ coll: "storage_chunks", id, doc, ifVersion: 0 });

async function restoreChunk(
  parts: MaintenanceParts,
  pool: string,
  id: string,
  chunk: ChunkDoc,
  sealed: Uint8Array,
): Promise<void> {
  if ((await parts.context.store.get("storage_chunks", id)) !== undefined) return;
  const stripe = { data: chunk.data, parity: chunk.parity };
  const memory = new Uint8Array(stripeLength(sealed.length, stripe));
  memory.set(sealed);
  const pieces = encodeStripe(memory, sealed.length, stripe);
  const fragments = await parts.io.write(id, pool, acknowledgeOf(nameOf(stripe)), pieces);
  await keep(parts, [chunkPut(id, { ...chunk, pool, fragments })]);
}

/** The files of a snapshot, in order, each at most a chunk or a page long. */
async function* entries(target: BackupTarget, id: string): AsyncGenerator<{ readonly name: string; readonly bytes: Uint8Array }> {
  const tar = extract();
  const source = Readable.from(target.read(id, "snapshot.tar"));
  source.on("error", (error) => tar.destroy(error)).pipe(tar);
  for await (const entry of tar) {
    const pieces: Uint8Array[] = [];
    for await (const piece of entry) pieces.push(piece as Uint8Array);
    yield { name: entry.header.name, bytes: Buffer.concat(pieces) };
  }
}
