import { readFile } from "node:fs/promises";
import { type NfsClient, nfsStatus, openNfsClient } from "@seneschal/server-nfs";
import { Errno, type FuseRequest, mountFuse, run } from "./mount-fuse.ts";

/** How a directory comes to be an export: by the kernel's own client of NFSv3, or by FUSE over the client of the tests. */
export type MountKind = "kernel" | "fuse";

/** Mounts an export; throws what `mount` said where that is not allowed. Gives what unmounts it. */
export async function mountNfs(kind: MountKind, port: number, path: string, directory: string): Promise<() => Promise<void>> {
  if (kind === "fuse") return mountOverFuse(port, path, directory);
  const options = `vers=3,proto=tcp,mountproto=tcp,port=${port},mountport=${port},nolock,noac,addr=127.0.0.1`;
  await run("mount", ["-i", "-t", "nfs", "-o", options, `127.0.0.1:${path}`, directory]);
  return () => run("umount", ["-f", "-l", directory]);
}

const linux = { EPERM: 1, EACCES: 13, EINVAL: 22, ENAMETOOLONG: 36, ENOTEMPTY: 39, EOPNOTSUPP: 95, EREMOTEIO: 121, EDQUOT: 122 };
/** What the kernel's own client tells programs for a status (fs/nfs_common): most are the numbers that Linux has. */
const errnos: Readonly<Record<number, number>> = {
  [nfsStatus.ENAMETOOLONG]: linux.ENAMETOOLONG,
  [nfsStatus.ENOTEMPTY]: linux.ENOTEMPTY,
  [nfsStatus.EDQUOT]: linux.EDQUOT,
  [nfsStatus.ESTALE]: 116,
  [nfsStatus.EBADHANDLE]: 116,
  [nfsStatus.ENOTSUP]: linux.EOPNOTSUPP,
  [nfsStatus.ESERVERFAULT]: linux.EREMOTEIO,
  [nfsStatus.JUKEBOX]: 11,
};

const kinds: Readonly<Record<string, number>> = { REG: 0o100000, DIR: 0o040000, LNK: 0o120000 };
const [accessRead, accessLookup, accessModify, accessExtend, accessDelete, accessExecute] = [1, 2, 4, 8, 16, 32] as const;
const openExecute = 0x20;
const exclusive = 0o200;

type Attributes = Extract<Awaited<ReturnType<typeof attributesOf>>, object>;
async function attributesOf(client: NfsClient, handle: Uint8Array) {
  return okOf(await client.call("GETATTR", { handle })).attributes;
}

function okOf<R extends { readonly status: number }>(reply: R): R extends { readonly value: infer V } ? V : never {
  if (!("value" in reply)) throw new Errno(errnos[reply.status] ?? reply.status);
  return reply["value"] as never;
}

/**
 * A client of NFSv3 below the kernel's file system calls: every call is asked of the server, as the user who makes it, and nothing is kept but
 * handles. As the kernel's own client does, it asks ACCESS before it opens, commits when a file is closed, and gives a file that is removed while it
 * is open another name until it is closed.
 */
async function mountOverFuse(port: number, path: string, directory: string): Promise<() => Promise<void>> {
  const clients = new Map<string, Promise<NfsClient>>();
  const clientOf = async ({ uid, gid, pid }: FuseRequest): Promise<NfsClient> => {
    const gids = await groupsOf(pid);
    const key = JSON.stringify([uid, gid, gids]);
    const known = clients.get(key) ?? openNfsClient({ host: "127.0.0.1", port, user: { uid, gid, gids } });
    clients.set(key, known);
    return known;
  };
  const root = await openNfsClient({ host: "127.0.0.1", port, user: { uid: 0, gid: 0 } });
  const { handle: mounted, status } = await root.mount(path);
  if (mounted === undefined) throw new Error(`the server refused: ${status}`);
  /** Nodes by number, from 1, the root, on. */
  const handles: Uint8Array[] = [new Uint8Array(0), mounted];
  const nodes = new Map([[hex(mounted), 1n]]);
  const handleOf = (node: bigint): Uint8Array => {
    const handle = handles[Number(node)];
    if (handle === undefined) throw new Errno(116);
    return handle;
  };
  const nodeOf = (handle: Uint8Array): bigint => {
    const known = nodes.get(hex(handle));
    if (known !== undefined) return known;
    const node = BigInt(handles.push(Buffer.from(handle)) - 1);
    nodes.set(hex(handle), node);
    return node;
  };
  /** Open files by number, with the client of who opened them. */
  const files = new Map<bigint, { readonly client: NfsClient; readonly node: bigint; written: boolean }>();
  let opened = 0n;
  const openFile = (client: NfsClient, node: bigint): Buffer => {
    opened += 1n;
    files.set(opened, { client, node, written: false });
    const out = Buffer.alloc(16);
    out.writeBigUInt64LE(opened, 0);
    return out;
  };
  const fileOf = (fh: bigint) => {
    const file = files.get(fh);
    if (file === undefined) throw new Errno(9);
    return file;
  };
  /** Names of files that were removed while they were open. */
  const hidden = new Map<bigint, { readonly client: NfsClient; readonly dir: Uint8Array; readonly name: Buffer }>();
  const hide = async (client: NfsClient, dir: Uint8Array, name: Buffer): Promise<boolean> => {
    if (files.size === 0) return false;
    const found = await client.call("LOOKUP", { dir, name });
    const node = "value" in found ? nodes.get(hex(found.value.handle)) : undefined;
    if (node === undefined || ![...files.values()].some((file) => file.node === node)) return false;
    const other = Buffer.from(`.nfs${hex(handleOf(node)).slice(-32)}`);
    okOf(await client.call("RENAME", { from: { dir, name }, to: { dir, name: other } }));
    hidden.set(node, { client, dir, name: other });
    return true;
  };
  const entry = async (
    client: NfsClient,
    handle: Uint8Array | undefined,
    attributes: Attributes | undefined,
  ): Promise<Buffer> => {
    if (handle === undefined) throw new Errno(5);
    const node = nodeOf(handle);
    const out = Buffer.alloc(40);
    out.writeBigUInt64LE(node, 0);
    return Buffer.concat([out, attributeBytes(attributes ?? (await attributesOf(client, handle)))]);
  };
  const attributeReply = (attributes: Attributes): Buffer => Buffer.concat([Buffer.alloc(16), attributeBytes(attributes)]);
  const demand = async (client: NfsClient, handle: Uint8Array, access: number): Promise<void> => {
    if (access === 0) return;
    const granted = okOf(await client.call("ACCESS", { handle, access })).access;
    if ((granted & access) !== access) throw new Errno(linux.EACCES);
  };
  const keep = { kind: "DONT_CHANGE", value: undefined } as const;
  const unset = { mode: undefined, uid: undefined, gid: undefined, size: undefined, atime: keep, mtime: keep };
  const create = async (client: NfsClient, node: bigint, name: Buffer, mode: number, once: boolean) =>
    okOf(
      await client.call("CREATE", {
        where: { dir: handleOf(node), name },
        how: { kind: once ? "GUARDED" : "UNCHECKED", value: { ...unset, mode: mode & 0o7777 } },
      }),
    );
  const commit = async (fh: bigint): Promise<Buffer> => {
    const file = fileOf(fh);
    if (file.written) okOf(await file.client.call("COMMIT", { handle: handleOf(file.node), offset: 0n, count: 0 }));
    file.written = false;
    return nothing;
  };
  const rename = async (client: NfsClient, node: bigint, to: bigint, names: readonly Buffer[]): Promise<Buffer> => {
    const [from, into] = [
      { dir: handleOf(node), name: names[0] as Buffer },
      { dir: handleOf(to), name: names[1] as Buffer },
    ];
    const [source, target] = await Promise.all([client.call("LOOKUP", from), client.call("LOOKUP", into)]);
    const other = "value" in source && "value" in target && hex(source.value.handle) !== hex(target.value.handle);
    if (other && "value" in target && target.value.attributes?.type === "REG") await hide(client, into.dir, into.name);
    okOf(await client.call("RENAME", { from, to: into }));
    return nothing;
  };

  const calls: Readonly<Record<number, (client: NfsClient, request: FuseRequest) => Promise<Uint8Array>>> = {
    // LOOKUP
    async 1(client, { node, body }) {
      const { handle, attributes } = okOf(await client.call("LOOKUP", { dir: handleOf(node), name: namesIn(body)[0] as Buffer }));
      return entry(client, handle, attributes);
    },
    // GETATTR
    3: async (client, { node }) => attributeReply(await attributesOf(client, handleOf(node))),
    // SETATTR
    async 4(client, { node, body }) {
      const valid = body.readUInt32LE(0);
      const given = <T>(bit: number, value: T): T | undefined => ((valid & bit) === 0 ? undefined : value);
      const time = (bit: number, now: number, seconds: number, nanoseconds: number) => {
        if ((valid & now) !== 0) return { kind: "SET_TO_SERVER_TIME", value: undefined } as const;
        if ((valid & bit) === 0) return keep;
        // Times of NFSv3 are of 32 bits without a sign.
        const value = {
          seconds: Number(BigInt.asUintN(32, body.readBigUInt64LE(seconds))),
          nanoseconds: body.readUInt32LE(nanoseconds),
        };
        return { kind: "SET_TO_CLIENT_TIME", value } as const;
      };
      const attributes = {
        mode: given(1, body.readUInt32LE(68) & 0o7777),
        uid: given(2, body.readUInt32LE(76)),
        gid: given(4, body.readUInt32LE(80)),
        size: given(8, body.readBigUInt64LE(16)),
        atime: time(16, 128, 32, 56),
        mtime: time(32, 256, 40, 60),
      };
      const handle = handleOf(node);
      const by = (valid & 64) === 0 ? client : fileOf(body.readBigUInt64LE(8)).client;
      okOf(await by.call("SETATTR", { handle, attributes, guard: undefined }));
      return attributeReply(await attributesOf(client, handle));
    },
    // READLINK
    5: async (client, { node }) => okOf(await client.call("READLINK", { handle: handleOf(node) })).target,
    // SYMLINK
    async 6(client, { node, body }) {
      const [name, target] = namesIn(body) as [Buffer, Buffer];
      const made = await client.call("SYMLINK", {
        where: { dir: handleOf(node), name },
        attributes: { ...unset, mode: 0o777 },
        target,
      });
      const { handle, attributes } = okOf(made);
      return entry(client, handle, attributes);
    },
    // MKNOD
    async 8(client, { node, body }) {
      const [mode, device] = [body.readUInt32LE(0), body.readUInt32LE(4)];
      const name = namesIn(body.subarray(16))[0] as Buffer;
      if ((mode & 0o170000) === kinds["REG"]) {
        const { handle, attributes } = await create(client, node, name, mode, true);
        return entry(client, handle, attributes);
      }
      const own = { ...unset, mode: mode & 0o7777 };
      const numbers = { attributes: own, spec: { major: (device >> 8) & 0xfff, minor: device & 0xff } };
      const kind = { [0o010000]: "FIFO", [0o140000]: "SOCK", [0o020000]: "CHR", [0o060000]: "BLK" }[mode & 0o170000];
      const what =
        kind === "CHR" || kind === "BLK" ? { kind, value: numbers } : { kind: kind === "FIFO" ? kind : "SOCK", value: own };
      const { handle, attributes } = okOf(
        await client.call("MKNOD", { where: { dir: handleOf(node), name }, what: what as never }),
      );
      return entry(client, handle, attributes);
    },
    // MKDIR
    async 9(client, { node, body }) {
      const where = { dir: handleOf(node), name: namesIn(body.subarray(8))[0] as Buffer };
      const made = await client.call("MKDIR", { where, attributes: { ...unset, mode: body.readUInt32LE(0) & 0o7777 } });
      const { handle, attributes } = okOf(made);
      return entry(client, handle, attributes);
    },
    // UNLINK
    async 10(client, { node, body }) {
      const [dir, name] = [handleOf(node), namesIn(body)[0] as Buffer];
      if (!(await hide(client, dir, name))) okOf(await client.call("REMOVE", { dir, name }));
      return nothing;
    },
    // RMDIR
    async 11(client, { node, body }) {
      okOf(await client.call("RMDIR", { dir: handleOf(node), name: namesIn(body)[0] as Buffer }));
      return nothing;
    },
    // RENAME
    12: (client, { node, body }) => rename(client, node, body.readBigUInt64LE(0), namesIn(body.subarray(8))),
    // LINK
    async 13(client, { node, body }) {
      const handle = handleOf(body.readBigUInt64LE(0));
      const to = { dir: handleOf(node), name: namesIn(body.subarray(8))[0] as Buffer };
      const { attributes } = okOf(await client.call("LINK", { handle, to }));
      return entry(client, handle, attributes);
    },
    // OPEN
    async 14(client, { node, body }) {
      const flags = body.readUInt32LE(0);
      const mode = flags & 3;
      const read = (flags & openExecute) !== 0 ? accessExecute : mode === 1 ? 0 : accessRead;
      await demand(client, handleOf(node), read | (mode === 0 ? 0 : accessModify | accessExtend));
      return openFile(client, node);
    },
    // READ
    async 15(_, { body }) {
      const { client, node } = fileOf(body.readBigUInt64LE(0));
      const offset = body.readBigUInt64LE(8);
      return okOf(await client.call("READ", { handle: handleOf(node), offset, count: body.readUInt32LE(16) })).data;
    },
    // WRITE
    async 16(_, { body }) {
      const file = fileOf(body.readBigUInt64LE(0));
      const [offset, count] = [body.readBigUInt64LE(8), body.readUInt32LE(16)];
      const data = body.subarray(40, 40 + count);
      const written = await file.client.call("WRITE", { handle: handleOf(file.node), offset, count, stable: "UNSTABLE", data });
      file.written = true;
      const out = Buffer.alloc(8);
      out.writeUInt32LE(okOf(written).count, 0);
      return out;
    },
    // STATFS
    async 17(client, { node }) {
      const { totalBytes, freeBytes, availableBytes, totalFiles, freeFiles } = okOf(
        await client.call("FSSTAT", { handle: handleOf(node) }),
      );
      const { nameMax } = okOf(await client.call("PATHCONF", { handle: handleOf(node) }));
      const out = Buffer.alloc(80);
      [totalBytes / 4096n, freeBytes / 4096n, availableBytes / 4096n, totalFiles, freeFiles].forEach((n, i) => {
        out.writeBigUInt64LE(n, i * 8);
      });
      out.writeUInt32LE(4096, 40);
      out.writeUInt32LE(nameMax, 44);
      out.writeUInt32LE(4096, 48);
      return out;
    },
    // RELEASE
    async 18(_, { body }) {
      const fh = body.readBigUInt64LE(0);
      const { node } = fileOf(fh);
      await commit(fh);
      files.delete(fh);
      const gone = [...files.values()].some((file) => file.node === node) ? undefined : hidden.get(node);
      hidden.delete(node);
      if (gone !== undefined) okOf(await gone.client.call("REMOVE", { dir: gone.dir, name: gone.name }));
      return nothing;
    },
    // FSYNC, FLUSH
    20: (_, { body }) => commit(body.readBigUInt64LE(0)),
    25: (_, { body }) => commit(body.readBigUInt64LE(0)),
    // OPENDIR, RELEASEDIR, FSYNCDIR
    async 27(client, { node }) {
      await demand(client, handleOf(node), accessRead);
      return Buffer.alloc(16);
    },
    29: async () => nothing,
    30: async () => nothing,
    // READDIR
    async 28(client, { node, body }) {
      const size = body.readUInt32LE(16);
      const list = { dir: handleOf(node), cookie: body.readBigUInt64LE(8), verifier: new Uint8Array(8), count: size };
      const out: Buffer[] = [];
      let bytes = 0;
      for (const { fileid, name, cookie } of okOf(await client.call("READDIR", list)).entries) {
        const one = Buffer.alloc(24 + Math.ceil(name.length / 8) * 8);
        one.writeBigUInt64LE(fileid, 0);
        one.writeBigUInt64LE(cookie, 8);
        one.writeUInt32LE(name.length, 16);
        one.set(name, 24);
        bytes += one.length;
        if (bytes > size) break;
        out.push(one);
      }
      return Buffer.concat(out);
    },
    // ACCESS
    async 34(client, { node, body }) {
      const mask = body.readUInt32LE(0);
      const handle = handleOf(node);
      const isDirectory = (await attributesOf(client, handle)).type === "DIR";
      const write = accessModify | accessExtend | (isDirectory ? accessDelete : 0);
      const execute = isDirectory ? accessLookup : accessExecute;
      await demand(client, handle, (mask & 4 ? accessRead : 0) | (mask & 2 ? write : 0) | (mask & 1 ? execute : 0));
      return nothing;
    },
    // CREATE
    async 35(client, { node, body }) {
      const once = (body.readUInt32LE(0) & exclusive) !== 0;
      const made = await create(client, node, namesIn(body.subarray(16))[0] as Buffer, body.readUInt32LE(4), once);
      const found = await entry(client, made.handle, made.attributes);
      return Buffer.concat([found, openFile(client, found.readBigUInt64LE(0))]);
    },
    // RENAME2
    45(client, { node, body }) {
      if (body.readUInt32LE(8) !== 0) return Promise.reject(new Errno(linux.EINVAL));
      return rename(client, node, body.readBigUInt64LE(0), namesIn(body.subarray(16)));
    },
  };
  const unmount = await mountFuse(directory, (request) => {
    const call = calls[request.opcode];
    return call && clientOf(request).then((client) => call(client, request));
  });
  return async () => {
    await unmount();
    root.close();
    for (const client of clients.values()) (await client).close();
  };
}

const nothing = Buffer.alloc(0);

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** Names that end with a zero byte each. */
function namesIn(bytes: Buffer): Buffer[] {
  const names: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0, from);
    names.push(bytes.subarray(from, end));
    from = end + 1;
  }
  return names;
}

/** The other groups of a thread, of which a call carries 16 at the most. */
async function groupsOf(pid: number): Promise<readonly number[]> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const groups = /^Groups:(.*)$/m.exec(status)?.[1]?.trim() ?? "";
  return groups === "" ? [] : groups.split(/\s+/).map(Number).slice(0, 16);
}

function attributeBytes({ fileid, size, used, atime, mtime, ctime, type, mode, nlink, uid, gid, rdev }: Attributes): Buffer {
  const out = Buffer.alloc(88);
  [fileid, size, (used + 511n) / 512n, BigInt(atime.seconds), BigInt(mtime.seconds), BigInt(ctime.seconds)].forEach((n, i) => {
    out.writeBigUInt64LE(n, i * 8);
  });
  const device = (rdev.major << 8) | rdev.minor;
  const words = [
    atime.nanoseconds,
    mtime.nanoseconds,
    ctime.nanoseconds,
    (kinds[type] ?? 0) | mode,
    nlink,
    uid,
    gid,
    device,
    4096,
  ];
  words.forEach((n, i) => {
    out.writeUInt32LE(n, 48 + i * 4);
  });
  return out;
}
