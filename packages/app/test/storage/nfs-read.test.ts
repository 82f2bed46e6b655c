import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { filesOf, mountData, type NfsRig, okOf, openNfsRig, root, statusName, user } from "./nfs-rig.ts";
import { pattern } from "./rig.ts";

let nfs: NfsRig;
afterEach(() => nfs.dispose());

test("what S3 wrote is read by NFS bit for bit, whatever its size and wherever a read begins", async () => {
  nfs = await openNfsRig();
  const sizes = { empty: 0, inline: 100, chunk: 70_000, chunks: (4 << 20) + 12_345 };
  for (const [name, size] of Object.entries(sizes)) await nfs.put(`d/${name}`, pattern(size));
  const files = await mountData(nfs);
  for (const [name, size] of Object.entries(sizes)) {
    const expected = Buffer.from(pattern(size));
    expect(Number((await files.attributes(`d/${name}`)).size)).toBe(size);
    const pieces: Buffer[] = [];
    for (let at = 0; ; ) {
      const { data, eof } = await files.read(`d/${name}`, at, 777_777);
      pieces.push(data);
      at += data.length;
      if (eof) break;
    }
    expect(Buffer.concat(pieces).equals(expected), name).toBe(true);
    const middle = await files.read(`d/${name}`, Math.floor(size / 2), 10);
    expect(middle.data.equals(expected.subarray(Math.floor(size / 2), Math.floor(size / 2) + 10)), name).toBe(true);
    expect(await files.read(`d/${name}`, size + 5, 10)).toMatchObject({ eof: true, data: Buffer.alloc(0) });
  }
});

test("whatever path is mounted, it is a directory of the export or a refusal of its own, and never leads out of it", async () => {
  nfs = await openNfsRig();
  await nfs.put("d/e/f", pattern(10));
  const client = await nfs.client();
  const names = ["d", "e", "f", "x", ".", "..", "", "\0", "a".repeat(300)];
  const tails = names.flatMap((a) => names.flatMap((b) => ["", ...names].map((c) => [a, b, c].join("/"))));
  const mounted = new Set<string>();
  for (const path of tails.flatMap((tail) => [`/data/${tail}`, `/${tail}`])) {
    const { status, handle } = await client.mount(path);
    expect(["OK", "ENOENT", "EACCES", "ENOTDIR", "EINVAL", "ENAMETOOLONG"], JSON.stringify(path)).toContain(statusName(status));
    if (handle !== undefined) mounted.add(path.split("/").filter(Boolean).join("/"));
  }
  expect([...mounted].sort()).toEqual(["data", "data/d", "data/d/e"]);
});

test("directories are the prefixes of keys; keys that no file can have are not seen, and a directory hides an object of its name", async () => {
  nfs = await openNfsRig();
  const keys = [
    "a",
    "b/c",
    "b/d/e",
    "b/d/f",
    "b/d0",
    "b-x",
    "m/",
    "both",
    "both/x",
    "odd//x",
    "up/../x",
    "ü/ö",
    `${"n".repeat(255)}/z`,
  ];
  for (const key of [...keys, `${"n".repeat(256)}`]) await nfs.put(key, Buffer.from(key));
  const files = await mountData(nfs);
  expect(await files.list("/")).toEqual(["a", "b", "b-x", "both", "m", "n".repeat(255), "odd", "up", "ü"].sort());
  expect(await files.list("b")).toEqual(["c", "d", "d0"]);
  expect(await files.list("b/d")).toEqual(["e", "f"]);
  expect(await files.list("m")).toEqual([]);
  expect(await files.list("odd")).toEqual([]);
  expect(await files.list("ü")).toEqual(["ö"]);
  expect((await files.attributes("both")).type).toBe("DIR");
  expect((await files.attributes("a")).type).toBe("REG");
  await expect(files.attributes("nothing")).rejects.toThrow("ENOENT");
  await expect(files.attributes("a/x")).rejects.toThrow("ENOTDIR");
  const above = await files.client.call("LOOKUP", { dir: await files.walk("b/d"), name: Buffer.from("..") });
  expect(Buffer.from(okOf(above).handle).equals(Buffer.from(await files.walk("b")))).toBe(true);
});

test("a listing goes on behind its cookie, in pages of any size and after a restart, and tells the ids that lookups tell", async () => {
  nfs = await openNfsRig();
  const names = Array.from({ length: 120 }, (_, i) => `file-${i}`);
  for (const name of names) await nfs.put(`d/${name}`, Buffer.from(name));
  let files = await mountData(nfs);
  expect(await files.list("d", 1000)).toEqual([...names].sort());
  expect(await files.list("d", 65_536)).toEqual([...names].sort());
  const dir = await files.walk("d");
  const first = okOf(await files.client.call("READDIR", { dir, cookie: 0n, verifier: new Uint8Array(8), count: 2000 }));
  expect(first.eof).toBe(false);
  for (const { name, fileid } of first.entries.slice(2, 8))
    expect((await files.attributes(`d/${Buffer.from(name)}`)).fileid).toBe(fileid);
  const told = first.entries.map(({ name }) => String(Buffer.from(name)));
  const cookie = first.entries.at(-1)?.cookie ?? 0n;
  nfs = await nfs.restart();
  files = await mountData(nfs);
  const rest = okOf(await files.client.call("READDIR", { dir, cookie, verifier: Buffer.from(first.verifier), count: 65_536 }));
  expect(rest.eof).toBe(true);
  expect([...told, ...rest.entries.map(({ name }) => String(Buffer.from(name)))].sort()).toEqual([".", "..", ...names].sort());
  expect(new Set([...first.entries, ...rest.entries].map(({ cookie: at }) => at)).size).toBe(names.length + 2);
  const none = await files.client.call("READDIR", { dir, cookie: 0n, verifier: new Uint8Array(8), count: 60 });
  expect(statusName(none.status)).toBe("ETOOSMALL");
});

test("handles outlive restarts; one whose file or directory is gone is stale, and one that is none is bad", async () => {
  nfs = await openNfsRig();
  await nfs.put("d/f", Buffer.from("bytes"));
  await nfs.put("gone/f", Buffer.from("x"));
  let files = await mountData(nfs);
  const [dir, file] = [await files.walk("d"), await files.walk("d/f")];
  const [goneDir, gone] = [await files.walk("gone"), await files.walk("gone/f")];
  nfs = await nfs.restart();
  files = await mountData(nfs);
  expect(Buffer.from(await files.walk("d")).equals(Buffer.from(dir))).toBe(true);
  const { data } = okOf(await files.client.call("READ", { handle: file, offset: 0n, count: 100 }));
  expect(String(Buffer.from(data))).toBe("bytes");
  const { deleteObject } = await import("../../src/storage/objects/delete-object.ts");
  await deleteObject(nfs.rig.node.objects, "alpha", "bucket", "gone/f");
  for (const handle of [gone, goneDir])
    expect(statusName((await files.client.call("GETATTR", { handle })).status)).toBe("ESTALE");
  for (const handle of [new Uint8Array(0), new Uint8Array(26), Buffer.alloc(64, 1)])
    expect(statusName((await files.client.call("GETATTR", { handle })).status)).toBe("EBADHANDLE");
  const forged = Buffer.from(file);
  forged[17] = (forged[17] as number) ^ 1;
  expect(statusName((await files.client.call("GETATTR", { handle: forged })).status)).toBe("ESTALE");
});

test("ESTALE: a split of the shard makes the handles of its files stale, and a new look-up finds them", async () => {
  nfs = await openNfsRig();
  await nfs.put("f", Buffer.from("bytes"));
  const files = await mountData(nfs);
  const before = await files.walk("f");
  const { cluster } = nfs.rig.node;
  for (const { id } of [...cluster.state.shards])
    await cluster.propose({ kind: "shard.split", id }, { id: "test", source: "test" });
  expect(statusName((await files.client.call("READ", { handle: before, offset: 0n, count: 9 })).status)).toBe("ESTALE");
  expect(String((await files.read("f")).data)).toBe("bytes");
});

test("EIO: a file whose chunk is lost, and none of its bytes", async () => {
  nfs = await openNfsRig({ devices: 3, data: 2, parity: 1 });
  await nfs.put("f", pattern(50_000));
  const { removeExtent } = await import("./damage-extent.ts");
  for (const device of ["d0", "d1", "d2"]) for (const extent of await nfs.rig.extents(device)) await removeExtent(extent);
  const files = await mountData(nfs);
  await expect(files.read("f")).rejects.toThrow("EIO");
});

test("nothing is exported to who is not named: neither mounted nor looked at by a handle that somebody else got", async () => {
  nfs = await openNfsRig({
    exports: [{ path: "/all" }, { path: "/others", clients: ["10.0.0.0/8"] }],
  });
  await nfs.put("f", Buffer.from("x"));
  const client = await nfs.client();
  expect(await client.exports()).toEqual([{ path: "/all", groups: ["127.0.0.1"] }]);
  expect(statusName((await client.mount("/others")).status)).toBe("EACCES");
  expect(statusName((await client.mount("/nothing")).status)).toBe("EACCES");
  expect(statusName((await client.mount("")).status)).toBe("EACCES");
  await nfs.put("d/e/f", Buffer.from("x"));
  const below = await client.mount("/all/d/e");
  expect(await filesOf(client, below.handle as Uint8Array).list("/")).toEqual(["f"]);
  expect(statusName((await client.mount("/all/d/none")).status)).toBe("ENOENT");
  expect(statusName((await client.mount("/all/d/e/f")).status)).toBe("ENOTDIR");
  expect(statusName((await client.mount("/allx")).status)).toBe("EACCES");
  const { handle } = await client.mount("/all/");
  const other = Buffer.from(handle as Uint8Array);
  const { createHash } = await import("node:crypto");
  other.writeBigUInt64BE(createHash("sha256").update("/others").digest().readBigUInt64BE(0) >> 1n, 2);
  expect(statusName((await client.call("GETATTR", { handle: other })).status)).toBe("EACCES");
  other.writeBigUInt64BE(12345n, 2);
  expect(statusName((await client.call("GETATTR", { handle: other })).status)).toBe("ESTALE");
});

test("an export whose bucket is not there is ENOENT to who mounts it, and mounted once the bucket is made", async () => {
  nfs = await openNfsRig({ exports: [{ bucket: "later" }] });
  const client = await nfs.client();
  expect(statusName((await client.mount("/data")).status)).toBe("ENOENT");
  await createBucket(nfs.rig.node.objects, "alpha", "later", "us-east-1");
  expect(statusName((await client.mount("/data")).status)).toBe("OK");
});

test("without a credential nothing is answered but what tells nothing", async () => {
  nfs = await openNfsRig();
  const { openNfsClient } = await import("@seneschal/server-nfs");
  const client = await openNfsClient({ host: "127.0.0.1", port: nfs.port });
  expect(await client.call("NULL", undefined)).toBeUndefined();
  await expect(client.call("GETATTR", { handle: new Uint8Array(26) })).rejects.toThrow("AUTH_ERROR");
  await expect(client.mount("/data")).rejects.toThrow("AUTH_ERROR");
  client.close();
});

test("a policy in place of the shipped one decides about files too", async () => {
  nfs = await openNfsRig({ policy: 'package storage.authz\ndefault allow := false\nreason := "closed"' });
  const client = await nfs.client();
  expect(statusName((await client.mount("/data")).status)).toBe("EACCES");
});

test("modes hold: of the owner, of others, and root is nobody unless the export says otherwise", async () => {
  const open = { uid: 0, gid: 0, file_mode: "0600", directory_mode: "0700" };
  nfs = await openNfsRig({ exports: [{ ...open }, { ...open, path: "/trusting", squash: "none" }] });
  await nfs.put("f", Buffer.from("secret"));
  for (const who of [user, root]) await expect((await mountData(nfs, who)).walk("f")).rejects.toThrow("EACCES");
  const client = await nfs.client(root);
  const { handle } = await client.mount("/trusting");
  expect(String((await filesOf(client, handle as Uint8Array).read("f")).data)).toBe("secret");
  const other = await nfs.client({ uid: 5, gid: 5 });
  await expect(filesOf(other, handle as Uint8Array).read("f")).rejects.toThrow("EACCES");
});

test("bytes that are no records, or no calls, end their own connection and no other", async () => {
  nfs = await openNfsRig();
  const files = await mountData(nfs);
  for (const bytes of [Buffer.from("GET / HTTP/1.1\r\n\r\n"), Buffer.from("800000040000000100", "hex"), Buffer.alloc(8, 255)]) {
    const socket = connect({ host: "127.0.0.1", port: nfs.port });
    socket.on("error", () => undefined);
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.write(bytes);
    await closed;
  }
  expect(await files.list("/")).toEqual([]);
});

test("programs, versions, procedures and arguments that are not known are answered as RFC 5531 has it", async () => {
  nfs = await openNfsRig();
  const socket = connect({ host: "127.0.0.1", port: nfs.port });
  const words = (...numbers: number[]) => Buffer.concat(numbers.map((n) => Buffer.from(n.toString(16).padStart(8, "0"), "hex")));
  const ask = async (...call: number[]): Promise<string> => {
    const body = words(7, 0, ...call);
    socket.write(Buffer.concat([words((0x80000000 | body.length) >>> 0), body]));
    const reply: Buffer = await new Promise((resolve) => socket.once("data", resolve));
    return reply.subarray(12).toString("hex");
  };
  const none = [0, 0, 0, 0];
  expect(await ask(3, 100003, 3, 0, ...none)).toBe(words(1, 0, 2, 2).toString("hex"));
  expect(await ask(2, 100227, 3, 0, ...none)).toBe(words(0, 0, 0, 1).toString("hex"));
  expect(await ask(2, 100003, 4, 0, ...none)).toBe(words(0, 0, 0, 2, 3, 3).toString("hex"));
  expect(await ask(2, 100003, 3, 99, ...none)).toBe(words(0, 0, 0, 3).toString("hex"));
  expect(await ask(2, 100003, 3, 1, ...none)).toBe(words(1, 1, 5).toString("hex"));
  expect(await ask(2, 100003, 3, 1, 1, 4, 0, 0, 0)).toBe(words(1, 1, 1).toString("hex"));
  expect(await ask(2, 100003, 3, 1, 1, 20, 0, 0, 1, 1, 0, 0, 0, 99)).toBe(words(0, 0, 0, 4).toString("hex"));
  socket.destroy();
});
