import {
  asFileFailure,
  beginsWith,
  checkEntryChange,
  checkFileName,
  checkResize,
  checkSettings,
  checkTaken,
  checkTransfer,
  decodeHandle,
  directoryType,
  type FileAttributes,
  type FileCaller,
  type FileChange,
  type FileService,
  type FileSettings,
  type FileTime,
  type FileUser,
  fileError,
  grantedAccess,
  keptAfter,
  type MadeFile,
  maxFileSize,
  mayAccess,
  nextEntries,
  ownEntries,
  spaceOf,
  storageError,
  symlinkType,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { Authorisation, Background } from "../../platform/index.ts";
import { commit } from "../context.ts";
import { type DeviceSet, poolFill } from "../data/devices.ts";
import { createKeyedLock } from "../data/keyed-lock.ts";
import { limitOf } from "../objects/bucket-usage.ts";
import { customerKeyFor } from "../objects/customer-key.ts";
import type { ObjectServices } from "../objects/services.ts";
import { createTreeChanges } from "./change-tree.ts";
import { type Export, openExports, userOf } from "./exports.ts";
import { attributesOf, createFileTree, type FileNode, fileIdOf, knownFile, recordOfFile, type TreeEntry } from "./file-tree.ts";
import { createContentReader } from "./read-content.ts";
import type { NfsConfig } from "./settings.ts";
import { storeChanged } from "./store-content.ts";
import { createWriteBack, createWriteVerifiers } from "./write-back.ts";

/** What the file service stands on. */
export interface FileServiceParts {
  readonly services: ObjectServices;
  readonly devices: DeviceSet;
  /** Decides what tenants may do, beside the rules of the exports. */
  readonly authorisation: Authorisation;
  readonly background: Background;
  readonly config: Pick<NfsConfig, "exports" | "write_back_bytes" | "write_back_delay">;
}

/** A file service that keeps something in memory. */
export interface OpenFileService extends FileService {
  close(): Promise<void>;
}

/** How often operators hear of one bucket that is full, milliseconds: its clients try again and again. */
const warnEveryMs = 60_000;

/** Files over the objects of a node, for clients that the exports name. */
export function openFileService(parts: FileServiceParts): OpenFileService {
  const { services, authorisation, background, devices } = parts;
  const { context, cluster } = services;
  const exports = openExports(parts.config.exports);
  const tree = createFileTree(services);
  const content = createContentReader(services);
  const changes = createTreeChanges(services, tree, content);
  const locked = createKeyedLock();
  /** Bytes of one file, and its attributes, change one after another; so do the names of one bucket. */
  const withFile = <T>(handle: Uint8Array, work: () => Promise<T>): Promise<T> =>
    locked(`file ${decodeHandle(handle).fileId}`, work);
  const withNames = <T>(caller: FileCaller, handle: Uint8Array, work: () => Promise<T>): Promise<T> =>
    locked(`names ${exports.byFsid(caller, decodeHandle(handle).fsid).bucket}`, work);
  const verifiers = createWriteVerifiers(context.random(8));
  const warned = new Map<string, number>();
  const pending = createWriteBack(
    services,
    content,
    (file) => tree.fileOf(BigInt(`0x${file}`)),
    ({ file, bucket, told }, error) => {
      if (!told) verifiers.renew(bucket);
      const full = isCoded(error, "QuotaExceeded");
      const now = context.clock.now();
      if (full && (told || now - (warned.get(bucket) ?? Number.NEGATIVE_INFINITY) < warnEveryMs)) return;
      if (full) warned.set(bucket, now);
      context.emit(
        full ? "warning" : "error",
        "node",
        told
          ? "what a client wrote by NFS could not be stored"
          : "what a client wrote by NFS could not be stored: it is told to write it again",
        { bucket, file, error: isCoded(error) ? error.code : "unknown" },
      );
    },
  );
  const flushLocked = (file: string): Promise<void> => locked(`file ${BigInt(`0x${file}`)}`, () => pending.flush(file));
  /** Makes durable what waits since then or longer; one file that cannot be keeps no other from it. */
  const flushOld = async (until: number): Promise<void> => {
    const errors: unknown[] = [];
    for (const { file, since } of pending.files())
      if (since <= until)
        await flushLocked(file).catch((error: unknown) => {
          // That is its tenant's affair, who is told.
          if (!isCoded(error, "QuotaExceeded")) errors.push(error);
        });
    if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, `${errors.length} files failed`);
  };
  const { write_back_bytes: limit, write_back_delay: delay } = parts.config;
  const turns = background.every("write-back", Math.max(100, delay / 2), () => flushOld(context.clock.now() - delay));

  /** Throws `EACCES` for what the authorisation policy does not let the export's tenant do. */
  const authorise = async ({ tenant, bucket }: Export, key: string, action: "objects:read" | "objects:write"): Promise<void> => {
    const answer = await authorisation.decide(
      {
        subject: { id: tenant, type: "tenant", org: tenant, roles: ["tenant"], scopes: [], permissions: [] },
        action,
        resource: { type: "objects", id: key === "" ? bucket : `${bucket}/${key}`, org: tenant, workspace: "" },
        context: { method: "NFS", path: action },
      },
      context.clock.now(),
    );
    if (!answer.allowed) throw fileError("EACCES", answer.reason);
  };

  /** A file for a caller who may at least look at it. */
  const open = async (caller: FileCaller, handle: Uint8Array): Promise<{ readonly node: FileNode; readonly user: FileUser }> => {
    const node = await tree.resolve(handle, (fsid) => exports.byFsid(caller, fsid));
    await authorise(node.from, node.record.doc.key, "objects:read");
    return { node, user: userOf(node.from, caller) };
  };

  /** The same of a directory. Throws `ENOTDIR`, and `EACCES` unless the user may do this there. */
  const openDirectory = async (caller: FileCaller, handle: Uint8Array, want: "read" | "execute") => {
    const opened = await open(caller, handle);
    if (opened.node.kind !== "directory") throw fileError("ENOTDIR", "that is no directory");
    if (!mayAccess(opened.user, attributesOf(opened.node), want))
      throw fileError("EACCES", "the directory's mode does not allow it");
    return opened;
  };

  const tell = (node: FileNode): FileAttributes => attributesOf(node, pending.pending(node));
  const told = (node: FileNode, before: FileAttributes): FileChange => ({ before, after: tell(node) });

  /** A file, or a directory, that may be changed by the caller's tenant. Throws `EROFS`. */
  const openToChange = async (caller: FileCaller, handle: Uint8Array) => {
    const opened = await open(caller, handle);
    const { from, record } = opened.node;
    if (from.read_only) throw fileError("EROFS", "the export is read-only");
    await authorise(from, record.doc.key, "objects:write");
    return { ...opened, before: tell(opened.node) };
  };
  /** The same of a directory whose entries the user may change. */
  const openNames = async (caller: FileCaller, handle: Uint8Array) => {
    const opened = await openToChange(caller, handle);
    if (opened.node.kind !== "directory") throw fileError("ENOTDIR", "that is no directory");
    checkEntryChange(opened.user, opened.before);
    return opened;
  };
  const again = (caller: FileCaller, handle: Uint8Array): Promise<FileNode> =>
    tree.resolve(handle, (fsid) => exports.byFsid(caller, fsid));

  /** Sets what is given, of a file whose bytes are stored. */
  const settle = async (user: FileUser, node: FileNode, settings: FileSettings): Promise<void> => {
    const { mode, uid, gid, accessed, modified } = settings;
    if ([mode, uid, gid, accessed, modified].every((it) => it === undefined)) return;
    for (let attempt = 0; attempt < 50; attempt++) {
      const record = await recordOfFile(context, fileIdOf(node.record.doc));
      if (record === undefined) throw fileError("ESTALE", "the file is not there any more");
      const doc = keptAfter(user, knownFile({ ...node, record }), node.from, settings, context.clock.now());
      const put = { coll: "storage_files", id: record.id, doc, ifVersion: record.version };
      if ((await commit(context.store, { puts: [put] })).ok) return;
    }
    throw storageError("ShardUnavailable", "too many change this file, try again");
  };
  /** Makes a file so many bytes long. */
  const resize = async (node: FileNode, size: number): Promise<void> => {
    const { record } = node;
    checkResize(node.kind, size);
    await pending.flush(record.doc.file);
    const now = await tree.fileOf(fileIdOf(record.doc));
    if (now?.object === undefined) throw fileError("ESTALE", "the file is not there any more");
    const modifiedAt = Math.max(context.clock.now(), now.object.doc.modified_at + 1);
    await storeChanged(services, content, now.object, { end: 0, pages: new Map(), staged: new Map(), modifiedAt }, size);
  };
  const makeIn = async (
    caller: FileCaller,
    handle: Uint8Array,
    name: string,
    made: (opened: Awaited<ReturnType<typeof openNames>>) => Parameters<typeof changes.make>[2],
    settings: FileSettings = {},
  ): Promise<MadeFile> => {
    checkFileName(name);
    const opened = await openNames(caller, handle);
    if ((await tree.find(opened.node, name)) !== undefined) throw fileError("EEXIST", "the name is taken");
    const node = await changes.make(opened.node, name, made(opened));
    const { accessed, modified } = settings;
    await settle(opened.user, node, { ...(accessed && { accessed }), ...(modified && { modified }) });
    if (settings.size !== undefined && settings.size > 0) await resize(node, settings.size);
    return foundIn(caller, handle, name, opened.before);
  };
  const foundIn = async (caller: FileCaller, handle: Uint8Array, name: string, before: FileAttributes): Promise<MadeFile> => {
    const directory = await again(caller, handle);
    const node = await tree.child(directory, name);
    return { handle: tree.handleOf(node), attributes: tell(node), directory: told(directory, before) };
  };

  /** Entries of a directory with the two that every one has, of which `limit` are taken. */
  const page = async (caller: FileCaller, handle: Uint8Array, cookie: bigint, limit: number) => {
    const { node, user } = await openDirectory(caller, handle, "read");
    const entries = await tree.entries(node, cookie > ownEntries[1].cookie ? cookie : 0n);
    const { own, taken, end } = nextEntries(entries, cookie, limit);
    const fixed: { readonly name: string; readonly cookie: bigint; readonly node: FileNode }[] = [];
    for (const entry of own) fixed.push({ ...entry, node: entry.name === "." ? node : await tree.parent(node) });
    return { node, user, fixed, taken, end };
  };
  const filesOf = async (node: FileNode, taken: readonly TreeEntry[]) => {
    const nodes = await tree.nodes(node, taken);
    return taken.flatMap(({ name, cookie }, i) => {
      const found = nodes[i];
      return found === undefined ? [] : [{ name, cookie, node: found }];
    });
  };

  const files: FileService = {
    maxFileSize,
    exports: (caller) => exports.visible(caller),
    async mount(caller, path) {
      const { from, names } = exports.byPath(caller, path);
      await authorise(from, "", "objects:read");
      let node = await tree.root(from).catch((error: unknown) => {
        // Nothing that the caller had is gone: the bucket is yet to be made.
        throw isCoded(error, "ESTALE") ? fileError("ENOENT", "the bucket of the export is not there") : error;
      });
      for (const name of names) {
        // What is exported has one path; none leads about in it, or out of it.
        if (name === "." || name === "..") throw fileError("ENOENT", "a path that is mounted has no . and ..");
        if (!mayAccess(userOf(from, caller), attributesOf(node), "execute"))
          throw fileError("EACCES", "the directory's mode does not allow it");
        node = await tree.child(node, name);
        if (node.kind !== "directory") throw fileError("ENOTDIR", "that is no directory");
      }
      return tree.handleOf(node);
    },
    async attributes(caller, handle) {
      const { node } = await open(caller, handle);
      return tell(node);
    },
    async lookup(caller, handle, name) {
      const { node: directory } = await openDirectory(caller, handle, "execute");
      const node = name === "." ? directory : name === ".." ? await tree.parent(directory) : await tree.child(directory, name);
      return { handle: tree.handleOf(node), attributes: tell(node), directory: tell(directory) };
    },
    async access(caller, handle, asked) {
      const { node, user } = await open(caller, handle);
      const attributes = tell(node);
      return { granted: grantedAccess(user, attributes, asked, node.from.read_only), attributes };
    },
    async readlink(caller, handle) {
      const { node } = await open(caller, handle);
      if (node.kind !== "symlink" || node.object === undefined) throw fileError("EINVAL", "that is no symbolic link");
      const { doc } = node.object;
      const target = await content.read(doc, 0, Math.min(doc.size, 4096));
      return { target: target.toString("utf8"), attributes: tell(node) };
    },
    async read(caller, handle, offset, count) {
      const { node, user } = await open(caller, handle);
      const attributes = tell(node);
      checkTransfer(user, attributes, "read");
      const to = Math.min(attributes.size, offset + count);
      const bytes = offset >= to ? new Uint8Array(0) : await pending.read(node, offset, to);
      return { bytes, end: to >= attributes.size, attributes };
    },
    async list(caller, handle, cookie, limit) {
      const { node, fixed, taken, end } = await page(caller, handle, cookie, limit);
      const entries = [...fixed, ...(await filesOf(node, taken))];
      return {
        entries: entries.map(({ name, cookie: at, node: own }) => ({ name, cookie: at, fileId: fileIdOf(own.record.doc) })),
        end,
        directory: tell(node),
      };
    },
    async listFull(caller, handle, cookie, limit) {
      const { node, fixed, taken, end } = await page(caller, handle, cookie, limit);
      const entries = [...fixed, ...(await filesOf(node, taken))];
      return {
        entries: entries.map(({ name, cookie: at, node: own }) => {
          const attributes = tell(own);
          return { name, cookie: at, fileId: attributes.fileId, attributes, handle: tree.handleOf(own) };
        }),
        end,
        directory: tell(node),
      };
    },
    async space(caller, handle) {
      const { node } = await open(caller, handle);
      const fills = Object.keys(cluster.state.pools).map((id) => poolFill(cluster.state, devices, id));
      const capacityBytes = fills.reduce((sum, fill) => sum + fill.capacityBytes, 0);
      const usedBytes = fills.reduce((sum, fill) => sum + fill.usedBytes, 0);
      const { tenant, bucket } = node.from;
      const limit = await limitOf(services, tenant, bucket);
      return { ...spaceOf({ capacityBytes, usedBytes }, limit), attributes: tell(node) };
    },
    set: (caller, handle, settings, guard) =>
      withFile(handle, async () => {
        const { node, user, before } = await openToChange(caller, handle);
        checkSettings(user, before, settings);
        if (guard !== undefined && !isSameTime(guard, before.changed)) throw fileError("ENOTSYNC", "the file changed meanwhile");
        if (settings.size !== undefined) await resize(node, settings.size);
        else if (settings.modified !== undefined) await pending.flush(node.record.doc.file);
        await settle(user, await again(caller, handle), settings);
        return told(await again(caller, handle), before);
      }),
    write: (caller, handle, offset, bytes, stable) =>
      withFile(handle, async () => {
        const { node, user, before } = await openToChange(caller, handle);
        checkTransfer(user, before, "write", offset + bytes.length);
        if (node.object !== undefined) customerKeyFor(node.object.doc, undefined);
        const { file } = node.record.doc;
        const alone = pending.pending(node) === undefined;
        const take = () => pending.write(node, offset, bytes);
        await take().catch(async (error: unknown) => {
          if (!isCoded(error, "MemoryExhausted")) throw error;
          // What of this file is in the way is made durable; others' in their own time.
          await pending.flush(file, alone);
          await take();
        });
        const durable = stable || pending.bytes > limit;
        if (durable) await pending.flush(file, alone);
        const after = durable ? await again(caller, handle) : node;
        return { ...told(after, before), stable: durable, verifier: verifiers.of(node.from.bucket) };
      }),
    commit: (caller, handle) =>
      withFile(handle, async () => {
        const { node, before } = await openToChange(caller, handle);
        await pending.flush(node.record.doc.file);
        return { ...told(await again(caller, handle), before), verifier: verifiers.of(node.from.bucket) };
      }),
    create: (caller, handle, name, creation) =>
      withNames(caller, handle, async () => {
        checkFileName(name);
        const { node, user, before } = await openNames(caller, handle);
        const found = await tree.find(node, name);
        const exclusive = creation.kind === "exclusive" ? Buffer.from(creation.verifier).toString("hex") : undefined;
        if (found !== undefined) {
          checkTaken({ kind: found.kind, exclusive: found.record.doc.exclusive }, { kind: creation.kind, exclusive });
          if (creation.kind === "unchecked" && creation.settings.size !== undefined) {
            checkSettings(user, tell(found), { size: creation.settings.size });
            await locked(`file ${fileIdOf(found.record.doc)}`, () => resize(found, creation.settings.size as number));
          }
          return foundIn(caller, handle, name, before);
        }
        const settings = creation.kind === "exclusive" ? {} : creation.settings;
        return makeIn(
          ...([caller, handle, name] as const),
          () => ({
            kind: "file",
            type: "application/octet-stream",
            bytes: new Uint8Array(0),
            doc: { ...beginsWith(user, before, settings, node.from.file_mode), ...(exclusive !== undefined && { exclusive }) },
          }),
          settings,
        );
      }),
    makeDirectory: (caller, handle, name, settings) =>
      withNames(caller, handle, () =>
        makeIn(...([caller, handle, name] as const), ({ user, before, node }) => ({
          kind: "directory",
          type: directoryType,
          bytes: new Uint8Array(0),
          doc: beginsWith(user, before, settings, node.from.directory_mode),
        })),
      ),
    symlink: (caller, handle, name, target, settings) =>
      withNames(caller, handle, () => {
        if (target === "") throw fileError("EINVAL", "a symbolic link has a target");
        return makeIn(...([caller, handle, name] as const), ({ user, before }) => ({
          kind: "file",
          type: symlinkType,
          bytes: Buffer.from(target),
          doc: beginsWith(user, before, settings, 0o777),
        }));
      }),
    remove: (caller, handle, name) =>
      withNames(caller, handle, async () => {
        const { node, user, before } = await openNames(caller, handle);
        const { record } = await changes.remove(user, node, name);
        await locked(`file ${fileIdOf(record.doc)}`, () => pending.discard(record.doc.file));
        return told(await again(caller, handle), before);
      }),
    removeDirectory: (caller, handle, name) =>
      withNames(caller, handle, async () => {
        if (name === ".") throw fileError("EINVAL", "a directory is removed by its name in another");
        const { node, user, before } = await openNames(caller, handle);
        await changes.removeDirectory(user, node, name);
        return told(await again(caller, handle), before);
      }),
    rename: (caller, from, to) =>
      withNames(caller, from.directory, async () => {
        const source = await openNames(caller, from.directory);
        const target = await openNames(caller, to.directory);
        const replaced = await changes.rename(
          source.user,
          { directory: source.node, name: from.name },
          { directory: target.node, name: to.name },
        );
        if (replaced !== undefined)
          await locked(`file ${fileIdOf(replaced.record.doc)}`, () => pending.discard(replaced.record.doc.file));
        return {
          from: told(await again(caller, from.directory), source.before),
          to: told(await again(caller, to.directory), target.before),
        };
      }),
  };
  return Object.assign(asFiles(files), {
    async close() {
      await turns.stop();
      await background.step("write-back", () => flushOld(Number.POSITIVE_INFINITY));
      content.close();
    },
  });
}

function isSameTime(a: FileTime, b: FileTime): boolean {
  return a.seconds === b.seconds && a.nanoseconds === b.nanoseconds;
}

/** The service with failures of objects told as those of files. */
function asFiles(files: FileService): FileService {
  const wrap = <A extends readonly unknown[], R>(work: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      try {
        return await work(...args);
      } catch (error) {
        throw asFileFailure(error);
      }
    };
  };
  return {
    maxFileSize: files.maxFileSize,
    exports: files.exports,
    mount: wrap(files.mount),
    attributes: wrap(files.attributes),
    set: wrap(files.set),
    lookup: wrap(files.lookup),
    access: wrap(files.access),
    readlink: wrap(files.readlink),
    read: wrap(files.read),
    write: wrap(files.write),
    commit: wrap(files.commit),
    create: wrap(files.create),
    makeDirectory: wrap(files.makeDirectory),
    symlink: wrap(files.symlink),
    remove: wrap(files.remove),
    removeDirectory: wrap(files.removeDirectory),
    rename: wrap(files.rename),
    list: wrap(files.list),
    listFull: wrap(files.listFull),
    space: wrap(files.space),
  };
}
