import { expect, test } from "vitest";
import { etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { startTcpProxy } from "../../../../tools/tcp-proxy.ts";
import { ADMIN, startFleet } from "./scheduler-fleet.ts";

/** The law: who asks while there is no quorum is told so within three seconds. A later answer is none. */
const WITHIN_MS = 3000;

async function ask(url: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(WITHIN_MS),
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  const answer: any = await response.json();
  return { status: response.status, code: answer.error?.code, retryAfter: response.headers.get("retry-after"), answer };
}

test.skipIf(!etcdInstalled())(
  "behind a network that swallows everything, and behind dead members, every process says within seconds that there is no quorum, and recovers by itself",
  { timeout: 300_000 },
  async () => {
    const etcd = await startEtcdCluster();
    const ends: (() => Promise<void>)[] = [() => etcd.destroy()];
    try {
      const members = etcd.endpoints.map((endpoint) => new URL(endpoint));
      const proxies = await Promise.all(members.map(({ port, hostname }) => startTcpProxy(Number(port), hostname)));
      for (const proxy of proxies) ends.push(() => proxy.close());
      const endpoints = proxies.map(({ port }) => `http://127.0.0.1:${port}`);
      const fleet = await startFleet(2, { kind: "etcd", endpoints, prefix: "/quorum-law" });
      ends.push(() => fleet.destroy());
      const until = async (happened: () => Promise<boolean>): Promise<void> => {
        await expect.poll(() => happened().catch(() => false), { timeout: 60_000, interval: 100 }).toBe(true);
      };
      const [first, second] = fleet.urls as [string, string];
      const leads = async (url: string) => (await ask(url, "GET", "/api/v1/raft/status")).answer;
      await until(async () => (await ask(first, "POST", "/api/v1/tenants", { name: "t" })).status === 201);
      await until(async () => (await leads(first)).leader_id === (await leads(second)).leader_id);

      let round = 0;
      for (const fault of ["silence", "death"] as const) {
        if (fault === "silence") for (const proxy of proxies) proxy.stall();
        else for (const at of [0, 1]) await etcd.kill(at);
        // at first nobody knows it; the second time it is known
        for (const known of [false, true])
          for (const answers of await Promise.all(
            fleet.urls.map((url) =>
              Promise.all([
                ask(url, "POST", "/api/v1/allocations", { tenant: "t" }),
                ask(url, "POST", "/api/v1/tenants", { name: `r${round++}` }),
                ask(url, "PUT", "/api/v1/tenants/t", { max_nodes: 1 }),
                ask(url, "GET", "/api/v1/tenants/t"),
              ]),
            ),
          ))
            for (const { status, code, retryAfter } of answers) {
              expect(status).toBe(503);
              expect(known ? ["no_quorum"] : ["no_quorum", "outcome_unknown"]).toContain(code);
              expect(Number(retryAfter)).toBeGreaterThan(0);
            }
        for (const url of fleet.urls) {
          expect((await ask(url, "GET", "/health")).answer).toMatchObject({ components: { log: { status: "unhealthy" } } });
          const ready = await ask(url, "GET", "/ready");
          expect([ready.status, ready.answer.ready]).toEqual([503, false]);
          expect((await ask(url, "GET", "/api/v1/raft/status")).answer.available).toBe(false);
          expect((await ask(url, "GET", "/api/v1/allocations")).status).toBe(200);
        }
        if (fault === "silence") for (const proxy of proxies) proxy.heal();
        else for (const at of [0, 1]) await etcd.restart(at);
        for (const url of fleet.urls) {
          await until(async () => (await ask(url, "GET", "/ready")).status === 200);
          await until(async () => (await ask(url, "PUT", "/api/v1/tenants/t", { max_nodes: 9 })).status === 200);
        }
        // the lease: one process leads, and both say which
        await until(async () => {
          const [a, b] = await Promise.all([leads(first), leads(second)]);
          return a.leader_id !== "" && a.leader_id === b.leader_id && /^scheduler-[01]$/.test(a.leader_id);
        });
        // the watch: what one commits the other applies without being asked for anything exact
        const { answer } = await ask(first, "POST", "/api/v1/tenants", { name: `after-${fault}` });
        await until(async () =>
          (await ask(second, "GET", "/api/v1/tenants")).answer.some(({ id }: { id: string }) => id === answer.id),
        );
      }
    } finally {
      for (const end of ends.reverse()) await end();
    }
  },
);
