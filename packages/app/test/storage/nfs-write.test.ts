import { afterEach, expect, test } from "vitest";
import { chunkPage } from "../../src/storage/jobs/chunk-pages.ts";
import { collectGarbage } from "../../src/storage/jobs/collect-garbage.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { customerEncryption } from "../../src/storage/objects/customer-key.ts";
import { listVersions } from "../../src/storage/objects/list-keys.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { mountData, type NfsRig, okOf, openNfsRig, root, statusName } from "./nfs-rig.ts";
import { bytesOf, collect, operator, pattern } from "./rig.ts";

let nfs: NfsRig;
afterEach(() => nfs.dispose());

const untouched = { kind: "DONT_CHANGE", value: undefined } as const;
const nothing = { mode: undefined, uid: undefined, gid: undefined, size: undefined, atime: untouched, mtime: untouched };

/** The calls of a test by path. */
async function open(who?: Parameters<typeof mountData>[1], path?: string) {
  const files = await mountData(nfs, who, path);
  const { client, walk } = files;
  const split = async (it: string) => {
    const at = it.lastIndexOf("/");
    return { dir: await walk(it.slice(0, Math.max(at, 0))), name: Buffer.from(it.slice(at + 1)) };
  };
  const status = async (reply: Promise<{ readonly status: number }>) => statusName((await reply).status);
  return {
    ...files,
    split,
    status,
    create: async (it: string, mode = 0o644) =>
      okOf(await client.call("CREATE", { where: await split(it), how: { kind: "UNCHECKED", value: { ...nothing, mode } } }))
        .handle as Uint8Array,
    write: async (handle: Uint8Array, offset: number, data: Uint8Array, stable: "UNSTABLE" | "FILE_SYNC" = "UNSTABLE") =>
      client.call("WRITE", { handle, offset: BigInt(offset), count: data.length, stable, data }),
    commit: async (handle: Uint8Array) => client.call("COMMIT", { handle, offset: 0n, count: 0 }),
    mkdir: async (it: string) => status(client.call("MKDIR", { where: await split(it), attributes: nothing })),
    remove: async (it: string) => status(client.call("REMOVE", await split(it))),
    rename: async (from: string, to: string) => status(client.call("RENAME", { from: await split(from), to: await split(to) })),
  };
}

test("an object is seen by S3 after COMMIT or a synchronous write, at once by NFS, and not before by S3", async () => {
  nfs = await openNfsRig();
  const files = await open();
  const handle = Buffer.from(await files.create("f"));
  const bytes = pattern(9_000_000);
  for (let at = 0; at < bytes.length; at += 1 << 20) okOf(await files.write(handle, at, bytes.subarray(at, at + (1 << 20))));
  expect((await nfs.get("f")).length).toBe(0);
  expect((await files.read("f", 8_999_000)).data.equals(Buffer.from(bytes.subarray(8_999_000)))).toBe(true);
  okOf(await files.commit(handle));
  expect((await nfs.get("f")).equals(Buffer.from(bytes))).toBe(true);
  okOf(await files.write(handle, 4_194_300, Buffer.from("across two chunks"), "FILE_SYNC"));
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).set(Buffer.from("across two chunks"), 4_194_300);
  await collectGarbage(nfs.rig.node.parts);
  expect((await nfs.get("f")).equals(Buffer.from(bytes))).toBe(true);
});

test("a crash loses nothing that COMMIT acknowledged; the verifier tells that the rest is to be written again", async () => {
  nfs = await openNfsRig();
  let files = await open();
  const handle = Buffer.from(await files.create("f"));
  okOf(await files.write(handle, 0, pattern(100_000)));
  const { verifier } = okOf(await files.commit(handle));
  const kept = Buffer.from(verifier);
  expect(Buffer.from(okOf(await files.write(handle, 0, Buffer.from("lost"))).verifier).equals(kept)).toBe(true);
  nfs = await nfs.crash();
  files = await open();
  expect((await files.read("f")).data.equals(Buffer.from(pattern(100_000)))).toBe(true);
  expect(Buffer.from(okOf(await files.commit(handle)).verifier).equals(kept)).toBe(false);
});

test("a file that S3 replaced or deletes meanwhile: what was written goes over what is there, or is stale", async () => {
  nfs = await openNfsRig();
  const files = await open();
  const handle = Buffer.from(await files.create("f"));
  okOf(await files.write(handle, 0, Buffer.from("nfs")));
  await nfs.put("f", Buffer.from("from S3, longer"));
  okOf(await files.commit(handle));
  expect(String(await nfs.get("f"))).toBe("nfsm S3, longer");
  okOf(await files.write(handle, 0, Buffer.from("never seen")));
  const { deleteObject } = await import("../../src/storage/objects/delete-object.ts");
  await deleteObject(nfs.rig.node.objects, "alpha", "bucket", "f");
  expect(statusName((await files.commit(handle)).status)).toBe("ESTALE");
  await nfs.put("f", Buffer.from("again"));
  expect(statusName((await files.client.call("GETATTR", { handle })).status)).toBe("ESTALE");
  // Put again before anybody asked.
  const next = Buffer.from(await files.walk("f"));
  expect(next.equals(handle)).toBe(false);
  await deleteObject(nfs.rig.node.objects, "alpha", "bucket", "f");
  await nfs.put("f", Buffer.from("once more"));
  expect(okOf(await files.client.call("GETATTR", { handle: next })).attributes.size).toBe(9n);
});

test("ENOSPC: a write that the pool has no room for, when it is to be durable; the file has what it had", async () => {
  nfs = await openNfsRig({ devices: 3, data: 2, parity: 1, capacityBytes: 200_000 });
  const files = await open();
  const handle = Buffer.from(await files.create("f"));
  okOf(await files.write(handle, 0, pattern(50_000), "FILE_SYNC"));
  expect(statusName((await files.write(handle, 0, pattern(900_000, 2), "FILE_SYNC")).status)).toBe("ENOSPC");
  expect((await nfs.get("f")).equals(Buffer.from(pattern(50_000)))).toBe(true);
});

test("EIO: the key manager does not answer; and the write goes through once it does", async () => {
  nfs = await openNfsRig();
  const files = await open();
  const handle = Buffer.from(await files.create("f"));
  okOf(await files.write(handle, 0, Buffer.from("bytes")));
  nfs.rig.vault.away = true;
  nfs.rig.clock.advance(2000);
  expect(statusName((await files.commit(handle)).status)).toBe("EIO");
  nfs.rig.vault.away = false;
  nfs.rig.clock.advance(2000);
  okOf(await files.commit(handle));
  expect(String(await nfs.get("f"))).toBe("bytes");
});

test("JUKEBOX: in maintenance writes wait, reads work", async () => {
  nfs = await openNfsRig();
  const files = await open();
  const handle = Buffer.from(await files.create("f"));
  okOf(await files.write(handle, 0, Buffer.from("bytes"), "FILE_SYNC"));
  await nfs.rig.node.cluster.propose({ kind: "maintenance.set", enabled: true }, operator);
  expect(statusName((await files.write(handle, 0, Buffer.from("other"), "FILE_SYNC")).status)).toBe("JUKEBOX");
  expect(await files.mkdir("d")).toBe("JUKEBOX");
  expect(await files.rename("f", "g")).toBe("JUKEBOX");
});

test("EXDEV: a rename over exports, of a directory of more keys than one commit takes, or of one in a bucket with versions", async () => {
  nfs = await openNfsRig({ exports: [{}, { path: "/other" }] });
  const files = await open();
  const { client, handle } = await open(undefined, "/other");
  await files.create("f");
  const name = Buffer.from("f");
  const over = await client.call("RENAME", { from: { dir: files.handle, name }, to: { dir: handle, name } });
  expect(statusName(over.status)).toBe("EXDEV");
  const { store } = nfs.rig;
  await files.mkdir("many");
  await nfs.put("many/0", Buffer.from("x"));
  const { objectId } = await import("../../src/storage/objects/object-id.ts");
  const doc = (await store.get("storage_objects", objectId("bucket", "many/0")))!.doc;
  const puts = Array.from({ length: 1000 }, (_, i) => ({
    coll: "storage_objects",
    id: objectId("bucket", `many/x${i}`),
    doc: { ...doc, key: `many/x${i}` },
  }));
  await store.commit({ commitId: "many", puts });
  expect(await files.rename("many", "few")).toBe("EXDEV");
  expect((await files.list("many", 65_536)).length).toBe(1001);
});

test("ENOTSUP: links and devices", async () => {
  nfs = await openNfsRig();
  const files = await open();
  const handle = Buffer.from(await files.create("f"));
  expect(await files.status(files.client.call("LINK", { handle, to: await files.split("g") }))).toBe("ENOTSUP");
  const where = await files.split("pipe");
  expect(await files.status(files.client.call("MKNOD", { where, what: { kind: "FIFO", value: nothing } }))).toBe("ENOTSUP");
});

test("EACCES: an object under a key that its client keeps is neither read nor written by who has not got it", async () => {
  nfs = await openNfsRig();
  const files = await open();
  const { objects, context } = nfs.rig.node;
  const customerKey = pattern(32, 5);
  const keep = async () => {
    const encryption = customerEncryption(customerKey, context.random);
    const draft = { tenant: "alpha", bucket: "bucket", key: "kept", contentType: "", headers: {}, meta: {} };
    await putObject(objects, { ...draft, body: bytesOf(Buffer.from("secret")), attributes: { encryption }, customerKey });
  };
  const secret = async (key: string) => {
    const found = await headObject(objects, "alpha", "bucket", key);
    return String(await collect(readObject(objects, found, 0, found.size, { customerKey })));
  };
  await keep();
  await expect(files.read("kept")).rejects.toThrow("EACCES");
  const handle = Buffer.from(await files.walk("kept"));
  const resize = (size: bigint) =>
    files.status(files.client.call("SETATTR", { handle, attributes: { ...nothing, size }, guard: undefined }));
  // Also what would leave none of the bytes that were there.
  for (const size of [0n, 3n, 99n]) expect(await resize(size)).toBe("EACCES");
  await expect(files.create("kept")).resolves.toBeDefined();
  for (const [offset, bytes] of [
    [1, "x"],
    [0, "plaintext"],
    [6, "behind"],
  ] as const)
    for (const stable of ["UNSTABLE", "FILE_SYNC"] as const)
      expect(await files.status(files.write(handle, offset, Buffer.from(bytes), stable))).toBe("EACCES");
  expect(await secret("kept")).toBe("secret");
  // Put there by S3 while something else waits to be durable.
  await nfs.put("kept", Buffer.from("open"));
  okOf(await files.write(handle, 0, Buffer.from("plaintext")));
  await keep();
  expect(await files.status(files.commit(handle))).toBe("EACCES");
  expect(await files.rename("kept", "moved")).toBe("OK");
  expect(await secret("moved")).toBe("secret");
});

test("EACCES: a tenant that was shredded reads and writes nothing", async () => {
  nfs = await openNfsRig();
  const files = await open();
  for (const [key, size] of [
    ["small", 10],
    ["large", 50_000],
  ] as const)
    await nfs.put(key, pattern(size));
  const [handle, waits] = [Buffer.from(await files.walk("small")), Buffer.from(await files.create("waits"))];
  okOf(await files.write(waits, 0, Buffer.from("written before")));
  await nfs.rig.node.tenants.shred("alpha", operator);
  for (const key of ["small", "large"]) await expect(files.read(key)).rejects.toThrow("EACCES");
  expect(await files.status(files.write(handle, 0, Buffer.from("x"), "FILE_SYNC"))).toBe("EACCES");
  expect(await files.status(files.commit(waits))).toBe("EACCES");
  await expect(files.create("new")).rejects.toThrow("EACCES");
});

test("EROFS: nothing is changed through an export that is read-only, which is what an export is unless it says otherwise", async () => {
  nfs = await openNfsRig({ exports: [{}, { path: "/ro", read_only: undefined }] });
  await (await open()).create("f");
  const files = await open(undefined, "/ro");
  const handle = await files.walk("f");
  expect(statusName((await files.write(handle, 0, Buffer.from("x"))).status)).toBe("EROFS");
  expect(statusName((await files.commit(handle)).status)).toBe("EROFS");
  expect(await files.mkdir("d")).toBe("EROFS");
  expect(await files.remove("f")).toBe("EROFS");
  expect(await files.rename("f", "g")).toBe("EROFS");
  const guard = undefined;
  expect(await files.status(files.client.call("SETATTR", { handle, attributes: { ...nothing, mode: 0 }, guard }))).toBe("EROFS");
  const { access } = okOf(await files.client.call("ACCESS", { handle, access: 63 }));
  expect(access).toBe(1);
});

test("modes, owners and times are kept with the file, over renames and restarts; who is not its owner sets none of them", async () => {
  nfs = await openNfsRig({ exports: [{ squash: "none" }] });
  let files = await open();
  const handle = Buffer.from(await files.create("f", 0o640));
  const mtime = { kind: "SET_TO_CLIENT_TIME", value: { seconds: 1_000_000_000, nanoseconds: 123_456_789 } } as const;
  const set = (who: typeof files, attributes: object) =>
    who.status(who.client.call("SETATTR", { handle, attributes: { ...nothing, ...attributes }, guard: undefined }));
  expect(await set(files, { mtime, mode: 0o600 })).toBe("OK");
  const other = await open({ uid: 7, gid: 7 });
  expect(await set(other, { mode: 0o777 })).toBe("EPERM");
  expect(await set(other, { size: 0n })).toBe("EACCES");
  expect(await set(files, { uid: 7 })).toBe("EPERM");
  expect(await set(await open(root), { gid: 44 })).toBe("OK");
  expect(await files.rename("f", "g")).toBe("OK");
  nfs = await nfs.restart();
  files = await open();
  const told = await files.attributes("g");
  expect(told).toMatchObject({ mode: 0o600, uid: 1000, gid: 44, mtime: mtime.value });
  okOf(await files.write(handle, 0, Buffer.from("x"), "FILE_SYNC"));
  expect((await files.attributes("g")).mtime.seconds).toBeGreaterThan(1_700_000_000);
});

test("a guard on the change time refuses what would overwrite another's change", async () => {
  nfs = await openNfsRig();
  const files = await open();
  const handle = Buffer.from(await files.create("f"));
  const { ctime } = await files.attributes("f");
  const chmod = (mode: number) =>
    files.status(files.client.call("SETATTR", { handle, attributes: { ...nothing, mode }, guard: ctime }));
  expect(await chmod(0o600)).toBe("OK");
  expect(await chmod(0o644)).toBe("ENOTSYNC");
});

test("an exclusive creation repeated by who made it finds its file, by another it is refused", async () => {
  nfs = await openNfsRig();
  const files = await open();
  const make = async (verifier: number) =>
    files.client.call("CREATE", { where: await files.split("f"), how: { kind: "EXCLUSIVE", value: Buffer.alloc(8, verifier) } });
  const first = okOf(await make(1));
  expect(Buffer.from(okOf(await make(1)).handle as Uint8Array).equals(Buffer.from(first.handle as Uint8Array))).toBe(true);
  expect(statusName((await make(2)).status)).toBe("EEXIST");
});

test("symbolic links and directories are objects that S3 sees, and files again where S3 says so", async () => {
  nfs = await openNfsRig();
  const files = await open();
  expect(await files.mkdir("d")).toBe("OK");
  const target = Buffer.from("../elsewhere");
  okOf(await files.client.call("SYMLINK", { where: await files.split("d/l"), attributes: nothing, target }));
  const handle = await files.walk("d/l");
  expect(String(Buffer.from(okOf(await files.client.call("READLINK", { handle })).target))).toBe("../elsewhere");
  const { objects } = nfs.rig.node;
  expect((await headObject(objects, "alpha", "bucket", "d/l")).content_type).toBe("inode/symlink");
  expect((await headObject(objects, "alpha", "bucket", "d/")).content_type).toBe("application/x-directory");
  await nfs.put("d/l", Buffer.from("a file"));
  expect((await files.attributes("d/l")).type).toBe("REG");
});

test("a directory stays when its last entry goes, also one that S3 began", async () => {
  nfs = await openNfsRig();
  await nfs.put("d/only", Buffer.from("x"));
  const files = await open();
  expect(await files.remove("d/only")).toBe("OK");
  expect((await files.attributes("d")).type).toBe("DIR");
  expect(await files.list("d")).toEqual([]);
});

test("a bucket with versions keeps them all: what each COMMIT replaced, what was removed, what was renamed", async () => {
  nfs = await openNfsRig({ exports: [{ bucket: "kept" }] });
  await createBucket(nfs.rig.node.objects, "alpha", "kept", "us-east-1", { versioning: "Enabled" });
  const files = await open();
  const handle = Buffer.from(await files.create("f"));
  const bytes = pattern(5_000_000);
  for (let at = 0; at < bytes.length; at += 1 << 20) okOf(await files.write(handle, at, bytes.subarray(at, at + (1 << 20))));
  okOf(await files.commit(handle));
  okOf(await files.write(handle, 10, Buffer.from("changed"), "FILE_SYNC"));
  expect(await files.rename("f", "g")).toBe("OK");
  expect(await files.remove("g")).toBe("OK");
  await collectGarbage(nfs.rig.node.parts);
  const query = { bucket: "kept", prefix: "", delimiter: "", after: "", limit: 100 };
  const { items } = await listVersions(nfs.rig.node.objects, query);
  expect(items.map(({ key, delete_marker, size }) => [key, delete_marker === true, size])).toEqual([
    ["f", true, 0],
    ["f", false, 5_000_000],
    ["f", false, 5_000_000],
    ["f", false, 0],
    ["g", true, 0],
    ["g", false, 5_000_000],
  ]);
  const { readObject } = await import("../../src/storage/objects/read-object.ts");
  const { collect } = await import("./rig.ts");
  const first = items[2]!;
  expect((await collect(readObject(nfs.rig.node.objects, first))).equals(Buffer.from(pattern(5_000_000)))).toBe(true);
  const last = await collect(readObject(nfs.rig.node.objects, items[5]!));
  expect(String(last.subarray(10, 17))).toBe("changed");
});

test("a file that is renamed is a new version, which its bucket keeps as long as every other new one", async () => {
  nfs = await openNfsRig({ exports: [{ bucket: "kept" }] });
  const kept = { mode: "COMPLIANCE", unit: "days", count: 2 } as const;
  const given = { versioning: "Enabled", object_lock: { default: kept } } as const;
  await createBucket(nfs.rig.node.objects, "alpha", "kept", "us-east-1", given);
  const files = await open();
  await files.create("f");
  nfs.rig.clock.set(nfs.rig.clock.now() + 86_400_000);
  expect(await files.rename("f", "g")).toBe("OK");
  const query = { bucket: "kept", prefix: "g", delimiter: "", after: "", limit: 100 };
  const [renamed] = (await listVersions(nfs.rig.node.objects, query)).items;
  expect(renamed?.retention).toEqual({ mode: "COMPLIANCE", until: nfs.rig.clock.now() + 2 * 86_400_000 });
});

test("more than may wait in memory is made durable at once", async () => {
  nfs = await openNfsRig({ nfs: { write_back_bytes: 4 << 20 } });
  const files = await open();
  const handle = Buffer.from(await files.create("f"));
  const half = pattern(1 << 20);
  const committed: string[] = [];
  for (let i = 0; i < 6; i++) committed.push(okOf(await files.write(handle, i * (4 << 20), half)).committed);
  expect(committed).toContain("FILE_SYNC");
  okOf(await files.commit(handle));
  expect((await nfs.get("f")).length).toBe(5 * (4 << 20) + (1 << 20));
});

test("a hole costs one chunk, however large it is: its pages are references, and go with the file", async () => {
  nfs = await openNfsRig();
  const files = await open();
  const { rig } = nfs;
  const handle = Buffer.from(await files.create("f"));
  const resize = (size: number) =>
    files.client.call("SETATTR", { handle, attributes: { ...nothing, size: BigInt(size) }, guard: undefined });
  const chunkWrites = async () => (await rig.node.metrics.chunkWrites.get()).values.reduce((sum, { value }) => sum + value, 0);
  /** References as they are counted, and as there are. */
  const references = async () => {
    const { body } = await headObject(rig.node.objects, "alpha", "bucket", "f");
    const there = new Map<string, number>();
    if (body.kind === "chunks") for (const { id } of body.chunks) there.set(id, (there.get(id) ?? 0) + 1);
    const { chunks } = await chunkPage(rig.store, undefined, 100);
    const counted = chunks.map(({ id, doc }): [string, number] => [id, doc.refs]);
    return { counted: counted.sort(), there: [...there].sort() };
  };
  const page = 4 << 20;
  expect(await files.status(resize(300 * page + 5))).toBe("OK");
  expect(await chunkWrites()).toBeLessThanOrEqual(2);
  let { counted, there } = await references();
  expect(counted).toEqual(there);
  okOf(await files.write(handle, 150 * page + 7, Buffer.from("here")));
  okOf(await files.commit(handle));
  expect((await files.read("f", 150 * page + 5, 8)).data).toEqual(Buffer.from("\0\0here\0\0"));
  expect(await files.status(resize(500 * page))).toBe("OK");
  expect(await chunkWrites()).toBeLessThanOrEqual(6);
  await collectGarbage(rig.node.parts);
  ({ counted, there } = await references());
  expect(counted).toEqual(there);
  expect((await files.read("f", 150 * page + 5, 8)).data).toEqual(Buffer.from("\0\0here\0\0"));
  expect((await files.read("f", 500 * page - 3, 8)).data).toEqual(Buffer.alloc(3));
  expect(await files.remove("f")).toBe("OK");
  rig.clock.advance(2 * 86_400_000);
  await collectGarbage(rig.node.parts);
  expect((await chunkPage(rig.store, undefined, 1)).chunks).toEqual([]);
});

test("a name on which keys are built is checked as POSIX has it", async () => {
  nfs = await openNfsRig();
  const files = await open();
  const make = async (name: Buffer) => {
    const how = { kind: "GUARDED", value: nothing } as const;
    return files.status(files.client.call("CREATE", { where: { dir: files.handle, name }, how }));
  };
  expect(await make(Buffer.alloc(256, "x"))).toBe("ENAMETOOLONG");
  expect(await make(Buffer.from("a/b"))).toBe("EINVAL");
  expect(await make(Buffer.from([0xff, 0xfe]))).toBe("EINVAL");
  expect(await make(Buffer.from(""))).toBe("EINVAL");
  expect(await make(Buffer.from(".."))).toBe("EEXIST");
  expect(await make(Buffer.alloc(255, "x"))).toBe("OK");
});
