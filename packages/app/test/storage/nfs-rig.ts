import { openLogger } from "@seneschal/adapters/logging";
import { type NfsClient, nfsStatus, openNfsClient, serveNfs } from "@seneschal/server-nfs";
import { openNfs } from "../../src/storage/files/open-nfs.ts";
import { nfsSettings } from "../../src/storage/files/settings.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { bytesOf, collect, openRig, type Rig, type RigOptions, storageAuthorisation } from "./rig.ts";

export const user = { uid: 1000, gid: 1000 };
export const root = { uid: 0, gid: 0 };

/** What an export of a test has when nothing else is said. */
const exported = {
  path: "/data",
  tenant: "alpha",
  bucket: "bucket",
  clients: ["127.0.0.1"],
  read_only: false,
  uid: 1000,
  gid: 1000,
};

export interface NfsRig {
  readonly rig: Rig;
  readonly port: number;
  client(who?: typeof user | undefined): Promise<NfsClient>;
  /** An object as S3 writes it, and its bytes as S3 reads them. */
  put(key: string, bytes: Uint8Array, bucket?: string): Promise<void>;
  get(key: string, bucket?: string): Promise<Buffer>;
  /** The same store, devices and exports under a new node and a new server, after a clean stop. */
  restart(): Promise<NfsRig>;
  /** The same without one: what was only in memory is gone. */
  crash(): Promise<NfsRig>;
  /** Ends the server, not the node. */
  leave(): Promise<void>;
  dispose(): Promise<void>;
}

/** A node with its exports on a loopback port: `/data` is the bucket `bucket` of tenant `alpha`, writable, owned by user 1000. */
export async function openNfsRig(
  options: RigOptions & {
    readonly exports?: readonly Record<string, unknown>[];
    readonly nfs?: Record<string, unknown>;
    readonly policy?: string;
    readonly rig?: Rig;
  } = {},
): Promise<NfsRig> {
  const rig = options.rig ?? (await openRig(options));
  const { objects } = rig.node;
  await createBucket(objects, "alpha", "bucket", "us-east-1");
  const config = nfsSettings.parse({
    port: 0,
    // A test says itself when something is to be durable.
    write_back_delay: "1h",
    ...options.nfs,
    exports: (options.exports ?? [{}]).map((one) => ({ ...exported, ...one })),
  });
  const server = await openNfs({
    config,
    node: rig.node,
    serveNfs,
    log: openLogger({ level: "silent" }),
    authorisation: await storageAuthorisation(options.policy),
  });
  const clients: NfsClient[] = [];
  const leave = async () => {
    for (const client of clients) client.close();
    await server.close();
  };
  return {
    rig,
    port: server.port,
    async client(who = user) {
      const client = await openNfsClient({ host: "127.0.0.1", port: server.port, user: who });
      clients.push(client);
      return client;
    },
    async put(key, bytes, bucket = "bucket") {
      const draft = { tenant: "alpha", bucket, key, contentType: "text/plain", headers: {}, meta: {} };
      await putObject(objects, { ...draft, body: bytesOf(bytes) });
    },
    async get(key, bucket = "bucket") {
      return collect(readObject(objects, await headObject(objects, "alpha", bucket, key)));
    },
    leave,
    async restart() {
      await leave();
      return openNfsRig({ ...options, rig: await rig.restart() });
    },
    async crash() {
      for (const client of clients) client.close();
      return openNfsRig({ ...options, rig: await rig.restart() });
    },
    async dispose() {
      await leave();
      await rig.dispose();
    },
  };
}

/** The name of a status. */
export function statusName(status: number): string {
  return Object.entries(nfsStatus).find(([, number]) => number === status)?.[0] ?? String(status);
}

/** The value of a reply, or an error with the name of its status. */
export function okOf<R extends { readonly status: number }>(reply: R): R extends { readonly value: infer V } ? V : never {
  if (!("value" in reply)) throw new Error(statusName(reply.status));
  return reply["value"] as never;
}

/** A client that goes by paths, as a mounted one does. */
export function filesOf(client: NfsClient, mounted: Uint8Array) {
  const call: NfsClient["call"] = (procedure, args) => client.call(procedure, args);
  const walk = async (path: string): Promise<Uint8Array> => {
    let handle = mounted;
    for (const name of path.split("/").filter(Boolean))
      handle = Buffer.from(okOf(await call("LOOKUP", { dir: handle, name: Buffer.from(name) })).handle);
    return handle;
  };
  return {
    walk,
    async attributes(path: string) {
      return okOf(await call("GETATTR", { handle: await walk(path) })).attributes;
    },
    async read(path: string, offset = 0, count = 1 << 20) {
      const { data, eof } = okOf(await call("READ", { handle: await walk(path), offset: BigInt(offset), count }));
      return { data: Buffer.from(data), eof };
    },
    /** All names but `.` and `..`, by calls that give `count` bytes. */
    async list(path: string, count = 4096): Promise<string[]> {
      const dir = await walk(path);
      const names: string[] = [];
      let cookie = 0n;
      let verifier: Uint8Array = new Uint8Array(8);
      for (;;) {
        const page = okOf(await call("READDIRPLUS", { dir, cookie, verifier, dirCount: count, maxCount: count }));
        names.push(...page.entries.map(({ name }) => Buffer.from(name).toString()));
        if (page.eof) return names.filter((name) => name !== "." && name !== "..").sort();
        cookie = page.entries.at(-1)?.cookie ?? 0n;
        verifier = Buffer.from(page.verifier);
      }
    },
  };
}

/** A client that has mounted `/data`. */
export async function mountData(nfs: NfsRig, who?: typeof user, path = "/data") {
  const client = await nfs.client(who);
  const { status, handle } = await client.mount(path);
  if (handle === undefined) throw new Error(`not mounted: ${status}`);
  return { client, handle, ...filesOf(client, handle) };
}
