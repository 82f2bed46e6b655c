/** A process that writes one large object or file from its beginning to its end, then reads it so, and reports the rate of both: by S3, or by NFS with a few calls in flight, as kernels have. */
import { createHash, randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import { nfsStatus, openNfsClient } from "@seneschal/server-nfs";

interface StreamLoad {
  readonly megabytes: number;
  readonly s3?: { readonly url: string; readonly access_key: string; readonly secret_key: string };
  /** The port of an NFS server on this machine. */
  readonly nfs?: number;
}

/** Megabytes (10^6 bytes) per second. */
export interface StreamReport {
  readonly write: number;
  readonly read: number;
}

const MIB = 1 << 20;
const IN_FLIGHT = 8;

const load = await new Promise<StreamLoad>((resolve) => process.once("message", (message) => resolve(message as StreamLoad)));
const pool = randomBytes(16 * MIB);

/** Content that no other piece has: what is kept once for all would flatter. */
function piece(at: number): Buffer {
  const bytes = Buffer.from(pool.subarray((at % 16) * MIB, ((at % 16) + 1) * MIB));
  for (let i = 0; i < MIB; i += 1 << 16) bytes.writeUInt32BE(at, i);
  return bytes;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (load.megabytes * MIB) / 1e6 / ((performance.now() - started) / 1000);
}

const written = createHash("sha256");
const back = createHash("sha256");

async function byS3({ url, access_key, secret_key }: NonNullable<StreamLoad["s3"]>): Promise<StreamReport> {
  const sdk = createRequire(import.meta.url)("@aws-sdk/client-s3") as typeof import("@aws-sdk/client-s3");
  const client = new sdk.S3Client({
    endpoint: url,
    region: "us-east-1",
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED" as const,
    responseChecksumValidation: "WHEN_REQUIRED" as const,
    credentials: { accessKeyId: access_key, secretAccessKey: secret_key },
  });
  const place = { Bucket: "bench", Key: "stream" };
  function* pieces(): Generator<Buffer> {
    for (let i = 0; i < load.megabytes; i++) {
      const bytes = piece(i);
      written.update(bytes);
      yield bytes;
    }
  }
  const write = await timed(async () => {
    const Body = Readable.from(pieces(), { objectMode: false, highWaterMark: MIB });
    await client.send(new sdk.PutObjectCommand({ ...place, Body, ContentLength: load.megabytes * MIB }));
  });
  const read = await timed(async () => {
    const { Body } = await client.send(new sdk.GetObjectCommand(place));
    for await (const bytes of Body as Readable) back.update(bytes as Uint8Array);
  });
  client.destroy();
  return { write, read };
}

async function byNfs(port: number): Promise<StreamReport> {
  const client = await openNfsClient({ host: "127.0.0.1", port, user: { uid: 1000, gid: 1000 } });
  const { handle: dir } = await client.mount("/bench");
  if (dir === undefined) throw new Error("not mounted");
  const untouched = { kind: "DONT_CHANGE", value: undefined } as const;
  const value = { mode: undefined, uid: undefined, gid: undefined, size: undefined, atime: untouched, mtime: untouched };
  const made = await client.call("CREATE", { where: { dir, name: Buffer.from("stream") }, how: { kind: "UNCHECKED", value } });
  if (made.status !== nfsStatus.OK || !("value" in made)) throw new Error(`not made: ${made.status}`);
  const handle = made.value.handle as Uint8Array;
  /** Calls in their order, so many at once. */
  const all = async <R>(call: (at: number) => Promise<R>, take: (reply: R) => void): Promise<void> => {
    const flying: Promise<R>[] = [];
    for (let at = 0; at < load.megabytes; at++) {
      flying.push(call(at));
      if (flying.length === IN_FLIGHT) take(await (flying.shift() as Promise<R>));
    }
    for (const reply of flying) take(await reply);
  };
  const sound = ({ status }: { readonly status: number }): void => {
    if (status !== nfsStatus.OK) throw new Error(`the server answered ${status}`);
  };
  const write = await timed(async () => {
    await all((at) => {
      const data = piece(at);
      written.update(data);
      return client.call("WRITE", { handle, offset: BigInt(at) * BigInt(MIB), count: MIB, stable: "UNSTABLE", data });
    }, sound);
    sound(await client.call("COMMIT", { handle, offset: 0n, count: 0 }));
  });
  const read = await timed(() =>
    all(
      (at) => client.call("READ", { handle, offset: BigInt(at) * BigInt(MIB), count: MIB }),
      (reply) => {
        sound(reply);
        if ("value" in reply) back.update(reply.value.data);
      },
    ),
  );
  client.close();
  return { write, read };
}

const report = load.s3 === undefined ? await byNfs(load.nfs ?? 0) : await byS3(load.s3);
if (written.digest("hex") !== back.digest("hex")) throw new Error("what was read is not what was written");
process.send?.(report, () => process.exit(0));
