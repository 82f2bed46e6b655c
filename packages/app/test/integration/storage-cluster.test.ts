import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { type StoredExtent, storedExtents } from "@seneschal/adapters/devices";
import { type ObjectClient, openDataChannel, openObjectClient } from "@seneschal/adapters/grpc-storage";
import { isCoded } from "@seneschal/kernel";
import { expect, test } from "vitest";
import { etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { ownAddress } from "../../../../tools/own-address.ts";
import { postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { sourceOptions } from "../../../../tools/source-options.ts";
import { flipExtent } from "../storage/damage-extent.ts";
import { documentedCluster } from "../storage/documented-cluster.ts";
import { storeCa } from "../storage/grpc-rig.ts";
import { bytesOf, collect, pattern } from "../storage/rig.ts";

const installed = etcdInstalled() && postgresBinaries() !== undefined;
/** Kills of one node under load; raise it for a long run. */
const KILLS = Number(process.env["KILL_ROUNDS"] ?? 1);
const token = "token-of-the-cluster-admin";
const names = ["n1", "n2", "n3"] as const;
/** What the interface document lets a write answer while a node is away; `Unavailable`: the connection is gone. */
const retriable = ["ShardUnavailable", "QuorumLost", "Unavailable", "KeyManagerUnavailable", "TenantKmsUnreachable"];

/** Asks again until it is so. */
async function until(what: string, probe: () => Promise<boolean>): Promise<void> {
  let last: unknown;
  const failed = (error: unknown): false => {
    last = error;
    return false;
  };
  for (let tries = 0; tries < 600; tries++) {
    if (await probe().catch(failed)) return;
    await wait(100);
  }
  throw new Error(`it never came to be: ${what}`, { cause: last });
}

test.skipIf(!installed)(
  "three storage processes of the documented file, on etcd, PostgreSQL and empty directories, lose nothing when one is killed, repair, evacuate, and take it back",
  { timeout: 3_600_000 },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "seneschal-cluster-"));
    const [etcd, postgres, ca] = await Promise.all([startEtcdCluster(), startPostgres(), storeCa("Cluster CA")]);
    const keyFile = join(directory, "unseal.key");
    await writeFile(keyFile, randomBytes(32).toString("base64"), { mode: 0o600 });
    await writeFile(join(directory, "ca.pem"), ca.pem);
    const addresses = await Promise.all(
      names.map(async () => ({ http: await ownAddress(), data: await ownAddress(), peer: await ownAddress() })),
    );
    const children: (ChildProcess | undefined)[] = [];

    const start = async (at: number): Promise<void> => {
      const own = join(directory, names[at] as string);
      await mkdir(own, { recursive: true });
      const { http, data, peer } = addresses[at] as (typeof addresses)[number];
      const { cert, key } = await ca.issue(`CN=${names[at]},OU=store-server`, { names: [data.host, peer.host] });
      await Promise.all([writeFile(join(own, "cert.pem"), cert), writeFile(join(own, "key.pem"), key)]);
      const config = {
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
      };
      const script = new URL("storage-process.ts", import.meta.url).pathname;
      const args = [...sourceOptions, script, own, JSON.stringify(config)];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      children[at] = child;
      await new Promise<void>((resolve, reject) => {
        createInterface({ input: child.stdout }).once("line", () => resolve());
        child.once("exit", (code) => reject(new Error(`${names[at]} ended with ${code}`)));
      });
    };
    const kill = async (at: number): Promise<void> => {
      const child = children[at];
      children[at] = undefined;
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    };
    const http = async (at: number, method: string, path: string, body?: unknown) => {
      const reply = await fetch(`http://${addresses[at]?.http.host}:${addresses[at]?.http.port}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
      return { status: reply.status, body: (await reply.json()) as any };
    };
    const clients: ObjectClient[] = [];
    const at = (key: string) => ({ tenant: "alpha", bucket: "docs", key });

    try {
      await Promise.all(names.map((_, i) => start(i)));
      await until("all shards are laid out and all nodes healthy", async () => {
        const nodes = (await http(0, "GET", "/ui/api/nodes")).body as { status: string; shard_count: number }[];
        return nodes.length === 3 && nodes.every((n) => n.status === "healthy" && n.shard_count === 9);
      });
      expect((await http(0, "PUT", "/ui/api/ops/tuning", { gc_interval_s: 60 })).status).toBe(200);
      await http(0, "POST", "/ui/api/ops/tenants", { tenant_id: "alpha" });
      const tls = { ca: ca.pem, ...(await ca.issue("CN=client,OU=store-server")) };
      for (const { data } of addresses)
        clients.push(openObjectClient({ address: `${data.host}:${data.port}`, tls, timeoutMs: 10_000 }));
      await clients[1]?.createBucket("docs", "alpha");

      const written = new Map<string, number>();
      let seed = 0;
      // From inline to several kinds of chunks.
      const contentOf = (n: number) => pattern(2_000 + (n % 7) * 15_000, n);
      const write = async (through: number): Promise<boolean> => {
        const key = `k${++seed}`;
        const mine = seed;
        try {
          await clients[through]?.put(at(key), bytesOf(contentOf(mine)));
          written.set(key, mine);
          return true;
        } catch (error) {
          expect(isCoded(error, ...retriable), String(error)).toBe(true);
          return false;
        }
      };
      const checkAll = async (through: number, since = 0): Promise<void> => {
        for (const [key, mine] of written) {
          if (mine <= since) continue;
          let bytes: Buffer = Buffer.alloc(0);
          // On a busy machine a node may seem away for a moment: then it says so, and never gives other bytes.
          await until(`${key} is read`, async () => {
            bytes = await collect(clients[through]?.get(at(key)) ?? bytesOf());
            return true;
          });
          expect(bytes.equals(contentOf(mine)), `${key} through ${names[through]}`).toBe(true);
        }
      };
      for (let i = 0; i < 12; i++) await until("the object is written", () => write(i % 3));
      for (let i = 0; i < 3; i++) await checkAll(i);

      for (let round = 0; round < KILLS; round++) {
        const victim = (round + 1) % 3;
        const others = [0, 1, 2].filter((i) => i !== victim);
        const since = seed;
        // Writers are under way when it dies.
        let dying = true;
        const writers = others.map(async (through) => {
          while (dying) await write(through);
        });
        await until("writes are under way", async () => seed > since + 3);
        await kill(victim);
        for (const through of others) await until("writes go on", () => write(through));
        await until("every shard is led by a node that lives", async () => {
          const shards = (await http(others[0] as number, "GET", "/ui/api/shards")).body as { leader: string }[];
          return shards.length > 0 && shards.every(({ leader }) => leader !== names[victim]);
        });
        dying = false;
        await Promise.all(writers);
        // What this round wrote, always; all there is, every tenth round and at the end.
        const from = round % 10 === 9 || round === KILLS - 1 ? 0 : since;
        for (const through of others) await checkAll(through, from);
        await start(victim);
        await until("the node is healthy again for everybody", async () => {
          const views = await Promise.all(
            [0, 1, 2].map(async (i) => (await http(i, "GET", "/ui/api/nodes")).body as { status: string }[]),
          );
          return views.flat().every((n) => n.status === "healthy");
        });
        await until("writes go on through it", () => write(victim));
        await checkAll(victim, from);
        if (process.env["KILL_ROUNDS"] !== undefined) console.log(`round ${round + 1}: ${written.size} objects`);
      }

      // Rounds are whole: history is taken, garbage is collected by itself, no step fails.
      const metrics = async (i: number) =>
        (await fetch(`http://${addresses[i]?.http.host}:${addresses[i]?.http.port}/metrics`)).text();
      await until("garbage is collected by the one that leads the first shard", async () =>
        (await Promise.all([0, 1, 2].map(metrics))).some((text) => /^store_gc_runs_total [1-9]/m.test(text)),
      );
      for (const i of [0, 1, 2]) {
        const { points } = (await http(i, "GET", "/ui/api/history")).body as { points: unknown[] };
        expect(points.length).toBeGreaterThan(10);
        await until("no step fails", async () => !/^store_background_failing\{[^}]*\} 1/m.test(await metrics(i)));
      }

      // A damaged copy on one node, found and healed through another.
      const extents = await storedExtents(join(directory, "n3", "d0"));
      expect(extents.length).toBeGreaterThan(0);
      await flipExtent(extents[0] as StoredExtent);
      const finished = async (job: string) => {
        let found: { state: string; result: Record<string, number> } | undefined;
        await until("the job ends", async () => {
          found = (await http(1, "GET", `/ui/api/jobs/${job}`)).body;
          return !["queued", "running"].includes(found?.state ?? "running");
        });
        return found;
      };
      // What a scrub cannot repair because a node seems away for a moment, it says; a later one repairs it. Nothing is lost in any.
      const scrubs: Record<string, number>[] = [];
      await until("a scrub finds everything as it should be", async () => {
        const through = scrubs.length % 2;
        const { body } = await http(through, "POST", "/ui/api/ops/scrub", {});
        const job = await finished(body.job_id);
        const report = job?.result ?? {};
        scrubs.push({ ...report, succeeded: job?.state === "succeeded" ? 1 : 0 });
        return scrubs.length > 1 && report["repaired"] === 0 && report["healthy"] === report["scanned"];
      });
      for (const report of scrubs) expect(report).toMatchObject({ succeeded: 1, lost: 0 });
      expect(
        scrubs.reduce((sum, report) => sum + (report["repaired"] ?? 0), 0),
        JSON.stringify(scrubs),
      ).toBeGreaterThan(0);
      expect(scrubs.at(-1)).toMatchObject({ repair_errors: 0 });

      // A device of one node, evacuated through another.
      const admin = openDataChannel("seneschal.storage.v1.StorageAdminService", {
        address: `${addresses[0]?.data.host}:${addresses[0]?.data.port}`,
        tls: { ca: ca.pem, ...(await ca.issue("CN=root,OU=storage-admin")) },
      });
      const { job_id } = (await admin.ask("EvacuateDevice", { device_id: "n3-d0" })) as { job_id: string };
      admin.close();
      expect(await finished(job_id)).toMatchObject({ state: "succeeded" });
      await until("the device is removed everywhere", async () => {
        const devices = (await http(2, "GET", "/ui/api/devices")).body as { device_id: string; state: string }[];
        return devices.find((d) => d.device_id === "n3-d0")?.state === "Removed";
      });
      for (let i = 0; i < 3; i++) await checkAll(i);

      // Without a majority of the log nobody writes; reads go on from what was known.
      await Promise.all([0, 1].map((member) => etcd.kill(member)));
      await until("writes are refused", async () => {
        const error = await clients[0]?.put(at("refused"), bytesOf(pattern(10))).then(
          () => undefined,
          (e: unknown) => e,
        );
        return isCoded(error, "QuorumLost");
      });
      await checkAll(1);
      await Promise.all([0, 1].map((member) => etcd.restart(member)));
      await until("writes go on with the quorum", () => write(0));
    } finally {
      for (const client of clients) client.close();
      await Promise.all(children.map((_, i) => kill(i)));
      await etcd.destroy();
      await postgres.destroy();
      await rm(directory, { recursive: true, force: true });
    }
  },
);
