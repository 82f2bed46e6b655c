import { setTimeout as wait } from "node:timers/promises";
import { openEtcdLog } from "@seneschal/adapters/etcd";
import { expect, test } from "vitest";
import { etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { type Acknowledged, checkHistory } from "./check-history.ts";
import { ADMIN, type Fleet, startFleet } from "./scheduler-fleet.ts";

/** So many faults, and at least so many acknowledged submissions; raise both for a long run. */
const FAULTS = Number(process.env["SCHEDULER_FAULTS"] ?? 5);
const SUBMISSIONS = Number(process.env["SCHEDULER_SUBMISSIONS"] ?? 1000);
const TENANTS = 4;
const NODES = 64;
const MAX_NODES = 12;

async function call(url: string, method: string, path: string, body?: unknown, key?: string) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${ADMIN}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(15_000),
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  return { status: response.status, body: (await response.json()) as any };
}

/** Asks process after process until one gives a definite answer; the key makes sure that it happens once. */
async function insist(fleet: Fleet, at: number, method: string, path: string, body: unknown, key: string) {
  for (let attempt = 0; ; attempt++) {
    const url = fleet.urls[(at + attempt) % fleet.urls.length] as string;
    try {
      const answer = await call(url, method, path, body, key);
      if (answer.status < 500) return answer;
    } catch {
      // no answer: unknown whether it happened
    }
    await wait(20);
  }
}

test.skipIf(!etcdInstalled())(
  "four scheduler processes on three etcd members lose, double and exceed nothing while leaders die and processes stall",
  { timeout: 1_800_000 },
  async () => {
    const etcd = await startEtcdCluster();
    const storage = { kind: "etcd", endpoints: etcd.endpoints, prefix: "/fault-test" };
    const fleet = await startFleet(4, storage);
    try {
      for (let t = 0; t < TENANTS; t++)
        await insist(
          fleet,
          t,
          "POST",
          "/api/v1/tenants",
          { name: `t${t}`, max_nodes: MAX_NODES, max_concurrent_allocations: MAX_NODES },
          `t${t}`,
        );
      for (let n = 0; n < NODES; n++) await insist(fleet, n, "POST", "/api/v1/nodes", { id: `n${n}` }, `n${n}`);

      const acknowledged: Acknowledged[] = [];
      let refused = 0;
      let working = true;
      const submitter = async (at: number): Promise<void> => {
        for (let i = 0; working; i++) {
          const asked = performance.now();
          const request = { tenant: `t${at % TENANTS}`, nodes: 1 + (i % 3) };
          const answer = await insist(fleet, at + i, "POST", "/api/v1/allocations", request, `s-${at}-${i}`);
          if (answer.status === 201) acknowledged.push({ allocation: answer.body.id, asked, answered: performance.now() });
          else if (answer.status === 429) refused++;
          else throw new Error(`submission: ${answer.status} ${JSON.stringify(answer.body)}`);
        }
      };
      /** Cycles everywhere, on purpose also at once, and an agent that ends what runs. */
      const agent = async (at: number): Promise<void> => {
        for (let i = 0; working; i++) {
          const url = fleet.urls[(at + i) % fleet.urls.length] as string;
          await call(url, "POST", "/api/v1/admin/cycle").catch(() => undefined);
          const running = await call(url, "GET", "/api/v1/allocations?state=running&limit=200").catch(() => undefined);
          if (running?.status !== 200) continue;
          await Promise.all(
            running.body.map(({ id }: { id: string }) =>
              call(url, "POST", `/api/v1/allocations/${id}/complete`).catch(() => undefined),
            ),
          );
        }
      };
      const faults: readonly (() => Promise<void>)[] = [
        async () => {
          const leader = await etcd.leader();
          await etcd.kill(leader);
          await wait(1500);
          await etcd.restart(leader);
        },
        async () => {
          const at = Math.floor(Math.random() * 4);
          await fleet.kill(at);
          await wait(500);
          await fleet.start(at);
        },
        async () => {
          const leader = await etcd.leader();
          etcd.pause(leader);
          await wait(3000);
          etcd.resume(leader);
        },
        async () => {
          const at = Math.floor(Math.random() * 4);
          fleet.pause(at);
          await wait(6000); // longer than the sequencer's lease
          fleet.resume(at);
        },
      ];
      const load = [...Array.from({ length: 12 }, (_, i) => submitter(i)), agent(0), agent(2)];
      for (let i = 0; i < FAULTS || acknowledged.length < SUBMISSIONS; i++) {
        if (i < FAULTS) await faults[i % faults.length]?.();
        await wait(1000);
      }
      working = false;
      await Promise.all(load);

      const log = await openEtcdLog({ endpoints: etcd.endpoints, prefix: "/fault-test" });
      const { state, hash, entries, commands, ...verdict } = await checkHistory(log, acknowledged);
      expect(verdict).toEqual({ lost: [], doubled: [], violations: [], reordered: [] });
      expect(state.allocations.size).toBeGreaterThanOrEqual(acknowledged.length);
      expect(refused).toBeGreaterThan(0); // the limits were felt
      // every process that has read as far has the same state
      let compared = 0;
      for (const url of fleet.urls) {
        await call(url, "GET", "/api/v1/system/quotas");
        const status = await call(url, "GET", "/api/v1/raft/status?hash=true");
        if (status.body.last_applied !== entries) continue;
        expect(status.body.state_hash).toBe(hash);
        compared++;
      }
      expect(compared).toBeGreaterThan(0);
      console.log(
        `${FAULTS} faults: ${acknowledged.length} acknowledged, ${refused} refused, ${commands} commands in ${entries} entries, all accounted for`,
      );
      await log.close();
    } finally {
      await fleet.destroy();
      await etcd.destroy();
    }
  },
);

test.skipIf(!etcdInstalled())(
  "without a quorum writes answer 503 with Retry-After, running work stays, and lists are still served",
  { timeout: 120_000 },
  async () => {
    const etcd = await startEtcdCluster();
    const fleet = await startFleet(1, { kind: "etcd", endpoints: etcd.endpoints, prefix: "/quorum-test" });
    const [url] = fleet.urls as [string];
    try {
      await insist(fleet, 0, "POST", "/api/v1/tenants", { name: "t" }, "t");
      await insist(fleet, 0, "POST", "/api/v1/nodes", { id: "n" }, "n");
      const { body } = await insist(fleet, 0, "POST", "/api/v1/allocations", { tenant: "t" }, "a");
      await call(url, "POST", "/api/v1/admin/cycle");
      const leader = await etcd.leader();
      await etcd.kill(leader);
      await etcd.kill((leader + 1) % 3);
      const refused = await fetch(`${url}/api/v1/tenants/t`, {
        method: "PUT",
        headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
        body: '{"max_nodes": 1}',
      });
      expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([503, true]);
      expect((await call(url, "GET", "/api/v1/allocations")).body).toMatchObject([{ id: body.id, state: "running" }]);
      await etcd.restart(leader);
      expect((await insist(fleet, 0, "PUT", "/api/v1/tenants/t", { max_nodes: 1 }, "later")).status).toBe(200);
    } finally {
      await fleet.destroy();
      await etcd.destroy();
    }
  },
);
