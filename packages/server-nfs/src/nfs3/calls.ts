import { type Creation, type FileCaller, type FileService, fileError } from "@seneschal/core/storage";
import type { ValueOf } from "../xdr/types.ts";
import { noWcc, toFattr, toSettings, toSize, toText, toWcc } from "./convert.ts";
import { maxTransfer, type NfsProcedure, type nfsProcedures } from "./procedures.ts";

type Args<P extends NfsProcedure> = ValueOf<(typeof nfsProcedures)[P]["args"]>;
type Reply<P extends NfsProcedure> = ValueOf<(typeof nfsProcedures)[P]["reply"]>;
type Ok<P extends NfsProcedure> = Extract<Reply<P>, { readonly status: 0 }> extends { readonly value: infer V } ? V : never;
type Failed<P extends NfsProcedure> = Reply<P> extends infer R ? (R extends { readonly failure: infer F } ? F : never) : never;

/** What one procedure does, and what it tells of a failure besides the status. */
interface Call<P extends NfsProcedure> {
  run(files: FileService, caller: FileCaller, args: Args<P>): Promise<Ok<P>>;
  readonly failure: Failed<P>;
}

const unknownDirectory = { dir: undefined };
const unknownChange = { dir: noWcc };
const unknownFile = { attributes: undefined };
/** Bytes of an entry of READDIR besides its name, of one of READDIRPLUS, and of what is around them. */
const plainEntry = 28;
const fullEntry = 152;
const around = 128;

/** Every procedure but NULL. */
export const nfsCalls: { readonly [P in Exclude<NfsProcedure, "NULL">]: Call<P> } = {
  GETATTR: {
    failure: undefined,
    run: async (files, caller, { handle }) => ({ attributes: toFattr(await files.attributes(caller, handle)) }),
  },
  SETATTR: {
    failure: { wcc: noWcc },
    run: async (files, caller, { handle, attributes, guard }) => ({
      wcc: toWcc(await files.set(caller, handle, toSettings(attributes), guard)),
    }),
  },
  LOOKUP: {
    failure: unknownDirectory,
    async run(files, caller, { dir, name }) {
      const { handle, attributes, directory } = await files.lookup(caller, dir, toText(name));
      return { handle, attributes: toFattr(attributes), dir: toFattr(directory) };
    },
  },
  ACCESS: {
    failure: unknownFile,
    async run(files, caller, { handle, access }) {
      const { granted, attributes } = await files.access(caller, handle, access);
      return { attributes: toFattr(attributes), access: granted };
    },
  },
  READLINK: {
    failure: unknownFile,
    async run(files, caller, { handle }) {
      const { target, attributes } = await files.readlink(caller, handle);
      return { attributes: toFattr(attributes), target: Buffer.from(target) };
    },
  },
  READ: {
    failure: unknownFile,
    async run(files, caller, { handle, offset, count }) {
      const { bytes, end, attributes } = await files.read(caller, handle, toSize(offset), Math.min(count, maxTransfer));
      return { attributes: toFattr(attributes), count: bytes.length, eof: end, data: bytes };
    },
  },
  WRITE: {
    failure: { wcc: noWcc },
    async run(files, caller, { handle, offset, count, stable, data }) {
      if (count > data.length) throw fileError("EINVAL", "fewer bytes than the call says");
      const written = await files.write(caller, handle, toSize(offset), data.subarray(0, count), stable !== "UNSTABLE");
      const committed = written.stable ? "FILE_SYNC" : "UNSTABLE";
      return { wcc: toWcc(written), count, committed, verifier: written.verifier };
    },
  },
  CREATE: {
    failure: unknownChange,
    async run(files, caller, { where, how }) {
      const creation: Creation =
        how.kind === "EXCLUSIVE"
          ? { kind: "exclusive", verifier: how.value }
          : { kind: how.kind === "GUARDED" ? "guarded" : "unchecked", settings: toSettings(how.value) };
      return madeFile(await files.create(caller, where.dir, toText(where.name), creation));
    },
  },
  MKDIR: {
    failure: unknownChange,
    run: async (files, caller, { where, attributes }) =>
      madeFile(await files.makeDirectory(caller, where.dir, toText(where.name), toSettings(attributes))),
  },
  SYMLINK: {
    failure: unknownChange,
    run: async (files, caller, { where, attributes, target }) =>
      madeFile(await files.symlink(caller, where.dir, toText(where.name), toText(target), toSettings(attributes))),
  },
  MKNOD: { failure: unknownChange, run: () => notSupported("devices, sockets and pipes are no objects") },
  REMOVE: {
    failure: unknownChange,
    run: async (files, caller, { dir, name }) => ({ dir: toWcc(await files.remove(caller, dir, toText(name))) }),
  },
  RMDIR: {
    failure: unknownChange,
    run: async (files, caller, { dir, name }) => ({ dir: toWcc(await files.removeDirectory(caller, dir, toText(name))) }),
  },
  RENAME: {
    failure: { from: noWcc, to: noWcc },
    async run(files, caller, { from, to }) {
      const changes = await files.rename(
        caller,
        { directory: from.dir, name: toText(from.name) },
        { directory: to.dir, name: toText(to.name) },
      );
      return { from: toWcc(changes.from), to: toWcc(changes.to) };
    },
  },
  LINK: { failure: { attributes: undefined, dir: noWcc }, run: () => notSupported("an object has one key") },
  READDIR: {
    failure: unknownDirectory,
    async run(files, caller, { dir, cookie, verifier, count }) {
      const page = await files.list(caller, dir, cookie, limitOf(count, plainEntry));
      const entries = page.entries.map(({ name, cookie: at, fileId }) => ({
        fileid: fileId,
        name: Buffer.from(name),
        cookie: at,
      }));
      const taken = fitting(entries, count, plainEntry);
      const eof = page.end && taken.length === entries.length;
      return { dir: toFattr(page.directory), verifier, entries: taken, eof };
    },
  },
  READDIRPLUS: {
    failure: unknownDirectory,
    async run(files, caller, { dir, cookie, verifier, maxCount }) {
      const page = await files.listFull(caller, dir, cookie, limitOf(maxCount, fullEntry));
      const entries = page.entries.map(({ name, cookie: at, fileId, attributes, handle }) => ({
        fileid: fileId,
        name: Buffer.from(name),
        cookie: at,
        attributes: toFattr(attributes),
        handle,
      }));
      const taken = fitting(entries, maxCount, fullEntry);
      const eof = page.end && taken.length === entries.length;
      return { dir: toFattr(page.directory), verifier, entries: taken, eof };
    },
  },
  FSSTAT: {
    failure: unknownFile,
    async run(files, caller, { handle }) {
      const { total, free, attributes } = await files.space(caller, handle);
      const [totalBytes, freeBytes, many] = [BigInt(total), BigInt(free), 1n << 40n];
      return {
        attributes: toFattr(attributes),
        totalBytes,
        freeBytes,
        availableBytes: freeBytes,
        totalFiles: many,
        freeFiles: many,
        availableFiles: many,
        invarSeconds: 0,
      };
    },
  },
  FSINFO: {
    failure: unknownFile,
    run: async (files, caller, { handle }) => ({
      attributes: toFattr(await files.attributes(caller, handle)),
      readMax: maxTransfer,
      readPreferred: maxTransfer,
      readMultiple: 4096,
      writeMax: maxTransfer,
      writePreferred: maxTransfer,
      writeMultiple: 4096,
      directoryPreferred: 1 << 15,
      maxFileSize: BigInt(files.maxFileSize),
      timeDelta: { seconds: 0, nanoseconds: 1_000_000 },
      // Symbolic links, the same PATHCONF everywhere, times may be set.
      properties: 0x2 | 0x8 | 0x10,
    }),
  },
  PATHCONF: {
    failure: unknownFile,
    run: async (files, caller, { handle }) => ({
      attributes: toFattr(await files.attributes(caller, handle)),
      linkMax: 1,
      nameMax: 255,
      noTrunc: true,
      chownRestricted: true,
      caseInsensitive: false,
      casePreserving: true,
    }),
  },
  COMMIT: {
    failure: { wcc: noWcc },
    async run(files, caller, { handle }) {
      const committed = await files.commit(caller, handle);
      return { wcc: toWcc(committed), verifier: committed.verifier };
    },
  },
};

function madeFile({ handle, attributes, directory }: Awaited<ReturnType<FileService["create"]>>): Ok<"CREATE"> {
  return { handle, attributes: toFattr(attributes), dir: toWcc(directory) };
}

function notSupported(message: string): Promise<never> {
  return Promise.reject(fileError("ENOTSUP", message));
}

/** How many entries a reply of so many bytes can hold at the most, one more than fit at the least. */
function limitOf(count: number, entry: number): number {
  return Math.max(1, Math.ceil(Math.min(count, maxReply) / entry));
}

const maxReply = 1 << 16;

/** The entries that a reply of `count` bytes holds. Two that share a cookie are not parted. Throws `ETOOSMALL` when there is no room for any. */
function fitting<E extends { readonly name: Uint8Array; readonly cookie: bigint }>(
  entries: readonly E[],
  count: number,
  each: number,
): readonly E[] {
  let size = around;
  let taken = 0;
  for (const { name } of entries) {
    size += each + Math.ceil(name.length / 4) * 4;
    if (size > Math.min(count, maxReply)) break;
    taken += 1;
  }
  while (taken > 0 && taken < entries.length && entries[taken]?.cookie === entries[taken - 1]?.cookie) taken -= 1;
  if (taken === 0 && entries.length > 0) throw fileError("ETOOSMALL", "no entry fits into the reply");
  return entries.slice(0, taken);
}
