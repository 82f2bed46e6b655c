import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { createMemoryLog, openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";
import { storageContract } from "@seneschal/contract/storage";
import { serve } from "@seneschal/server-fastify";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";
import { expect, test } from "vitest";
import { startTcpProxy, type TcpProxy } from "../../../../tools/tcp-proxy.ts";
import { storageServiceSettings } from "../../src/compose/service-settings.ts";
import { defineService, type RunningService, startService } from "../../src/platform/index.ts";
import { openStorage, type Storage, storageSchema, storageSettings } from "../../src/storage/index.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { documentedCluster } from "./documented-cluster.ts";
import { storeCa } from "./grpc-rig.ts";
import { bytesOf, collect, operator, pattern, switchableVault } from "./rig.ts";

test("the documented cluster, on empty directories, fails over, repairs and collects, and every step of every round succeeds", async () => {
  const root = await mkdtemp(join(tmpdir(), "seneschal-documented-"));
  const ca = await storeCa("Cluster CA");
  await writeFile(join(root, "ca.pem"), ca.pem);
  const [log, store, vault] = [createMemoryLog(), openMemoryStore(storageSchema), switchableVault()];
  const clock = settableClock(Date.now());
  const names = ["n1", "n2", "n3"] as const;
  type Name = (typeof names)[number];
  const running = new Map<Name, { readonly service: RunningService; readonly storage: Storage }>();
  /** What stands in front of a node's two ports, which are others after each start. */
  const fronts = new Map<Name, readonly [TcpProxy, TcpProxy]>();

  const start = async (name: Name): Promise<void> => {
    const [data, peer] = fronts.get(name) ?? ([await startTcpProxy(), await startTcpProxy()] as const);
    fronts.set(name, [data, peer]);
    const { cert, key } = await ca.issue(`CN=${name},OU=store-server`, { names: ["localhost"] });
    const tls = { ca: join(root, "ca.pem"), cert: join(root, `${name}.pem`), key: join(root, `${name}.key`) };
    await Promise.all([writeFile(tls.cert, cert), writeFile(tls.key, key)]);
    const {
      database: _,
      vault: __,
      tenant_vaults: ___,
      ...config
    } = storageServiceSettings.parse(
      documentedCluster({
        node: name,
        server: { host: "127.0.0.1", port: 0 },
        data: "127.0.0.1:0",
        peer: "127.0.0.1:0",
        tls,
        advertise: { data: `localhost:${data.port}`, peer: `localhost:${peer.port}` },
        s3: { host: "127.0.0.1", port: 0 },
        endpoints: ["http://127.0.0.1:1"],
        database: "postgres://nowhere",
        keyFile: "none",
        sample: "10s",
        directory: (i) => join(root, name, `disk${i}`),
        token: createHash("sha256").update("token").digest("hex"),
      }),
    );
    let storage: Storage | undefined;
    const definition = defineService({
      name: "storage",
      contract: storageContract,
      settings: storageSettings,
      async build(own, platform) {
        // What etcd, PostgreSQL and the vault are to three processes, these are to one.
        const parts = {
          store,
          clusterLog: log.open(),
          vault,
          directory: join(root, name, "data", "storage"),
          serveS3,
          serveGrpc,
        };
        storage = await openStorage(own, platform, parts);
        return storage;
      },
    });
    const service = await startService(definition, config, {
      serve,
      listen: { port: 0 },
      clock,
      random: systemRandom,
      log: openLogger({ level: "silent" }),
      version: "test",
    });
    if (storage === undefined) throw new Error(`${name} was not built`);
    running.set(name, { service, storage });
    data.aim(storage.ports()?.data.port);
    peer.aim(storage.ports()?.peers.port);
  };
  const stop = async (name: Name): Promise<void> => {
    for (const front of fronts.get(name) ?? []) front.aim(undefined);
    await running.get(name)?.service.stop();
    running.delete(name);
  };
  const node = (name: Name) => {
    const found = running.get(name)?.storage.node;
    if (found === undefined) throw new Error(`${name} does not run`);
    return found;
  };
  const rounds = async (ms = 10_000): Promise<void> => {
    clock.set(clock.now() + ms);
    for (const { storage } of running.values()) await storage.node.tick();
    for (const { storage } of running.values()) expect(storage.node.background.failing()).toEqual([]);
  };
  const put = (through: Name, key: string, bytes: Uint8Array) =>
    putObject(node(through).objects, {
      tenant: "alpha",
      bucket: "docs",
      key,
      body: bytesOf(bytes),
      contentType: "",
      headers: {},
      meta: {},
    });
  const get = async (through: Name, key: string) => {
    const { objects } = node(through);
    return collect(readObject(objects, await headObject(objects, "alpha", "docs", key)));
  };
  const short = () => store.count("storage_chunks", "under_replicated", []);

  try {
    for (const name of names) await start(name);
    for (let i = 0; i < 3; i++) await rounds();
    await node("n1").tenants.create("alpha", { dedup: true }, operator);
    await createBucket(node("n1").objects, "alpha", "docs", "us-east-1");
    expect(names.every((name) => existsSync(join(root, name, "data", "storage")))).toBe(true);
    expect(node("n2").monitor.health()).toBe("healthy");
    for (const [i, name] of names.entries()) await put(name, `k${i}`, pattern(100_000, i));

    // A node is gone: others lead its shards, writes of every shard go on.
    const led = node("n2").cluster.state.shards.filter((s) => s.leader === "n1");
    expect(led.length).toBeGreaterThan(0);
    await stop("n1");
    for (let i = 0; i < 3; i++) await rounds();
    expect(node("n2").cluster.state.shards.map((s) => s.leader)).not.toContain("n1");
    for (let i = 0; i < 20; i++) await put("n3", `after-${i}`, pattern(20_000, 100 + i));
    expect(await short()).toBeGreaterThan(0);

    // It is back: what was written short is completed.
    await start("n1");
    for (let i = 0; i < 3; i++) await rounds();
    expect(await short()).toBe(0);
    for (const name of names)
      for (let i = 0; i < 20; i++) expect((await get(name, `after-${i}`)).equals(pattern(20_000, 100 + i))).toBe(true);

    // What was deleted is collected by the periodic collection.
    const before = await store.count("storage_chunks", "by_id", []);
    for (let i = 0; i < 20; i++) await deleteObject(node("n1").objects, "alpha", "docs", `after-${i}`);
    await rounds(310_000);
    await rounds();
    expect(await store.count("storage_chunks", "by_id", [])).toBe(before - 20);
    const last = node("n2").monitor.history.query(1, clock.now());
    expect(last.at(-1)?.timestamp_ms).toBe(clock.now());
  } finally {
    for (const name of names) await stop(name);
    for (const front of [...fronts.values()].flat()) await front.close();
    await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  }
});
