import { readFile } from "node:fs/promises";
import { openPostgresRates, openPostgresStore } from "@seneschal/adapters/postgres";
import { systemRandom } from "@seneschal/adapters/system";
import type { CodedError } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { startTcpProxy } from "../../../../tools/tcp-proxy.ts";
import { faultSchema, writeOf } from "../store-faults/fault-schema.ts";
import { runWriteLoop } from "../store-faults/run-write-loop.ts";
import { wholeCommits } from "../store-faults/whole-commits.ts";
import { rounds } from "../suite-runner.ts";

if (postgresBinaries() === undefined) test.skip("PostgreSQL is not installed (apt-get install postgresql)", () => {});
else
  describe("PostgreSQL store under faults", () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server.destroy());

    const open = (namespace: string, timeoutMs = 20_000): Promise<DocumentStore> =>
      openPostgresStore({ url: server.url, namespace, timeoutMs, ...faultSchema });

    /** Sixteen callers on two instances write until `work` is done; gives the acknowledged numbers and the failures. */
    const underLoad = async (stores: readonly DocumentStore[], work: (acknowledged: () => number) => Promise<void>) => {
      const acknowledged = new Set<number>();
      const failures: unknown[] = [];
      let next = 1;
      let working = true;
      const callers = Array.from({ length: 16 }, async (_, at) => {
        while (working) {
          const n = next;
          next += 1;
          try {
            const result = await (stores[at % stores.length] as DocumentStore).commit(writeOf(n));
            expect(result.ok).toBe(true);
            acknowledged.add(n);
          } catch (error) {
            failures.push(error);
          }
        }
      });
      await work(() => acknowledged.size);
      working = false;
      await Promise.all(callers);
      return { acknowledged, failures };
    };
    const until = async (condition: () => boolean): Promise<void> => {
      while (!condition()) await new Promise((resolve) => setImmediate(resolve));
    };

    test("kill -9 of the server under load: nothing acknowledged is lost, nothing torn, sequences dense, callers served again", async () => {
      const stores = [await open("server_kill"), await open("server_kill")];
      const { acknowledged } = await underLoad(stores, async (count) => {
        for (let round = 0; round < rounds(4); round += 1) {
          const before = count();
          await until(() => count() > before + 200);
          await server.kill();
          await server.restart();
        }
        const after = count();
        await until(() => count() > after + 200);
      });
      const found = await wholeCommits(stores[0] as DocumentStore);
      expect([...acknowledged].filter((n) => !found.has(n))).toEqual([]);
      await Promise.all(stores.map((store) => store.close()));
    });

    test("a store that is opened while others write waits for nobody who waits for it", async () => {
      const stores = [await open("opened"), await open("opened")];
      const { failures } = await underLoad(stores, async (count) => {
        for (let round = 0; round < rounds(60); round += 1) {
          const before = count();
          await until(() => count() > before + 5);
          await (await open("opened")).close();
        }
      });
      expect(failures).toEqual([]);
      await Promise.all(stores.map((store) => store.close()));
      const admin = new pg.Client({ connectionString: server.url });
      await admin.connect();
      const { rows } = await admin.query("select deadlocks from pg_stat_database where datname = current_database()");
      await admin.end();
      expect(rows).toEqual([{ deadlocks: "0" }]);
    });

    test("connections cut under load, also at commit: the batch is settled and sent again, no caller notices", async () => {
      const stores = [await open("cut"), await open("cut")];
      const admin = new pg.Client({ connectionString: server.url });
      await admin.connect();
      const { acknowledged, failures } = await underLoad(stores, async (count) => {
        for (let round = 0; round < rounds(30); round += 1) {
          const before = count();
          await until(() => count() > before + 20);
          await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'seneschal %'");
        }
      });
      await admin.end();
      expect(failures).toEqual([]);
      const found = await wholeCommits(stores[1] as DocumentStore);
      expect([...acknowledged].filter((n) => !found.has(n))).toEqual([]);
      await Promise.all(stores.map((store) => store.close()));
    });

    test("kill -9 of a client in a write loop: what it acknowledged is there, whole", async () => {
      const acknowledged = new Set<number>();
      let first = 1;
      for (let round = 0; round < rounds(3); round += 1) {
        let seen = 0;
        await runWriteLoop(server.url, first, (line, kill) => {
          if (!line.startsWith("ack ")) return;
          acknowledged.add(Number(line.slice(4)));
          seen += 1;
          if (seen === 300 + round * 77) kill();
        });
        const store = await open("seneschal");
        const found = await wholeCommits(store);
        expect([...acknowledged].filter((n) => !found.has(n))).toEqual([]);
        first = Math.max(...found) + 1;
        await store.close();
      }
    });

    test("a server that is gone is store_unavailable or outcome_unknown within the time-out, never a success", async () => {
      const store = await open("gone", 600);
      await store.commit(writeOf(1));
      await server.kill();
      await expect(store.get("things", "1")).rejects.toMatchObject({ code: "store_unavailable" });
      await expect(store.commit(writeOf(2))).rejects.toMatchObject({ code: "store_unavailable" });
      await expect(open("gone", 600)).rejects.toMatchObject({ code: "store_unavailable" });
      await server.restart();
      expect((await store.commit(writeOf(2))).ok).toBe(true);
      await store.close();
    });

    test("a server that is lost without a word is waited for once: of the calls that follow one another one is refused at most, whatever stood open to it", async () => {
      const network = await startTcpProxy(server.address);
      const name = await startTcpProxy(network.port);
      const url = new URL(server.url);
      url.host = `127.0.0.1:${name.port}`;
      const at = { url: url.href, namespace: "lost", timeoutMs: 6000 };
      const store = await openPostgresStore({ ...at, poolSize: 6, ...faultSchema });
      const rates = await openPostgresRates(at, systemRandom);
      const get = (): Promise<unknown> => store.get("things", "1");
      const take = (): Promise<unknown> => rates.take("a", { limit: 100, window: 60_000 }, 0);
      const admin = new pg.Client({ connectionString: server.url });
      await admin.connect();
      try {
        let woken = 0;
        store.subscribe(() => {
          woken += 1;
        });
        await store.commit(writeOf(1));
        await Promise.all([...Array.from({ length: 30 }, get), ...Array.from({ length: 10 }, take)]);
        const open = "select 1 from pg_stat_activity where application_name = 'seneschal lost'";
        // Six and four of the pools, one that writes and one that listens.
        await vi.waitUntil(async () => (await admin.query(open)).rowCount === 12, { timeout: 30_000 });
        await vi.waitUntil(() => woken > 0, { timeout: 30_000 });

        network.stall();
        name.lead(server.address);
        const refused: unknown[] = [];
        const calls = [get, take, () => store.commit(writeOf(2)), ...Array.from({ length: 8 }, () => [get, take]).flat()];
        for (const call of calls) await call().catch(({ code }: CodedError) => refused.push(code));
        expect([[], ["store_unavailable"]]).toContainEqual(refused);
        expect(await store.get("things", "2")).toBeDefined();
        const heard = woken;
        await store.commit(writeOf(3));
        await vi.waitUntil(() => woken > heard, { timeout: 30_000 });
      } finally {
        await admin.end();
        await Promise.all([store.close(), rates.close()]);
        await name.close();
        await network.close();
      }
    });

    test.runIf(process.platform === "linux")(
      "the kernel asks every connection that nobody uses whether its server is there, within seconds",
      async () => {
        const own = await startPostgres();
        const store = await openPostgresStore({ url: own.url, ...faultSchema });
        store.subscribe(() => {});
        try {
          await store.commit(writeOf(1));
          const host = [...own.address.host.split(".")].reverse().map((part) => Number(part).toString(16).padStart(2, "0"));
          const to = `${host.join("")}:${own.address.port.toString(16).padStart(4, "0")}`.toUpperCase();
          /** How many seconds until it is asked, of each that leads to the server: state 01 is established, timer 02 keepalive. */
          const idle = async (): Promise<readonly number[]> =>
            [...(await readFile("/proc/self/net/tcp", "utf8")).matchAll(/: \S+ (\S+) 01 \S+ (\S\S):(\S{8})/g)]
              .filter(([, remote]) => remote === to)
              .map(([, , timer, ticks]) => (timer === "02" ? Number.parseInt(ticks ?? "", 16) / 100 : Number.POSITIVE_INFINITY));
          await vi.waitUntil(async () => (await idle()).length >= 3 && (await idle()).every((seconds) => seconds <= 5), {
            timeout: 30_000,
          });
        } finally {
          await store.close();
          await own.destroy();
        }
      },
    );

    test("a store of another epoch than it was opened at is written to no more: it moves elsewhere, or a release before has changed its indexes", async () => {
      const [one, other] = [await open("epoch"), await open("epoch")];
      await one.commit(writeOf(1));
      const admin = new pg.Client({ connectionString: server.url });
      await admin.connect();
      await admin.query("update epoch.head set epoch = epoch + 1");
      await admin.end();
      for (const store of [one, other]) {
        await expect(store.commit(writeOf(2))).rejects.toMatchObject({ code: "store_failed" });
        await expect(store.checkWrites?.()).rejects.toMatchObject({ code: "store_failed" });
      }
      const again = await open("epoch");
      expect((await again.commit(writeOf(2))).ok).toBe(true);
      await again.checkWrites?.();
      for (const store of [one, other, again]) await store.close();
    });

    test("a process with more collections, indexes of theirs and all, leaves the older ones writing", async () => {
      const older = await open("more");
      const newer = await openPostgresStore({
        url: server.url,
        namespace: "more",
        collections: { ...faultSchema.collections, later: { indexes: { by_name: { key: (doc) => [String(doc["name"])] } } } },
      });
      for (const [at, store] of [newer, older, newer, older].entries()) {
        expect((await store.commit(writeOf(at + 1))).ok).toBe(true);
        await store.checkWrites?.();
      }
      await older.close();
      const again = await open("more");
      expect((await again.commit(writeOf(5))).ok).toBe(true);
      expect((await wholeCommits(again)).size).toBe(5);
      const puts = [{ coll: "later", id: "a", doc: { name: "ada" }, expect: "absent" as const }];
      expect((await newer.commit({ commitId: "later", puts })).ok).toBe(true);
      expect((await newer.list("later", "by_name", ["ada"], { limit: 10 })).items).toMatchObject([{ id: "a" }]);
      await again.close();
      await newer.close();
    });

    test("eight processes open an empty namespace at once", async () => {
      const stores = await Promise.all(Array.from({ length: 8 }, () => open("bootstrap")));
      await Promise.all(stores.map((store, at) => store.commit(writeOf(at + 1))));
      expect((await wholeCommits(stores[0] as DocumentStore)).size).toBe(8);
      await Promise.all(stores.map((store) => store.close()));
    });

    test("a server that would lose acknowledged commits is refused", async () => {
      const careless = await startPostgres({ fsync: "off" });
      await expect(openPostgresStore({ url: careless.url, ...faultSchema })).rejects.toMatchObject({
        code: "store_misconfigured",
      });
      await careless.destroy();
      await expect(openPostgresStore({ url: server.url, namespace: "x; drop", ...faultSchema })).rejects.toMatchObject({
        code: "store_misconfigured",
      });
    });
  });
