/**
 * Storage: erasure coding beside memcpy, S3 put and get beside the raw disk, a bare node:http file server and MinIO, scrub, memory
 * over a long ingest.
 */
import { spawn } from "node:child_process";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { openDirectoryDevice } from "@seneschal/adapters/devices";
import { createReedSolomon } from "@seneschal/adapters/erasure";
import { openLevelLog, openLevelStore } from "@seneschal/adapters/level";
import { openLogger } from "@seneschal/adapters/logging";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import { openAuthorisation } from "@seneschal/app/platform";
import { createCredentials, openNfs, openS3, openStorageNode, storageSchema, storageSettings } from "@seneschal/app/storage";
import { serveNfs } from "@seneschal/server-nfs";
import { serveS3 } from "@seneschal/server-s3";
import { ownAddress } from "../../tools/own-address.ts";
import { type Bench, type BenchResult, quantile, rate } from "../bench.ts";
import { runClient } from "../run-client.ts";
import type { S3Load, S3LoadReport } from "../s3-client.ts";
import type { StreamReport } from "../stream-client.ts";

const clients = 16;
const operator = { id: "bench", source: "bench" };

function erasure(): readonly BenchResult[] {
  const size = 4 << 20;
  const source = Buffer.alloc(size, 7);
  const target = Buffer.alloc(size);
  const memcpy = (rate(() => source.copy(target), 500) * size) / 1e9;
  return [
    [4, 2],
    [8, 3],
  ].map(([data = 0, parity = 0]) => {
    const code = createReedSolomon(data, parity);
    const fragments = Array.from({ length: data }, () => systemRandom(Math.ceil(size / data)));
    const value = (rate(() => code.encode(fragments), 1000) * size) / 1e9;
    return {
      name: `erasure encode ${data}+${parity}`,
      value,
      unit: "GB/s",
      peer: "memcpy",
      peerValue: memcpy,
      ratio: value / memcpy,
      bar: ">= 1 GB/s",
    };
  });
}

/** Runs a client process against a server. */
function drive(load: Omit<S3Load, "clients" | "milliseconds">): Promise<S3LoadReport> {
  return runClient<S3LoadReport>("s3-client.ts", { ...load, clients, milliseconds: 3000 });
}

async function openNode(directory: string) {
  const collections = { ...storageSchema.collections, ...vaultCollections };
  const store = await openLevelStore({ ...storageSchema, collections, path: join(directory, "meta") });
  const unseal = { kind: "key", key: systemRandom(32) } as const;
  const vault = await openEmbeddedVault({ store, crypto: nodeCrypto, random: systemRandom, clock: systemClock, unseal });
  const capacityBytes = 8 * 2 ** 30;
  const devices = Array.from({ length: 6 }, (_, i) => ({
    id: `d${i}`,
    open: (known: boolean) => openDirectoryDevice({ id: `d${i}`, directory: join(directory, `d${i}`), capacityBytes, known }),
    pool: "fast",
    class: "ssd" as const,
    capacityBytes,
  }));
  const log = openLogger({ level: "silent" });
  const node = await openStorageNode({
    nodeId: "bench",
    address: "127.0.0.1:9090",
    dataAddress: "127.0.0.1:9100",
    store,
    vault,
    devices,
    log,
    clusterLog: await openLevelLog({ path: join(directory, "log") }),
    clock: systemClock,
    random: systemRandom,
    crypto: nodeCrypto,
    pools: [{ id: "fast", class: "ssd" }],
  });
  await node.tenants.create("bench", { dedup: true }, operator);
  const credentials = createCredentials(node.context, vault);
  const keys = await credentials.create("bench", operator);
  const engine = embeddedPolicyEngine();
  const gateway = await openS3({
    settings: { host: "127.0.0.1", port: 0 },
    node,
    credentials,
    authorisation: await openAuthorisation({ engine, service: "storage", source: undefined }),
    engine,
    log,
    requests: { owner: () => undefined },
    serveS3,
  });
  return { node, store, keys, gateway };
}

/** A server that keeps bodies as files, with one fsync each, and knows nothing else. */
async function openBare(directory: string) {
  await mkdir(directory, { recursive: true });
  const server = createServer((request, response) => {
    const path = join(directory, basename(request.url ?? ""));
    const work = async () => {
      if (request.method === "GET") return pipeline(createReadStream(path), response);
      await pipeline(request, createWriteStream(path, { flush: true }));
      return response.end();
    };
    work().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** The bucket, and the SDK's client that made it. */
async function makeBucket(endpoint: string, keys: { readonly access_key: string; readonly secret_key: string }, Bucket: string) {
  const sdk = createRequire(import.meta.url)("@aws-sdk/client-s3") as typeof import("@aws-sdk/client-s3");
  const client = new sdk.S3Client({
    endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED" as const,
    credentials: { accessKeyId: keys.access_key, secretAccessKey: keys.secret_key },
  });
  await client.send(new sdk.CreateBucketCommand({ Bucket }));
  return { sdk, client };
}

const minioKeys = { access_key: "bench", secret_key: "bench-secret" };

/** MinIO on six directories that lose two without loss, like the node's; `undefined` where `MINIO` names no program of it. */
async function openMinio(directory: string) {
  const program = process.env["MINIO"];
  if (program === undefined) return undefined;
  const { host, port } = await ownAddress();
  const child = spawn(program, ["server", "--address", `${host}:${port}`, "--quiet", `${directory}/d{1...6}`], {
    stdio: "ignore",
    env: {
      ...process.env,
      MINIO_ROOT_USER: minioKeys.access_key,
      MINIO_ROOT_PASSWORD: minioKeys.secret_key,
      MINIO_STORAGE_CLASS_STANDARD: "EC:2",
      MINIO_BROWSER: "off",
      // Directories of one disk, as the node's are.
      MINIO_CI_CD: "1",
    },
  });
  const url = `http://${host}:${port}`;
  const ready = () =>
    fetch(`${url}/minio/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await ready())) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    await wait(100);
  }
  return { url, close: () => void child.kill("SIGKILL") };
}

async function s3(): Promise<readonly BenchResult[]> {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-bench-"));
  const { node, store, keys, gateway } = await openNode(directory);
  const bare = await openBare(join(directory, "bare"));
  const minio = await openMinio(join(directory, "minio"));
  if (minio !== undefined) (await makeBucket(minio.url, minioKeys, "bench")).client.destroy();
  const { client } = await makeBucket(gateway.url, keys, "bench");
  client.destroy();
  const results: BenchResult[] = [];
  try {
    for (const [name, size] of [
      ["4 KiB", 4 << 10],
      ["64 KiB", 64 << 10],
      ["8 MiB", 8 << 20],
    ] as const) {
      const put = await drive({ url: gateway.url, keys, size, operation: "put" });
      const get = await drive({ url: gateway.url, keys, size, operation: "get", count: put.calls });
      const barePut = await drive({ url: bare.url, size, operation: "put" });
      const bareGet = await drive({ url: bare.url, size, operation: "get", count: barePut.calls });
      const raw = await rawDisk(join(directory, "raw"), size);
      const row = (operation: string, value: number, peer: string, peerValue: number) =>
        results.push({
          name: `S3 ${operation} ${name}, ${clients} clients`,
          value,
          unit: "op/s",
          peer,
          peerValue,
          ratio: value / peerValue,
        });
      row("put", put.perSecond, "bare node:http, fsync", barePut.perSecond);
      row("put", put.perSecond, "raw disk, fsync", raw);
      row("get", get.perSecond, "bare node:http", bareGet.perSecond);
      if (minio === undefined) continue;
      const peer = { url: minio.url, keys: minioKeys, size };
      const peerPut = await drive({ ...peer, operation: "put" });
      row("put", put.perSecond, "MinIO", peerPut.perSecond);
      row("get", get.perSecond, "MinIO", (await drive({ ...peer, operation: "get", count: peerPut.calls })).perSecond);
    }
    const started = performance.now();
    const job = await node.scrub({ kind: "cluster" }, operator);
    await node.jobs.drain();
    const seconds = (performance.now() - started) / 1000;
    const used = node.monitor.pools()[0]?.usedBytes ?? 0;
    results.push({ name: "scrub rate", value: used / seconds / 1e6, unit: "MB/s" });
    if ((await node.jobs.get(job.id))?.state !== "succeeded") throw new Error("the scrub failed");
  } finally {
    minio?.close();
    bare.server.closeAllConnections();
    bare.server.close();
    await gateway.close();
    await node.stop();
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
  return results;
}

/** One file of `STREAM_MB` (1024) MiB written and read by NFS, and an object of that size by S3, on the same node in turns. */
async function nfs(): Promise<readonly BenchResult[]> {
  const megabytes = Number(process.env["STREAM_MB"] ?? 1024);
  const directory = await mkdtemp(join(tmpdir(), "seneschal-bench-"));
  const { node, store, keys, gateway } = await openNode(directory);
  (await makeBucket(gateway.url, keys, "bench")).client.destroy();
  const place = {
    path: "/bench",
    tenant: "bench",
    bucket: "bench",
    clients: ["127.0.0.1"],
    read_only: false,
    uid: 1000,
    gid: 1000,
  };
  const files = await openNfs({
    config: storageSettings.parse({ nfs: { port: 0, exports: [place] } }).nfs,
    node,
    authorisation: await openAuthorisation({ engine: embeddedPolicyEngine(), service: "storage", source: undefined }),
    log: openLogger({ level: "silent" }),
    serveNfs,
  });
  try {
    const rounds: { readonly s3: StreamReport; readonly nfs: StreamReport }[] = [];
    for (let round = 0; round < 3; round++)
      rounds.push({
        s3: await runClient<StreamReport>("stream-client.ts", { megabytes, s3: { url: gateway.url, ...keys } }),
        nfs: await runClient<StreamReport>("stream-client.ts", { megabytes, nfs: files.port }),
      });
    return (["write", "read"] as const).map((what) => {
      const middle = (of: "s3" | "nfs"): number =>
        quantile(
          rounds.map((round) => round[of][what]).sort((a, b) => a - b),
          0.5,
        );
      const [value, peerValue] = [middle("nfs"), middle("s3")];
      const ratio = value / peerValue;
      return {
        name: `NFS sequential ${what}, ${megabytes} MiB`,
        value,
        unit: "MB/s",
        peer: "S3",
        peerValue,
        ratio,
        bar: ">= 0.5",
      };
    });
  } finally {
    await files.close();
    await gateway.close();
    await node.stop();
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Resident memory of gateway and client while `INGEST_GB` (2) of fresh content stream in, 64 MiB at a time, four at once:
 * the highest of the second half beside the highest of the first.
 */
async function ingest(): Promise<readonly BenchResult[]> {
  const total = Number(process.env["INGEST_GB"] ?? 2) * 1e9;
  const size = 64 << 20;
  const directory = await mkdtemp(join(tmpdir(), "seneschal-ingest-"));
  const { node, store, keys, gateway } = await openNode(directory);
  const { sdk, client } = await makeBucket(gateway.url, keys, "ingest");
  const highest = [0, 0];
  let sent = 0;
  const timer = setInterval(() => {
    const half = sent < total / 2 ? 0 : 1;
    highest[half] = Math.max(highest[half] ?? 0, process.memoryUsage.rss());
  }, 50);
  const started = performance.now();
  try {
    const lane = async (n: number) => {
      for (let i = 0; sent < total; i++) {
        const Body = Readable.from(fresh(size), { objectMode: false, highWaterMark: 1 << 20 });
        await client.send(new sdk.PutObjectCommand({ Bucket: "ingest", Key: `${n}-${i}`, Body, ContentLength: size }));
        sent += size;
        // The disk need not hold it all: what was written is of no further use.
        await client.send(new sdk.DeleteObjectCommand({ Bucket: "ingest", Key: `${n}-${i}` }));
        if (n === 0) await node.collectGarbage(operator).then(() => node.jobs.drain());
      }
    };
    await Promise.all([0, 1, 2, 3].map(lane));
  } finally {
    clearInterval(timer);
    client.destroy();
    await gateway.close();
    await node.stop();
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
  const seconds = (performance.now() - started) / 1000;
  const [first = 0, second = 0] = highest;
  const name = `ingest of ${(sent / 1e9).toFixed(1)} GB`;
  return [
    {
      name: `${name}: resident memory`,
      value: second / 1e6,
      unit: "MB",
      peer: "its first half",
      peerValue: first / 1e6,
      ratio: second / first,
    },
    { name: `${name}: rate`, value: sent / seconds / 1e6, unit: "MB/s" },
  ];
}

/** Content that no chunk repeats, made as it is read. */
function* fresh(size: number): Generator<Buffer> {
  for (let at = 0; at < size; at += 1 << 20) yield Buffer.from(systemRandom(1 << 20));
}

/** Files of `size` written and synced per second, 16 at a time. */
async function rawDisk(directory: string, size: number): Promise<number> {
  await mkdir(directory, { recursive: true });
  const bytes = Buffer.alloc(size, 3);
  const start = performance.now();
  let files = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < start + 1000) {
        const file = await open(join(directory, String(files++ % 500)), "w");
        await file.write(bytes);
        await file.datasync();
        await file.close();
      }
    }),
  );
  return (files * 1000) / (performance.now() - start);
}

export const benches: Bench[] = [
  { name: "storage-erasure", run: async () => erasure() },
  { name: "storage-s3", run: s3 },
  { name: "storage-nfs", run: nfs },
  { name: "storage-ingest", run: ingest },
];
