import {
  type Child,
  checkFileName,
  checkHandleShard,
  childKey,
  childrenOf,
  cookieOf,
  decodeHandle,
  encodeHandle,
  entriesBehind,
  type FileAttributes,
  fileAttributes,
  fileError,
  handleShard,
  inListingOrder,
  type KnownFile,
  kindOfObject,
  parentKey,
  shardAt,
  shardPoint,
  storageError,
} from "@seneschal/core/storage";
import { commit, type StorageContext } from "../context.ts";
import { openBucket } from "../objects/buckets.ts";
import { objectId } from "../objects/object-id.ts";
import type { ObjectServices } from "../objects/services.ts";
import { type FileDoc, indexedKey, indexedKeyBytes, type ObjectDoc } from "../schema.ts";
import type { Export } from "./exports.ts";

/** A file that is there: its record, and its object where it has one. */
export interface FileNode {
  readonly from: Export;
  readonly record: FileRecord;
  readonly kind: FileAttributes["kind"];
  /** Absent of directories. */
  readonly object?: { readonly doc: ObjectDoc; readonly version: number } | undefined;
}

/** An entry as a listing goes on from it. */
export interface TreeEntry {
  readonly name: string;
  readonly cookie: bigint;
  readonly key: string;
}

/** A file as the rules of its attributes know it. */
export function knownFile({ kind, record, object }: Pick<FileNode, "kind" | "record" | "object">): KnownFile<FileDoc> {
  return { kind, fileId: fileIdOf(record.doc), kept: record.doc, content: object?.doc };
}

/** The attributes of a file; `written`: what clients wrote to it since it was last made durable. */
export function attributesOf(node: FileNode, written?: Parameters<typeof fileAttributes>[2]): FileAttributes {
  return fileAttributes(knownFile(node), node.from, written);
}

/** Files and directories over the keys of buckets. */
export interface FileTree {
  /** The file of a handle, whatever export it is of. Throws `EBADHANDLE`, `ESTALE`. */
  resolve(handle: Uint8Array, exportOf: (fsid: bigint) => Export): Promise<FileNode>;
  root(from: Export): Promise<FileNode>;
  /** A file by its id, for the node itself: no export is asked. */
  fileOf(fileId: bigint): Promise<Pick<FileNode, "record" | "object"> | undefined>;
  handleOf(node: FileNode): Uint8Array;
  /** What a name in a directory is. Throws `ENOENT`, and what names throw. */
  child(directory: FileNode, name: string): Promise<FileNode>;
  /** The same, `undefined` where there is nothing. */
  find(directory: FileNode, name: string): Promise<FileNode | undefined>;
  parent(directory: FileNode): Promise<FileNode>;
  /** Entries behind a cookie in the order of their cookies; `.` and `..` are not among them. */
  entries(directory: FileNode, after: bigint): Promise<readonly TreeEntry[]>;
  /** Files of entries; of those gone meanwhile `undefined`. */
  nodes(directory: FileNode, entries: readonly TreeEntry[]): Promise<readonly (FileNode | undefined)[]>;
}

const snapshotMs = 10_000;
const maxSnapshots = 64;

export function createFileTree(services: ObjectServices): FileTree {
  const { context, cluster } = services;
  const { store, clock } = context;
  /** Listings that go on, so that a directory is not read again for each page of it. */
  const snapshots = new Map<string, { readonly entries: readonly TreeEntry[]; readonly at: number }>();

  const objectOf = async (bucket: string, key: string): Promise<FileNode["object"]> => {
    const found = await store.get("storage_objects", objectId(bucket, key));
    const doc = found?.doc as ObjectDoc | undefined;
    return doc && kindOfObject(doc) && { doc, version: found?.version ?? 0 };
  };
  const there = async ({ bucket, tenant }: Export): Promise<void> => {
    await openBucket(services, tenant, bucket).catch(() => {
      throw fileError("ESTALE", "the bucket of the export is not there");
    });
  };
  const fileNode = (from: Export, record: FileRecord, object: FileNode["object"]): FileNode | undefined => {
    const kind = object && kindOfObject(object.doc);
    return kind && { from, record, object, kind };
  };

  const root = async (from: Export): Promise<FileNode> => {
    await there(from);
    const [record] = await ensureRecords(context, from.bucket, [""]);
    return { from, record: record as FileRecord, kind: "directory" };
  };

  const find = async (directory: FileNode, name: string): Promise<FileNode | undefined> => {
    const { from, record } = directory;
    const { bucket } = from;
    const [asFile, asDirectory] = [childKey(record.doc.key, name, "file"), childKey(record.doc.key, name, "directory")];
    const [object, below] = await Promise.all([objectOf(bucket, asFile), isDirectory(context, bucket, asDirectory)]);
    if (!below && object === undefined) return undefined;
    const [own] = (await ensureRecords(context, bucket, [below ? asDirectory : asFile])) as readonly [FileRecord];
    if (below) return { from, record: own, kind: "directory" };
    return fileNode(from, own, object);
  };

  return {
    root,
    find,
    async resolve(bytes, exportOf) {
      const handle = decodeHandle(bytes);
      const from = exportOf(handle.fsid);
      for (let last: FileRecord | undefined; ; ) {
        const record = await recordOfFile(context, handle.fileId);
        // Looked at once more: it may have been renamed between the two looks.
        if (record?.doc.bucket !== from.bucket || record.version === last?.version) {
          if (record !== undefined && last !== undefined) await forget(record);
          throw fileError("ESTALE", "the file of the handle is not there any more");
        }
        last = record;
        const { key } = record.doc;
        if (key === "") await there(from);
        if (key === "" || (key.endsWith("/") && (await isDirectory(context, from.bucket, key))))
          return { from, record, kind: "directory" };
        const found = key.endsWith("/") ? undefined : fileNode(from, record, await objectOf(from.bucket, key));
        if (found === undefined) continue;
        checkHandleShard(handle, cluster.state.shards);
        return found;
      }
    },
    async fileOf(fileId) {
      const record = await recordOfFile(context, fileId);
      return record && { record, object: await objectOf(record.doc.bucket, record.doc.key) };
    },
    handleOf({ from, record, kind }) {
      const { bucket, key } = record.doc;
      const { shards } = cluster.state;
      const shard = kind === "directory" || shards.length === 0 ? undefined : shardAt(shards, shardPoint(bucket, key));
      return encodeHandle({ fsid: from.fsid, fileId: fileIdOf(record.doc), ...(shard && { shard: handleShard(shard) }) });
    },
    async child(directory, name) {
      checkFileName(name);
      const found = await find(directory, name);
      if (found === undefined) throw fileError("ENOENT", "there is nothing of that name");
      return found;
    },
    async parent({ from, record }) {
      const key = parentKey(record.doc.key);
      if (key === "") return root(from);
      const [own] = (await ensureRecords(context, from.bucket, [key])) as readonly [FileRecord];
      return { from, record: own, kind: "directory" };
    },
    async entries({ from, record }, after) {
      const { file, key } = record.doc;
      const known = snapshots.get(file);
      let all = known !== undefined && after > 0n && clock.now() - known.at < snapshotMs ? known.entries : undefined;
      if (all === undefined) {
        const children = await listChildren(context, from.bucket, key);
        all = inListingOrder(
          children.map(({ name, kind }) => ({
            name,
            cookie: cookieOf(name),
            key: `${key}${name}${kind === "directory" ? "/" : ""}`,
          })),
        );
        snapshots.delete(file);
        snapshots.set(file, { entries: all, at: clock.now() });
        if (snapshots.size > maxSnapshots) snapshots.delete(snapshots.keys().next().value as string);
      }
      return entriesBehind(all, after);
    },
    async nodes({ from }, entries) {
      const keys = entries.map(({ key }) => key);
      const [records, objects] = await Promise.all([
        ensureRecords(context, from.bucket, keys),
        store.getMany(
          "storage_objects",
          keys.map((key) => objectId(from.bucket, key)),
        ),
      ]);
      return records.map((record, i): FileNode | undefined => {
        if (record.doc.key.endsWith("/")) return { from, record, kind: "directory" };
        const { doc, version } = objects[i] ?? {};
        return version === undefined ? undefined : fileNode(from, record, { doc: doc as ObjectDoc, version });
      });
    },
  };

  /** The record of what went by another way than this: its handles are stale for good. */
  async function forget({ id, version }: FileRecord): Promise<void> {
    await commit(store, { dels: [{ coll: "storage_files", id, ifVersion: version }] }).catch(() => undefined);
  }
}

/** A file's record with the version to guard changes by. */
export interface FileRecord {
  readonly id: string;
  readonly version: number;
  readonly doc: FileDoc;
}

/** The record of a file by the id that its handles have. */
export async function recordOfFile({ store }: StorageContext, fileId: bigint): Promise<FileRecord | undefined> {
  const { items } = await store.list("storage_files", "by_file", [fileIdText(fileId)], { limit: 1 });
  return items[0] as FileRecord | undefined;
}

/** The records of keys, in their order; those that were never seen before are made. */
async function ensureRecords(context: StorageContext, bucket: string, keys: readonly string[]): Promise<readonly FileRecord[]> {
  const { store } = context;
  const ids = keys.map((key) => objectId(bucket, key));
  for (let attempt = 0; attempt < 50; attempt++) {
    const found = await store.getMany("storage_files", ids);
    const missing = keys.filter((_, i) => found[i] === undefined);
    if (missing.length === 0) return found as unknown as readonly FileRecord[];
    // Whoever else sees them first wins, and is met at the next look.
    await commit(store, {
      puts: missing.map((key) => ({
        coll: "storage_files",
        id: objectId(bucket, key),
        ifVersion: 0,
        doc: newRecord(context, bucket, key),
      })),
    });
  }
  throw storageError("ShardUnavailable", "too many look at these files for the first time, try again");
}

/** The record of a key that is seen for the first time. */
export function newRecord(context: StorageContext, bucket: string, key: string): FileDoc {
  return { bucket, key, file: newFileId(context), changed_at: context.clock.now() };
}

function newFileId({ random }: StorageContext): string {
  const bytes = Buffer.from(random(8));
  // 62 bits: some clients keep ids in signed numbers.
  bytes[0] = (bytes[0] as number) & 0x3f;
  return bytes.toString("hex");
}

/** The number of a file. */
export function fileIdOf({ file }: FileDoc): bigint {
  return BigInt(`0x${file}`);
}

function fileIdText(fileId: bigint): string {
  return fileId.toString(16).padStart(16, "0");
}

const pageSize = 256;

/** What lies directly in the directory that has the key `directory`. In no particular order. */
async function listChildren({ store }: StorageContext, bucket: string, directory: string): Promise<readonly Child[]> {
  const listing = childrenOf(directory, indexedKeyBytes);
  let from: string | undefined = directory === "" ? undefined : directory;
  let cursor: string | undefined;
  for (;;) {
    const page = await store.list("storage_objects", "by_key", [bucket], {
      limit: pageSize,
      ...(from !== undefined && { from: [indexedKey(from)] }),
      ...(cursor !== undefined && { cursor }),
    });
    for (const { doc } of page.items) if (!listing.take(doc["key"] as string)) return listing.children();
    if (page.cursor === undefined) return listing.children();
    const past = listing.past();
    from = past ?? from;
    cursor = past === undefined ? page.cursor : undefined;
  }
}

/** Whether there is anything below the key of a directory, itself among it. */
async function isDirectory({ store }: StorageContext, bucket: string, key: string): Promise<boolean> {
  let cursor: string | undefined;
  do {
    const page = await store.list("storage_objects", "by_key", [bucket], {
      limit: 1,
      from: [indexedKey(key)],
      ...(cursor === undefined ? {} : { cursor, limit: pageSize }),
    });
    if (page.items.some(({ doc }) => (doc["key"] as string).startsWith(key))) return true;
    // Only among keys that fill the index may there be one behind others.
    if (!page.items.some(({ doc }) => indexedKey(doc["key"] as string) === indexedKey(key))) return false;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return false;
}
