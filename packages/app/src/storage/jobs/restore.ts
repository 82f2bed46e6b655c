import { Readable } from "node:stream";
import { CodedError, type JsonObject } from "@seneschal/core";
import type { Put } from "@seneschal/core/ports";
import { extract } from "tar-stream";
import { commit } from "../context.ts";
import { toFragments } from "../data/stripes.ts";
import type { ChunkDoc, ChunkRef, ObjectDoc, PartDoc } from "../documents.ts";
import { verifyBackup } from "./backup.ts";
import type { BackupTarget } from "./backup-target.ts";
import type { MaintenanceParts } from "./parts.ts";

/**
 * Restores a backup into an empty cluster: verified first, then metadata, then (when the backup holds data) every chunk
 * is coded anew onto the devices of `pool`. References are counted from what was restored. The vault that sealed the
 * keys must be the one in use.
 *
 * @throws CodedError `backup_corrupt`, `restore_not_empty`.
 */
export async function restoreBackup(
  parts: MaintenanceParts,
  target: BackupTarget,
  id: string,
  pool: string,
): Promise<JsonObject> {
  const { context, cluster, io } = parts;
  const { store } = context;
  const manifest = await verifyBackup(target, id);
  for (const [coll, index] of [
    ["storage_buckets", "by_tenant"],
    ["storage_chunks", "by_id"],
    ["storage_tenants", "by_id"],
  ] as const)
    if ((await store.count(coll, index, [])) > 0) throw new CodedError("restore_not_empty", `the cluster holds data: ${coll}`);

  const stripe = cluster.state.pools[pool];
  if (stripe === undefined) throw new CodedError("NotFound", `no such pool: ${pool}`, { field: "pool_id" });
  const refs = new Map<string, number>();
  const count = (list: readonly ChunkRef[]) => {
    for (const ref of list) refs.set(ref.id, (refs.get(ref.id) ?? 0) + 1);
  };
  const chunks = new Map<string, ChunkDoc>();
  let documents = 0;
  let restored = 0;
  const keep = async (id: string, doc: ChunkDoc) => {
    const result = await commit(store, { puts: [{ coll: "storage_chunks", id, doc, ifVersion: 0 }] });
    if (!result.ok) throw new CodedError("restore_not_empty", "the cluster holds data: storage_chunks");
  };

  const tar = extract();
  Readable.from(target.read(id, "snapshot.tar")).pipe(tar);
  for await (const entry of tar) {
    const name = entry.header.name;
    const bytes = await collect(entry);
    const [, coll] = /^meta\/([a-z_]+)\/\d+\.json$/.exec(name) ?? [];
    if (coll !== undefined) {
      const items = JSON.parse(bytes.toString("utf8")) as { readonly id: string; readonly doc: JsonObject }[];
      const puts: Put[] = [];
      for (const item of items) {
        if (coll === "storage_chunks") {
          chunks.set(item.id, item.doc as ChunkDoc);
          continue;
        }
        if (coll === "storage_objects" && (item.doc as ObjectDoc).body.kind === "chunks")
          count((item.doc as ObjectDoc & { body: { chunks: readonly ChunkRef[] } }).body.chunks);
        if (coll === "storage_parts") count((item.doc as PartDoc).chunks);
        puts.push({ coll, id: item.id, doc: item.doc, ...(coll === "storage_masters" ? {} : { ifVersion: 0 }) });
      }
      documents += items.length;
      if (puts.length > 0 && !(await commit(store, { puts })).ok)
        throw new CodedError("restore_not_empty", `the cluster holds data: ${coll}`);
    } else if (name.startsWith("data/")) {
      const chunkId = name.slice("data/".length);
      const chunk = chunks.get(chunkId);
      if (chunk === undefined || !refs.has(chunkId)) continue;
      const shape = { data: chunk.data, parity: chunk.parity };
      const fragments = await io.write(chunkId, pool, shape, toFragments(bytes, shape));
      await keep(chunkId, { ...chunk, pool, fragments, refs: refs.get(chunkId) ?? 0 });
      restored += 1;
    }
  }
  // A backup of metadata alone goes back onto the devices that still hold the fragments.
  if (!manifest.include_data)
    for (const [chunkId, chunk] of chunks) if (refs.has(chunkId)) await keep(chunkId, { ...chunk, refs: refs.get(chunkId) ?? 0 });
  await parts.objects.shards.recount(cluster.state);
  context.emit("warning", "admin", "backup restored", { snapshot: id, documents, chunks: restored });
  return { snapshot_id: id, documents, chunks: restored };
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}
