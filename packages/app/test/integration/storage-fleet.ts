import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { type DataChannel, type ObjectClient, openDataChannel, openObjectClient } from "@seneschal/adapters/grpc-storage";
import { isCoded } from "@seneschal/kernel";
import { expect } from "vitest";
import { type EtcdCluster, etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { ownAddress } from "../../../../tools/own-address.ts";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { sourceCommand } from "../../../../tools/source-options.ts";
import { documentedCluster } from "../storage/documented-cluster.ts";
import { storeCa } from "../storage/grpc-rig.ts";
import { bytesOf, collect, pattern } from "../storage/rig.ts";

const token = "token-of-the-cluster-admin";
/** What the interface document lets a write answer while a node is away; `Unavailable`: the connection is gone. */
const retriable = ["ShardUnavailable", "QuorumLost", "Unavailable", "KeyManagerUnavailable", "TenantKmsUnreachable"];

/** What a fleet of processes needs is installed: etcd and PostgreSQL. */
export const fleetInstalled = (): boolean => etcdInstalled() && postgresBinaries() !== undefined;

/** Asks again until it is so, ten times a second. What is not so after five minutes of that never will be. */
export async function until(what: string, probe: () => Promise<boolean>): Promise<void> {
  let last: unknown;
  const failed = (error: unknown): false => {
    last = error;
    return false;
  };
  for (let n = 0; n < 3000; n++) {
    if (await probe().catch(failed)) return;
    await wait(100);
  }
  throw new Error(`it never came to be: ${what}`, { cause: last });
}

/** What a node is configured with. */
export interface FleetConfig {
  readonly cluster: object;
  readonly database: object;
}

/** Storage processes of the documented file, on an etcd and a PostgreSQL of their own, with one bucket that is written and checked. */
export interface StorageFleet {
  readonly etcd: EtcdCluster;
  readonly directory: string;
  /** What a node is configured with in its cluster. */
  configOf(at: number): FleetConfig;
  readonly clients: readonly ObjectClient[];
  /** `change`: what is to be another way in this node's configuration. `checkout`: whose node it is, where it is not the fleet's. */
  start(at: number, change?: (config: FleetConfig) => object, checkout?: string): Promise<void>;
  /** `kill -9`. */
  kill(at: number): Promise<void>;
  /** Makes a node's clock go so much ahead of the machine's, or behind; also when it starts again. */
  skew(at: number, ms: number): void;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  http(at: number, method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: any }>;
  metrics(at: number): Promise<string>;
  admin(at: number): DataChannel;
  /** Objects that were tried so far. */
  readonly tried: number;
  /** Objects that were acknowledged. */
  readonly written: number;
  /** Writes one object; false when it was refused in a way that allows to try again. */
  write(through: number): Promise<boolean>;
  /** Reads what was acknowledged after the `since`-th try up to the `last`, and compares it. */
  checkAll(through: number, since?: number, last?: number): Promise<void>;
  /** Waits until every one of these nodes says that every node is healthy. */
  healthy(among: readonly number[]): Promise<void>;
  /** Waits until a job is over. */
  finished(at: number, job: string): Promise<{ readonly state: string; readonly result: Readonly<Record<string, number>> }>;
  destroy(): Promise<void>;
}

/** How a fleet is started. */
interface FleetStart {
  /** How many of its nodes; all unless said. */
  readonly running?: number;
  readonly change?: (config: FleetConfig) => object;
  /** Whose nodes they are; this checkout's unless said. */
  readonly checkout?: string | undefined;
}

/** Starts the first `running` of the named nodes, configured as `change` says, and waits until they are one healthy cluster. */
export async function startFleet(
  names: readonly string[],
  { running = names.length, change, checkout }: FleetStart = {},
): Promise<StorageFleet> {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-cluster-"));
  const [etcd, postgres, ca]: [EtcdCluster, PostgresServer, Awaited<ReturnType<typeof storeCa>>] = await Promise.all([
    startEtcdCluster(),
    startPostgres(),
    storeCa("Cluster CA"),
  ]);
  const keyFile = join(directory, "unseal.key");
  await writeFile(keyFile, randomBytes(32).toString("base64"), { mode: 0o600 });
  await writeFile(join(directory, "ca.pem"), ca.pem);
  const addresses = await Promise.all(
    names.map(async () => ({ http: await ownAddress(), data: await ownAddress(), peer: await ownAddress() })),
  );
  const children: (ChildProcess | undefined)[] = [];
  const skews = names.map(() => 0);
  const urlOf = (at: number) => `http://${addresses[at]?.http.host}:${addresses[at]?.http.port}`;
  const dataOf = (at: number) => `${addresses[at]?.data.host}:${addresses[at]?.data.port}`;
  const tell = (at: number) => children[at]?.stdin?.write(`${skews[at]}\n`);
  const tlsOf = async (unit: string) => ({ ca: ca.pem, ...(await ca.issue(`CN=${unit},OU=${unit}`)) });
  const [asServer, asAdmin] = [await tlsOf("store-server"), await tlsOf("storage-admin")];
  const clients = names.map((_, i) => openObjectClient({ address: dataOf(i), tls: asServer, timeoutMs: 10_000 }));
  const written = new Map<string, number>();
  let tried = 0;
  const nameOf = (key: string) => ({ tenant: "alpha", bucket: "docs", key });
  // From inline to several kinds of chunks.
  const contentOf = (n: number) => pattern(2_000 + (n % 7) * 15_000, n);

  const fleet: StorageFleet = {
    etcd,
    directory,
    clients,
    configOf(at) {
      const own = join(directory, names[at] as string);
      const { http, data, peer } = addresses[at] as (typeof addresses)[number];
      return {
        ...documentedCluster({
          node: names[at] as string,
          server: http,
          data: `${data.host}:${data.port}`,
          peer: `${peer.host}:${peer.port}`,
          s3: { host: http.host, port: 0 },
          tls: { ca: join(directory, "ca.pem"), cert: join(own, "cert.pem"), key: join(own, "key.pem") },
          endpoints: etcd.endpoints,
          database: postgres.url,
          keyFile,
          directory: (i) => join(own, `d${i}`),
          token: createHash("sha256").update(token).digest("hex"),
          sample: "200ms",
        }),
        rate_limit: { authenticated: { limit: 1_000_000 }, anonymous: { limit: 1_000_000 } },
        device_roots: [join(own, "grown")],
        backup: { directory: join(directory, "backups") },
      } as unknown as FleetConfig;
    },
    async start(at, change = (config) => config, from = checkout) {
      const own = join(directory, names[at] as string);
      await mkdir(own, { recursive: true });
      const { data, peer } = addresses[at] as (typeof addresses)[number];
      const { cert, key } = await ca.issue(`CN=${names[at]},OU=store-server`, { names: [data.host, peer.host] });
      await Promise.all([writeFile(join(own, "cert.pem"), cert), writeFile(join(own, "key.pem"), key)]);
      const config = fleet.configOf(at);
      const command = sourceCommand(new URL("storage-process.ts", import.meta.url), from);
      const child = spawn(process.execPath, [...command, own, JSON.stringify(change(config))], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      child.stdin.on("error", () => undefined);
      children[at] = child;
      tell(at);
      await new Promise<void>((resolve, reject) => {
        createInterface({ input: child.stdout }).once("line", () => resolve());
        child.once("exit", (code) => reject(new Error(`${names[at]} ended with ${code}`)));
      });
    },
    async kill(at) {
      const child = children[at];
      children[at] = undefined;
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    },
    skew(at, ms) {
      skews[at] = ms;
      tell(at);
    },
    async http(at, method, path, body) {
      const reply = await fetch(`${urlOf(at)}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: reply.status, body: await reply.json() };
    },
    metrics: async (at) => (await fetch(`${urlOf(at)}/metrics`)).text(),
    admin: (at) => openDataChannel("seneschal.storage.v1.StorageAdminService", { address: dataOf(at), tls: asAdmin }),
    get tried() {
      return tried;
    },
    get written() {
      return written.size;
    },
    async write(through) {
      const mine = ++tried;
      const key = `k${mine}`;
      try {
        await clients[through]?.put(nameOf(key), bytesOf(contentOf(mine)));
        written.set(key, mine);
        return true;
      } catch (error) {
        expect(isCoded(error, ...retriable), String(error)).toBe(true);
        return false;
      }
    },
    async checkAll(through, since = 0, last = Number.POSITIVE_INFINITY) {
      for (const [key, mine] of written) {
        if (mine <= since || mine > last) continue;
        let bytes: Buffer = Buffer.alloc(0);
        // On a busy machine a node may seem away for a moment: then it says so, and never gives other bytes.
        await until(`${key} is read`, async () => {
          bytes = await collect(clients[through]?.get(nameOf(key)) ?? bytesOf());
          return true;
        });
        expect(bytes.equals(contentOf(mine)), `${key} through ${names[through]}`).toBe(true);
      }
    },
    healthy: (among) =>
      until("every node is healthy for everybody", async () => {
        const views = await Promise.all(
          among.map(async (i) => (await fleet.http(i, "GET", "/ui/api/nodes")).body as { status: string }[]),
        );
        return views.every((view) => view.length >= among.length && view.every((n) => n.status === "healthy"));
      }),
    async finished(at, job) {
      let found: { state: string; result: Record<string, number> } | undefined;
      await until("the job ends", async () => {
        found = (await fleet.http(at, "GET", `/ui/api/jobs/${job}`)).body;
        return !["queued", "running"].includes(found?.state ?? "running");
      });
      return found as NonNullable<typeof found>;
    },
    async destroy() {
      for (const client of clients) client.close();
      await Promise.all(names.map((_, i) => fleet.kill(i)));
      await etcd.destroy();
      await postgres.destroy();
      await rm(directory, { recursive: true, force: true });
    },
  };
  try {
    const first = names.slice(0, running).map((_, i) => i);
    await Promise.all(first.map((i) => fleet.start(i, change)));
    await until("all shards are laid out and all nodes healthy", async () => {
      const nodes = (await fleet.http(0, "GET", "/ui/api/nodes")).body as { status: string; shard_count: number }[];
      return nodes.length === running && nodes.every((n) => n.status === "healthy" && n.shard_count === 3 * running);
    });
    expect((await fleet.http(0, "PUT", "/ui/api/ops/tuning", { gc_interval_s: 60 })).status).toBe(200);
    await fleet.http(0, "POST", "/ui/api/ops/tenants", { tenant_id: "alpha" });
    await clients[running - 1]?.createBucket("docs", "alpha");
    return fleet;
  } catch (error) {
    await fleet.destroy();
    throw error;
  }
}
