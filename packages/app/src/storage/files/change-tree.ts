import {
  type Bucket,
  checkDirectoryRename,
  checkEmpty,
  checkEntryChange,
  checkFileName,
  checkOutside,
  checkReplaced,
  checkSameExport,
  childKey,
  directoryObject,
  type FileUser,
  fileError,
  keysWithin,
  type Move,
  madeOf,
  maxRenamedKeys,
  mentionsOf,
  moveDirectory,
  movedKey,
  parentKey,
  shardAt,
  shardPoint,
  storageError,
  touched,
} from "@seneschal/core/storage";
import type { Put, RangeCheck, Stored } from "@seneschal/kernel/ports";
import { noticePuts } from "../notify/notice-puts.ts";
import { openBucket } from "../objects/buckets.ts";
import { commitObjects, type ObjectsDraft } from "../objects/commit-objects.ts";
import { type Also, deleteObject } from "../objects/delete-object.ts";
import { objectId } from "../objects/object-id.ts";
import { makeCurrent } from "../objects/put-object.ts";
import { referencePuts } from "../objects/references.ts";
import { type ObjectServices, writableShard } from "../objects/services.ts";
import { putDeleteMarker, type Succession } from "../objects/versions.ts";
import { type FileDoc, indexedKey, indexedKeyBytes, type ObjectDoc } from "../schema.ts";
import { attributesOf, type FileNode, type FileRecord, type FileTree, fileIdOf, newRecord, recordOfFile } from "./file-tree.ts";
import type { ContentReader } from "./read-content.ts";
import { storeNew } from "./store-content.ts";

/** Changes of directories. Calls for one bucket come one after another: their caller sees to that. What others do meanwhile makes a try void. */
export interface TreeChanges {
  /** A new object and its file. Throws `EEXIST`. */
  make(
    directory: FileNode,
    name: string,
    made: {
      readonly kind: "file" | "directory";
      readonly type: string;
      readonly bytes: Uint8Array;
      readonly doc: { readonly mode: number; readonly uid: number; readonly gid: number; readonly exclusive?: string };
    },
  ): Promise<FileNode>;
  remove(user: FileUser, directory: FileNode, name: string): Promise<FileNode>;
  removeDirectory(user: FileUser, directory: FileNode, name: string): Promise<void>;
  /** Returns the file that was replaced, where there was one. Throws `CrossShardRename` for what is not one commit. */
  rename(
    user: FileUser,
    from: { readonly directory: FileNode; readonly name: string },
    to: { readonly directory: FileNode; readonly name: string },
  ): Promise<FileNode | undefined>;
}

/** What a commit does besides so that a directory stays, and how many objects that makes. */
type Kept = Pick<Succession, "puts" | "dels" | "objects">;

const keyOf = ({ doc }: Pick<Stored, "doc">): string => doc["key"] as string;

export function createTreeChanges(services: ObjectServices, tree: FileTree, content: ContentReader): TreeChanges {
  const { context, cluster } = services;
  const { store, clock } = context;

  /** A directory's record as it is now, touched. Throws `ESTALE` for one that moved or went. */
  const touch = async ({ record }: FileNode): Promise<Put> => {
    const now = await recordOfFile(context, fileIdOf(record.doc));
    if (now?.doc.key !== record.doc.key) throw fileError("ESTALE", "the directory is not there any more");
    return { coll: "storage_files", id: now.id, doc: touched(now.doc, clock.now()), ifVersion: now.version };
  };
  /** The object of a directory that an entry is taken from, where it has none. */
  const keep = async ({ record }: FileNode, bucket: Bucket): Promise<Kept> => {
    const { key } = record.doc;
    const found = key === "" ? undefined : await store.get("storage_objects", objectId(bucket.name, key));
    const made = directoryObject(bucket, key, found?.doc as ObjectDoc | undefined, clock.now());
    if (made === undefined) return { puts: [], dels: [], objects: 0 };
    await writableShard(services, bucket.name, key);
    return makeCurrent(services, bucket, found, { ...made, body: { kind: "chunks", chunks: [] } });
  };
  /** The same of the directory that something leaves for another; within one nothing is left. */
  const keepLeft = async ([directory, other]: readonly FileNode[], bucket: Bucket): Promise<Kept> =>
    directory === undefined || other === undefined ? { puts: [], dels: [], objects: 0 } : keep(directory, bucket);
  const gone = (record: FileRecord) => ({ coll: "storage_files", id: record.id, ifVersion: record.version });
  const find = async (directory: FileNode, name: string): Promise<FileNode> => {
    checkFileName(name);
    const found = await tree.find(directory, name);
    if (found === undefined) throw fileError("ENOENT", "there is nothing of that name");
    return found;
  };
  /** The condition that a directory is empty but for its own object. Throws `ENOTEMPTY`. */
  const empty = async (bucket: string, key: string): Promise<RangeCheck> => {
    const options = { from: [indexedKey(key)], limit: 2 };
    const { items } = await store.list("storage_objects", "by_key", [bucket], options);
    checkEmpty(key, items.map(keyOf));
    const found = items.map(({ id, version }) => ({ id, version }));
    return { coll: "storage_objects", index: "by_key", prefix: [bucket], options, found };
  };

  /** The body of an object for one more object: its chunks have a reference more each. */
  const shareBody = async (object: ObjectDoc): Promise<{ readonly body: ObjectDoc["body"]; readonly puts: readonly Put[] }> => {
    if (object.body.kind === "inline" || object.body.kind === "none") return { body: object.body, puts: [] };
    const chunks = (await content.extents(object)).map(({ ref }) => ref);
    return { body: { kind: "chunks", chunks }, puts: await referencePuts(context, mentionsOf(chunks)) };
  };

  /** One try after another, each looked at anew, until one is committed. */
  const settle = async (draft: () => Promise<ObjectsDraft>): Promise<void> => {
    for (let attempt = 0; attempt < 50; attempt++) if ((await commitObjects(store, await draft())).ok) return;
    throw storageError("ShardUnavailable", "too many writers of one directory, try again");
  };

  const checkTarget = async (
    user: FileUser,
    source: FileNode,
    directory: FileNode,
    name: string,
  ): Promise<FileNode | undefined> => {
    checkFileName(name);
    const target = await tree.find(directory, name);
    if (target === undefined) return undefined;
    checkReplaced(user, source, attributesOf(directory), attributesOf(target));
    return target;
  };

  const checkShards = async (bucket: string, keys: readonly string[]): Promise<void> => {
    for (const key of keys) await writableShard(services, bucket, key);
  };
  const count = (bucket: string, key: string, bytes: number, objects: number): void => {
    const { shards } = cluster.state;
    if (shards.length > 0) services.shards.changed(shardAt(shards, shardPoint(bucket, key)).id, bytes, objects);
  };

  const renameFile = async (
    source: FileNode,
    target: FileNode | undefined,
    directories: readonly FileNode[],
    key: string,
  ): Promise<void> => {
    const { from, record } = source;
    const { bucket, tenant } = from;
    await checkShards(bucket, [record.doc.key, key]);
    let size = 0;
    let kept = 0;
    await settle(async () => {
      const owner = await openBucket(services, tenant, bucket);
      const [own, object, replaced, other] = await Promise.all([
        store.get("storage_files", record.id),
        store.get("storage_objects", record.id),
        store.get("storage_objects", objectId(bucket, key)),
        store.get("storage_files", objectId(bucket, key)),
      ]);
      if (own?.doc["file"] !== record.doc.file || object === undefined || object.doc["delete_marker"] === true)
        throw fileError("ENOENT", "the file is not there any more");
      const doc = object.doc as ObjectDoc;
      size = doc.size;
      const versioned = owner.bucket.versioning !== undefined;
      const shared = versioned ? await shareBody(doc) : { body: doc.body, puts: [] };
      const copy = { ...madeOf(doc), key, body: shared.body };
      const next = await makeCurrent(services, owner.bucket, replaced, copy, "ObjectCreated:Copy");
      const left = versioned ? await putDeleteMarker(services, owner, object, record.doc.key) : undefined;
      const moved = touched({ ...(own.doc as FileDoc), key }, clock.now());
      const touches = await Promise.all(directories.map(touch));
      const stays = await keepLeft(directories, owner.bucket);
      kept = stays.objects;
      return {
        of: owner.bucket,
        puts: [
          ...next.puts,
          ...stays.puts,
          ...shared.puts,
          ...(left?.puts ?? []),
          ...noticePuts(
            services,
            owner.bucket,
            left ? "ObjectRemoved:DeleteMarkerCreated" : "ObjectRemoved:Delete",
            left?.doc ?? doc,
          ),
          { coll: "storage_files", id: objectId(bucket, key), doc: moved, ifVersion: other?.version ?? 0 },
          ...touches,
        ],
        dels: [
          ...next.dels,
          ...stays.dels,
          ...(left?.dels ?? [{ coll: "storage_objects", id: record.id, ifVersion: object.version }]),
          { coll: "storage_files", id: record.id, ifVersion: own.version },
        ],
        checks: [{ coll: "storage_buckets", id: bucket, version: owner.version }],
      };
    });
    count(bucket, record.doc.key, -size, -1);
    count(bucket, parentKey(record.doc.key), 0, kept);
    count(bucket, key, size - (target?.object?.doc.size ?? 0), target === undefined ? 1 : 0);
  };

  /** Every key below a directory, itself among them, and the condition that they are still all. Throws `CrossShardRename`. */
  const below = async (bucket: string, key: string, versioned: boolean) => {
    const options = { from: [indexedKey(key)], limit: maxRenamedKeys + 2 };
    const { items } = await store.list("storage_objects", "by_key", [bucket], options);
    const inside = items.filter((item) => keyOf(item).startsWith(key));
    // Longer keys are not in the order of the index: others of them may lie behind.
    checkDirectoryRename(versioned, inside.length, Buffer.byteLength(key) > indexedKeyBytes - 8);
    const found = items.map(({ id, version }) => ({ id, version }));
    const range: RangeCheck = { coll: "storage_objects", index: "by_key", prefix: [bucket], options, found };
    return { inside, range };
  };

  const renameDirectory = async (
    source: FileNode,
    target: FileNode | undefined,
    directories: readonly FileNode[],
    key: string,
  ) => {
    const { from, record } = source;
    const { bucket, tenant } = from;
    const old = record.doc.key;
    let kept = 0;
    await settle(async () => {
      const owner = await openBucket(services, tenant, bucket);
      const { inside, range } = await below(bucket, old, owner.bucket.versioning !== undefined);
      const keys = inside.map(keyOf);
      await checkShards(bucket, [old, key, ...keys.flatMap((name) => [name, movedKey(name, old, key)])]);
      const [condition, emptied] =
        target === undefined ? [] : [await empty(bucket, key), await store.get("storage_objects", objectId(bucket, key))];
      const ids = keysWithin(old, keys).map((name) => objectId(bucket, name));
      const records = (await store.getMany("storage_files", ids)).filter((one) => one !== undefined);
      const moves = moveDirectory(
        old,
        key,
        inside.map(({ doc }) => doc as ObjectDoc),
        records.map(({ doc }) => doc as FileDoc),
        clock.now(),
      );
      const newId = ({ to }: Move<{ readonly key: string }>) => objectId(bucket, to.key);
      const others = await store.getMany("storage_files", moves.records.map(newId));
      const objectPuts = moves.objects.map((move): Put => {
        const ifVersion = move.to.key === key ? (emptied?.version ?? 0) : 0;
        return { coll: "storage_objects", id: newId(move), doc: move.to, ifVersion };
      });
      const recordPuts = moves.records.map((move, i): Put => {
        return { coll: "storage_files", id: newId(move), doc: move.to, ifVersion: others[i]?.version ?? 0 };
      });
      const del =
        (coll: string) =>
        ({ id, version }: Stored) => ({ coll, id, ifVersion: version });
      const replacedMarker = emptied !== undefined && !objectPuts.some(({ id }) => id === emptied.id);
      const notices = moves.objects.flatMap(({ from: was, to }) => [
        ...noticePuts(services, owner.bucket, "ObjectCreated:Copy", to),
        ...noticePuts(services, owner.bucket, "ObjectRemoved:Delete", was),
      ]);
      const touches = await Promise.all(directories.map(touch));
      const stays = await keepLeft(directories, owner.bucket);
      kept = stays.objects;
      return {
        of: owner.bucket,
        puts: [...objectPuts, ...recordPuts, ...stays.puts, ...touches, ...notices],
        dels: [
          ...stays.dels,
          ...[...inside, ...(replacedMarker ? [emptied] : [])].map(del("storage_objects")),
          ...records.map(del("storage_files")),
        ],
        checks: [{ coll: "storage_buckets", id: bucket, version: owner.version }],
        ranges: [range, ...(condition === undefined ? [] : [condition])],
      };
    });
    count(bucket, parentKey(old), 0, kept);
  };

  return {
    async make(directory, name, { kind, type, bytes, doc }) {
      const { from, record } = directory;
      const { bucket, tenant } = from;
      const key = childKey(record.doc.key, name, kind);
      const id = objectId(bucket, key);
      await storeNew(services, { tenant, bucket, key, content_type: type }, bytes, async (): Promise<Also> => {
        const known = await store.get("storage_files", id);
        const fresh = { ...newRecord(context, bucket, key), ...doc };
        return {
          puts: [{ coll: "storage_files", id, doc: fresh, ifVersion: known?.version ?? 0 }, await touch(directory)],
        };
      });
      const made = await tree.find(directory, name);
      if (made === undefined) throw fileError("ESTALE", "the file was removed as soon as it was made");
      return made;
    },
    async remove(user, directory, name) {
      const node = await find(directory, name);
      if (node.kind === "directory") throw fileError("EISDIR", "directories are removed as such");
      checkEntryChange(user, attributesOf(directory), attributesOf(node));
      const { bucket, tenant } = node.from;
      let kept = 0;
      const also = async (of: Bucket): Promise<Also> => {
        const { puts, dels, objects } = await keep(directory, of);
        kept = objects;
        return { puts: [...puts, await touch(directory)], dels: [...dels, gone(node.record)] };
      };
      const { deleted } = await deleteObject(services, tenant, bucket, node.record.doc.key, { also });
      if (!deleted) throw fileError("ENOENT", "there is nothing of that name");
      count(bucket, directory.record.doc.key, 0, kept);
      return node;
    },
    async removeDirectory(user, directory, name) {
      const node = await find(directory, name);
      if (node.kind !== "directory") throw fileError("ENOTDIR", "that is no directory");
      checkEntryChange(user, attributesOf(directory), attributesOf(node));
      const { bucket, tenant } = node.from;
      const { key } = node.record.doc;
      await empty(bucket, key);
      let kept = 0;
      const also = async (of: Bucket): Promise<Also> => {
        const { puts, dels, objects } = await keep(directory, of);
        kept = objects;
        const ranges = [await empty(bucket, key)];
        return { ranges, puts: [...puts, await touch(directory)], dels: [...dels, gone(node.record)] };
      };
      const { deleted } = await deleteObject(services, tenant, bucket, key, { also });
      if (!deleted) throw fileError("ENOENT", "there is nothing of that name");
      count(bucket, directory.record.doc.key, 0, kept);
    },
    async rename(user, from, to) {
      checkSameExport(from.directory.from.fsid, to.directory.from.fsid);
      const source = await find(from.directory, from.name);
      checkEntryChange(user, attributesOf(from.directory), attributesOf(source));
      checkEntryChange(user, attributesOf(to.directory));
      const target = await checkTarget(user, source, to.directory, to.name);
      if (target?.record.id === source.record.id) return undefined;
      const kind = source.kind === "directory" ? "directory" : "file";
      const key = childKey(to.directory.record.doc.key, to.name, kind);
      checkOutside(source.record.doc.key, key);
      if (target?.kind === "directory") await empty(target.from.bucket, target.record.doc.key);
      const same = from.directory.record.id === to.directory.record.id;
      const directories = same ? [from.directory] : [from.directory, to.directory];
      if (kind === "file") await renameFile(source, target, directories, key);
      else await renameDirectory(source, target, directories, key);
      return target;
    },
  };
}
