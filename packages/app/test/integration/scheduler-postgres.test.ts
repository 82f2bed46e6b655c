import { settableClock } from "@seneschal/adapters/memory";
import { expect, test } from "vitest";
import { postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { type Harness, NOON, servers, startScheduler } from "../scheduler/harness.ts";

test.skipIf(postgresBinaries() === undefined)(
  "two schedulers on PostgreSQL share one log: limits hold over both, lists say how old they are, and a restart finds everything",
  async () => {
    const server = await startPostgres();
    const clock = settableClock(NOON);
    const start = (at: number): Promise<Harness> =>
      startScheduler(servers[at % 2]![1], { storage: { kind: "postgres", url: server.url } }, {}, clock);
    try {
      const [a, b] = [await start(0), await start(1)];
      await a.cluster(4, { max_nodes: 3 });
      const key = { "idempotency-key": "k" };
      const [first, again] = await Promise.all(
        [a, b].map((s) => s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics" }, key)),
      );
      expect(again?.body.id).toBe(first?.body.id);
      await Promise.all(Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? a : b).submit("ada")));
      await Promise.all([a.cycle(), b.cycle(), a.cycle(), b.cycle()]);
      for (const s of [a, b]) {
        await s.ok("root", "GET", "/api/v1/system/quotas"); // reads to the head of the log
        const list = await s.call("ada", "GET", "/api/v1/allocations?state=running");
        expect(list.body).toHaveLength(3);
        const { last_applied: applied } = await s.ok("root", "GET", "/api/v1/raft/status");
        expect(list.headers.get("as-of-seq")).toBe(String(applied));
        expect(Date.parse(list.headers.get("as-of") ?? "")).toBe(NOON);
      }
      const hash = (s: Harness): Promise<{ state_hash: string }> => s.ok("root", "GET", "/api/v1/raft/status?hash=true");
      const before = await hash(a);
      expect(await hash(b)).toMatchObject({ state_hash: before.state_hash });
      await Promise.all([a.stop(), b.stop()]);
      const c = await start(2);
      expect(await hash(c)).toMatchObject({ state_hash: before.state_hash, storage: "durable", available: true });
      await c.stop();
    } finally {
      await server.destroy();
    }
  },
);
