import {
  checkFileName,
  checkHandleShard,
  childKey,
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
} from "@seneschal/core/storage";
import { commit } from "../context.ts";
import type { FileDoc, ObjectDoc } from "../documents.ts";
import { openBucket } from "../objects/buckets.ts";
import { objectId } from "../objects/object-id.ts";
import type { ObjectServices } from "../objects/services.ts";
import type { Export } from "./exports.ts";
import { ensureRecords, type FileRecord, fileIdOf, recordOfFile } from "./file-records.ts";
import { isDirectory, listChildren } from "./list-children.ts";

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
