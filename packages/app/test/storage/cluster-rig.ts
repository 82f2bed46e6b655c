import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDirectoryDevice, type StoredExtent, storedExtents } from "@seneschal/adapters/devices";
import { openLogger } from "@seneschal/adapters/logging";
import { createMemoryLog, openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import type { GrpcServer } from "@seneschal/core/storage";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { serveGrpc } from "@seneschal/server-grpc";
import { startTcpProxy, type TcpProxy } from "../../../../tools/tcp-proxy.ts";
import { openDataPort, openPeersPort } from "../../src/storage/grpc/open-grpc.ts";
import { chunkPage } from "../../src/storage/jobs/chunk-pages.ts";
import { openStorageNode, type StorageNode, type StorageNodeOptions } from "../../src/storage/node.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { storageSchema } from "../../src/storage/schema.ts";
import { type StoreCa, storeCa } from "./grpc-rig.ts";
import { bytesOf, collect, operator, storageAuthorisation, switchableVault } from "./rig.ts";

/** Several nodes in this process: one memory log and store, each node with its own devices, ports and certificate. */
export interface ClusterRig {
  readonly ca: StoreCa;
  readonly store: DocumentStore;
  readonly clock: ReturnType<typeof settableClock>;
  readonly vault: ReturnType<typeof switchableVault>;
  node(id: string): StorageNode;
  peerAddress(id: string): string;
  /** `nodeId`: what it calls itself, where that is another name than its place has. */
  start(id: string, nodeId?: string): Promise<StorageNode>;
  /** The node is gone: nothing answers at its addresses, it runs nothing. */
  stop(id: string): Promise<void>;
  /** Nobody reaches the node any more, though it runs; `mend` ends that. */
  cut(id: string): Promise<void>;
  mend(id: string): Promise<void>;
  /** Rounds of every running node, one after the other. */
  rounds(count?: number): Promise<void>;
  put(at: string, key: string, bytes: Uint8Array): Promise<unknown>;
  get(at: string, key: string): Promise<Buffer>;
  /** Nodes of the fragments of every chunk; "" for a fragment without a home. */
  places(): Promise<readonly (readonly string[])[]>;
  /** Where a node may be given a device. */
  directoryOf(device: string): string;
  /** What a device keeps, by name. */
  extents(device: string): Promise<readonly StoredExtent[]>;
  dispose(): Promise<void>;
}

export async function openCluster(
  ids: readonly string[],
  {
    devices = 2,
    plaintext = false,
    ...extra
  }: Partial<Omit<StorageNodeOptions, "devices">> & { readonly devices?: number; readonly plaintext?: boolean } = {},
): Promise<ClusterRig> {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-cluster-"));
  const ca = plaintext ? ({} as StoreCa) : await storeCa("Cluster CA");
  const log = createMemoryLog();
  const store = extra.store ?? openMemoryStore(storageSchema);
  const vault = switchableVault();
  const authorisation = await storageAuthorisation();
  const clock = settableClock(Date.now());
  const running = new Map<string, { readonly node: StorageNode; readonly servers: readonly GrpcServer[] }>();
  /** The addresses of a node, data and peers, which stay its own while it is down. */
  const fronts = new Map<string, readonly [TcpProxy, TcpProxy]>();
  const capacityBytes = 64 << 20;

  const frontsOf = async (id: string): Promise<readonly [TcpProxy, TcpProxy]> => {
    const known = fronts.get(id) ?? ([await startTcpProxy(), await startTcpProxy()] as const);
    fronts.set(id, known);
    return known;
  };
  const aim = (id: string, servers: readonly GrpcServer[]): void => {
    for (const [at, front] of fronts.get(id)?.entries() ?? []) front.aim(servers[at]?.port);
  };

  const rig: ClusterRig = {
    ca,
    store,
    clock,
    vault,
    node(id) {
      const found = running.get(id);
      if (found === undefined) throw new Error(`${id} does not run`);
      return found.node;
    },
    peerAddress: (id) => `localhost:${fronts.get(id)?.[1].port}`,
    async start(id, nodeId = id) {
      const [data, peer] = await frontsOf(id);
      const own = plaintext ? undefined : await ca.issue(`CN=${id},OU=store-server`, { names: ["localhost"] });
      const tls = own && { ca: ca.pem, cert: own.cert, key: own.key };
      const silent = openLogger({ level: "silent" });
      const local = Array.from({ length: devices }, (_, i) => ({
        id: `${id}-d${i}`,
        open: (known: boolean) =>
          openDirectoryDevice({ id: `${id}-d${i}`, directory: join(directory, `${id}-d${i}`), capacityBytes, known }),
        pool: "fast",
        class: "ssd" as const,
        capacityBytes,
      }));
      const node = await openStorageNode({
        nodeId,
        address: `${id}:9090`,
        dataAddress: `localhost:${data.port}`,
        peerAddress: `localhost:${peer.port}`,
        ...(tls && { peerTls: tls }),
        expectedNodes: ids.length,
        clusterLog: log.open(),
        store,
        clock,
        random: systemRandom,
        crypto: nodeCrypto,
        log: silent,
        vault,
        devices: local,
        pools: [{ id: "fast", class: "ssd" }],
        openDevice: ({ taken: _taken, known: _known, admit: _admit, ...device }) => openDirectoryDevice(device),
        ...extra,
      });
      const common = { node, authorisation, serveGrpc, log: silent, host: "127.0.0.1", port: 0, ...(tls && { tls }) };
      const servers = [await openDataPort(common), await openPeersPort(common)];
      running.set(id, { node, servers });
      aim(id, servers);
      return node;
    },
    async cut(id) {
      aim(id, []);
    },
    async mend(id) {
      aim(id, running.get(id)?.servers ?? []);
    },
    async stop(id) {
      const found = running.get(id);
      running.delete(id);
      aim(id, []);
      await Promise.all(found?.servers.map((s) => s.close()) ?? []);
      await found?.node.stop();
    },
    async rounds(count = 1) {
      for (let i = 0; i < count; i++) for (const { node } of running.values()) await node.tick();
    },
    put: (at, key, bytes) =>
      putObject(rig.node(at).objects, {
        tenant: "alpha",
        bucket: "docs",
        key,
        body: bytesOf(bytes),
        contentType: "",
        headers: {},
        meta: {},
      }),
    async get(at, key) {
      const { objects } = rig.node(at);
      return collect(readObject(objects, await headObject(objects, "alpha", "docs", key)));
    },
    async places() {
      const [any] = running.values();
      const known = any?.node.cluster.state.devices ?? {};
      const { chunks } = await chunkPage(store, undefined, 1000);
      return chunks.map(({ doc }) => doc.fragments.map((f) => (f === null ? "" : (known[f.device]?.node ?? "?"))));
    },
    directoryOf: (device) => join(directory, device),
    extents: (device) => storedExtents(join(directory, device)),
    async dispose() {
      for (const id of [...running.keys()]) await rig.stop(id);
      await Promise.all([...fronts.values()].flat().map((front) => front.close()));
      // A repair that another node asked for may still be writing.
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
    },
  };
  for (const id of ids) await rig.start(id);
  const [first = ""] = ids;
  await rig.node(first).tenants.create("alpha", { dedup: true }, operator);
  await createBucket(rig.node(first).objects, "alpha", "docs", "us-east-1");
  // The first sees the others only once they are all there.
  await rig.rounds(2);
  return rig;
}
