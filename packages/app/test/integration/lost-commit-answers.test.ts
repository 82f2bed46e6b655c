import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { openPostgresStore } from "@seneschal/adapters/postgres";
import { isCoded } from "@seneschal/kernel";
import type { StoreSchema } from "@seneschal/kernel/store";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { startTcpProxy, type TcpProxy } from "../../../../tools/tcp-proxy.ts";
import { gatewaySchema } from "../../src/gateway/index.ts";
import { governanceSchema } from "../../src/governance/index.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { storageSchema } from "../../src/storage/schema.ts";
import { openRig as openGatewayRig } from "../gateway/rig.ts";
import { servers as governanceServers, startRig as startGovernance } from "../governance/rig.ts";
import { runEvent } from "../governance/run-event.ts";
import { servers as schedulerServers, startScheduler } from "../scheduler/harness.ts";
import { bytesOf, collect, openRig as openStorageRig, pattern } from "../storage/rig.ts";

/** Places of a COMMIT within a request where its answer is lost. */
const PLACES = [0, 1, 2, 3];

/** Asks again while it is told that the database is away: on a busy machine a new connection takes longer than it may. */
async function whileAway<T>(ask: () => Promise<T>, away: (answer: T) => boolean = () => false): Promise<T> {
  for (let n = 0; ; n++) {
    try {
      const answer = await ask();
      if (n === 300 || !away(answer)) return answer;
    } catch (error) {
      if (n === 300 || !isCoded(error, "ShardUnavailable", "store_unavailable")) throw error;
    }
    await wait(100);
  }
}
const refused = ({ status }: { readonly status: number }): boolean => status === 503;

/** How a service is asked for one thing under a key, and how many of that there are. */
interface Subject {
  send(key: string): Promise<{ readonly status: number }>;
  made(key: string): Promise<number>;
}

if (postgresBinaries() === undefined) test.skip("PostgreSQL is not installed (apt-get install postgresql)", () => {});
else
  describe("PostgreSQL whose answer to COMMIT is lost, and that is then away", () => {
    let server: PostgresServer;
    let proxy: TcpProxy;
    const closing: (() => Promise<unknown>)[] = [];
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server.destroy());
    beforeEach(async () => {
      const { port, hostname } = new URL(server.url);
      proxy = await startTcpProxy(Number(port), hostname);
    });
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close();
      await proxy.close();
    });
    const url = () => server.url.replace(/@[^/]+/, `@127.0.0.1:${proxy.port}`);
    const open = async (schema: StoreSchema) => {
      const namespace = `t_${randomBytes(6).toString("hex")}`;
      const store = await whileAway(() => openPostgresStore({ ...schema, url: url(), namespace, timeoutMs: 500 }));
      closing.push(() => store.close());
      return store;
    };
    /** Loses the answer to the COMMIT after the next `skip` ones, or to none where there are not so many. */
    const lose = async (skip: number, work: () => Promise<unknown>): Promise<void> => {
      void proxy.loseAnswer("commit\0", "COMMIT\0", skip);
      await work();
      proxy.heal();
    };

    test("storage: the key has the old bytes or the new ones, the same PUT again ends in the new ones, and both read", async () => {
      const rig = await openStorageRig({ extra: { store: await open(storageSchema) } });
      closing.push(() => rig.dispose());
      const { objects } = rig.node;
      await createBucket(objects, "alpha", "docs", "us-east-1");
      const put = (key: string, bytes: Uint8Array) =>
        putObject(objects, {
          tenant: "alpha",
          bucket: "docs",
          key,
          body: bytesOf(bytes),
          contentType: "",
          headers: {},
          meta: {},
        });
      const get = async (key: string) => collect(readObject(objects, await headObject(objects, "alpha", "docs", key)));
      for (const [i, size] of [2000, 90_000, (4 << 20) + 1, (8 << 20) + 1].entries())
        for (const skip of PLACES.slice(0, Math.max(1, i))) {
          const key = `k${i}-${skip}`;
          const [old, fresh] = [pattern(size, 2 * skip + 100 * i + 1), pattern(size, 2 * skip + 100 * i + 2)];
          await whileAway(() => put(key, old));
          await lose(skip, () => expect(put(key, fresh)).rejects.toMatchObject({ code: "ShardUnavailable" }));
          const found = await whileAway(() => get(key));
          expect(found.equals(old) || found.equals(fresh)).toBe(true);
          await whileAway(() => put(key, fresh));
          expect((await whileAway(() => get(key))).equals(fresh)).toBe(true);
        }
    });

    /** A keyed request at each place of the lost answer: 503 or the truth, never twice. */
    const never = async (subject: Subject): Promise<void> => {
      let lost = 0;
      for (const skip of PLACES) {
        const key = `request-${skip}`;
        await lose(skip, async () => {
          const { status } = await subject.send(key);
          expect([200, 201, 202, 503]).toContain(status);
          lost += Number(status === 503);
        });
        const made = () => whileAway(() => subject.made(key));
        expect(await made()).toBeLessThanOrEqual(1);
        const again = await whileAway(() => subject.send(key), refused);
        expect([200, 201, 202, 409]).toContain(again.status);
        expect(await made()).toBeLessThanOrEqual(1);
        if (again.status !== 409) expect(await made()).toBe(1);
      }
      expect(lost).toBeGreaterThan(0);
    };

    test("gateway: a keyed request is answered 503 or with the truth, and no repeat does it twice", async () => {
      const rig = await openGatewayRig({ store: await open(gatewaySchema), organizations: ["acme"] });
      closing.push(() => rig.close());
      const acme = rig.admin("acme");
      await never({
        send: (key) => acme("POST", "/api/v1/workspaces", { name: key }, { "idempotency-key": key }),
        made: async (key) =>
          (await whileAway(() => acme("GET", "/api/v1/workspaces"), refused)).body.workspaces.filter(
            (w: { name: string }) => w.name === key,
          ).length,
      });
    });

    test("governance: a keyed request is answered 503 or with the truth, and no repeat does it twice", async () => {
      const store = await open(governanceSchema);
      const rig = await startGovernance(governanceServers[0]![1], { store });
      closing.push(() => rig.stop());
      await never({
        send: (key) => rig.call("writer", "POST", "/api/v1/lineage", runEvent({ job: key }), { "idempotency-key": key }),
        async made(key) {
          const ids = (await store.changes(0, 1000)).filter((c) => c.coll === "lineage_events").map((c) => c.id);
          const found = await store.getMany("lineage_events", [...new Set(ids)]);
          return found.filter((f) => JSON.stringify(f?.doc).includes(`"${key}"`)).length;
        },
      });
    });

    test("scheduler: a keyed submission is answered 503 or with the truth, and no repeat does it twice", async () => {
      const s = await startScheduler(schedulerServers[0]![1], { storage: { kind: "postgres", url: url() } });
      closing.push(() => s.stop());
      await s.cluster(4, { max_nodes: 3 });
      const submit = (key: string) =>
        s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics", labels: { key } }, { "idempotency-key": key });
      for (const key of ["first", "second"]) {
        const lost = proxy.loseAnswer("append ", "SELECT 1\0");
        const answer = submit(key);
        await lost;
        expect((await answer).status).toBe(503);
        proxy.heal();
        // Until the circuit breaker has asked again, nothing is sent.
        const repeated = await whileAway(() => submit(key), refused);
        expect([200, 201, 202]).toContain(repeated.status);
        const { body } = await s.call("ada", "GET", "/api/v1/allocations");
        expect(body.filter((a: { labels: { key?: string } }) => a.labels.key === key)).toHaveLength(1);
      }
    }, 120_000);
  });
