import { setTimeout as wait } from "node:timers/promises";
import { openEtcdLog } from "@seneschal/adapters/etcd";
import { stateHash } from "@seneschal/quota";
import { expect, test } from "vitest";
import { etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { namespacesWork } from "../../../../tools/network-namespaces.ts";
import { findLinearization, type Operation } from "./find-linearization.ts";
import { ADMIN, call, type Fleet, insist, startFleet } from "./scheduler-fleet.ts";
import { Witness } from "./witness.ts";

/** So many faults, at least so many acknowledged allocations, and so many callers; raise them for a long run. */
const FAULTS = Number(process.env["SCHEDULER_FAULTS"] ?? 10);
const ALLOCATIONS = Number(process.env["SCHEDULER_ALLOCATIONS"] ?? 500);
const CALLERS = Number(process.env["SCHEDULER_CALLERS"] ?? 16);
const TENANTS = CALLERS / 4;
const NODES = CALLERS * 2;
/** Four callers share a tenant and ask for up to nine nodes at once: the limits are felt. */
const LIMITS = [7, 9];

/** The process that the others forward to, by its number. */
async function sequencer(fleet: Fleet): Promise<number> {
  const { body } = await insist(fleet, 0, "GET", "/api/v1/raft/status");
  return Number(/^scheduler-(\d)$/.exec(body.leader_id)?.[1] ?? 0);
}

test.skipIf(!etcdInstalled())(
  "four scheduler processes on three etcd members lose, double and exceed nothing, and answer linearizably, whatever dies, stalls, jumps or is cut off",
  { timeout: 3_600_000 },
  async () => {
    const namespaces = namespacesWork();
    if (!namespaces) console.log("no network namespaces here (root and iproute2): members are cut off from each other only");
    const etcd = await startEtcdCluster(namespaces ? { namespaces } : { peerProxies: true });
    const ends: (() => Promise<void>)[] = [() => etcd.destroy()];
    try {
      const fleet = await startFleet(4, { kind: "etcd", endpoints: etcd.endpoints, prefix: "/fault-test" });
      ends.push(() => fleet.destroy());
      const log = await openEtcdLog({ endpoints: etcd.endpoints, prefix: "/fault-test" });
      ends.push(() => log.close());
      const witness = new Witness(log);
      for (let t = 0; t < TENANTS; t++)
        await insist(fleet, t, "POST", "/api/v1/tenants", { name: `t${t}`, max_nodes: LIMITS[0] }, `t${t}`);
      for (let n = 0; n < NODES; n++) await insist(fleet, n, "POST", "/api/v1/nodes", { id: `n${n}` }, `n${n}`);

      /** What clients saw; places in the log are looked up when all of it is read. */
      const seen: ((witness: Witness) => Operation)[] = [];
      const timed = async <T>(work: () => Promise<T>): Promise<T & { asked: number; answered: number }> => {
        const asked = performance.now();
        const answer = await work();
        return { ...answer, asked, answered: performance.now() };
      };
      let acknowledged = 0;
      let refused = 0;
      let working = true;
      /** Who waits for an allocation, told by who ended it. */
      const waiting = new Map<string, () => void>();
      const ended = (id: string): Promise<unknown> =>
        Promise.race([wait(1000), new Promise<void>((resolve) => waiting.set(id, resolve))]);

      /** Submits, waits until it hears that its allocation ended, and looks whether it has. */
      const submitter = async (at: number): Promise<void> => {
        const tenant = `t${at % TENANTS}`;
        for (let i = 0; working; i++) {
          const name = `submission ${at}-${i}`;
          const request = { tenant, nodes: 1 + (i % 3) };
          const told = await timed(() => insist(fleet, at + i, "POST", "/api/v1/allocations", request, `s-${at}-${i}`));
          const { asked, answered, status, body } = told;
          if (status === 429) {
            refused++;
            const { current: nodes, limit: maxNodes } = body.error.details;
            seen.push((w) => ({ name, asked, answered, observedFrom: w.sawTenant(tenant, { nodes, maxNodes }) }));
            await wait(100);
            continue;
          }
          if (status !== 201) throw new Error(`submission: ${status} ${JSON.stringify(body)}`);
          acknowledged++;
          const id: string = body.id;
          seen.push((w) => ({ name, asked, answered, position: w.submitted(id) }));
          for (let state = ""; working && state !== "completed"; ) {
            await ended(id);
            const read = await timed(() => insist(fleet, at, "GET", `/api/v1/allocations/${id}`));
            const { asked, answered } = read;
            // records of ended work are forgotten at once when the clock jumps
            const gone = read.status === 404;
            state = gone ? "completed" : read.body.state;
            const version: number = gone ? 0 : read.body.version;
            seen.push((w) => ({ name: `read of ${id}`, asked, answered, observedFrom: w.sawAllocation(id, version) }));
          }
          waiting.delete(id);
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
            running.body.map(async ({ id }: { id: string }) => {
              const asked = performance.now();
              const answer = await call(url, "POST", `/api/v1/allocations/${id}/complete`).catch(() => undefined);
              const answered = performance.now();
              if (answer?.status !== 200) return;
              waiting.get(id)?.();
              seen.push((w) => ({ name: `end of ${id}`, asked, answered, position: w.completed(id) }));
            }),
          );
        }
      };
      /** Moves limits up and down, and reads them. */
      const administrator = async (): Promise<void> => {
        for (let i = 0; working; i++) {
          const tenant = `t${i % TENANTS}`;
          const reason = `edit ${i}`;
          const body = { max_nodes: LIMITS[Math.floor(i / TENANTS) % 2], reason };
          const asked = performance.now();
          // an edit carries no key: one whose answer was lost is made again under a new reason
          const answer = await call(fleet.urls[i % 4] as string, "PUT", `/api/v1/tenants/${tenant}`, body).catch(() => undefined);
          const answered = performance.now();
          if (answer?.status === 200) seen.push((w) => ({ name: reason, asked, answered, position: w.edited(reason) }));
          const read = await timed(() => insist(fleet, i, "GET", `/api/v1/tenants/${tenant}`));
          const { max_nodes: maxNodes, version } = read.body;
          const { asked: from, answered: to } = read;
          seen.push((w) => ({
            name: `read of ${tenant}`,
            asked: from,
            answered: to,
            observedFrom: w.sawTenant(tenant, { maxNodes, version }),
          }));
          await wait(100);
        }
      };
      const reader = async (): Promise<void> => {
        while (working) {
          await witness.follow().catch((error: { code?: string }) => {
            if (error.code !== "no_quorum") throw error;
          });
          await wait(200);
        }
      };

      const one = (): number => Math.floor(Math.random() * 4);
      const killLeader = async (): Promise<void> => {
        const leader = await etcd.leader();
        await etcd.kill(leader);
        await wait(1500);
        await etcd.restart(leader);
      };
      const killScheduler = async (at: number): Promise<void> => {
        await fleet.kill(at);
        await wait(500);
        await fleet.start(at);
      };
      const dies = (when: string) => async (): Promise<void> => {
        const at = await sequencer(fleet);
        fleet.tell(at, `die ${when}`);
        await fleet.ended(at);
        await fleet.start(at);
      };
      const faults: readonly (() => Promise<void>)[] = [
        killLeader,
        dies("after append"),
        async () => {
          const leader = await etcd.leader();
          etcd.pause(leader);
          await wait(3000);
          etcd.resume(leader);
        },
        async () => killScheduler(await sequencer(fleet)),
        async () => {
          await etcd.isolate(await etcd.leader());
          await wait(3000);
          etcd.rejoin();
        },
        dies("before append"),
        async () => {
          const at = await sequencer(fleet);
          fleet.pause(at);
          await wait(6000); // longer than its lease
          fleet.resume(at);
        },
        async () => {
          fleet.tell(await sequencer(fleet), `jump ${-3_600_000}`);
          fleet.tell(one(), `jump ${7_200_000}`);
        },
        () => killScheduler(one()),
        async () => {
          await etcd.isolate(((await etcd.leader()) + 1) % 3);
          await wait(2000);
          etcd.rejoin();
        },
      ];
      const load = [...Array.from({ length: CALLERS }, (_, i) => submitter(i)), agent(0), agent(2), administrator(), reader()];
      const failed = Promise.all(load);
      /** Until so many are acknowledged, or something went wrong. */
      const reached = async (count: number): Promise<void> => {
        while (acknowledged < count) await Promise.race([failed, wait(100)]);
      };
      for (let i = 0; i < FAULTS; i++) {
        await reached((i * ALLOCATIONS) / FAULTS);
        await Promise.race([failed, faults[i % faults.length]?.()]);
        await Promise.race([failed, wait(1000)]);
      }
      await reached(ALLOCATIONS);
      working = false;
      await failed;
      await witness.follow();

      const operations = seen.map((operation) => operation(witness));
      expect(witness.violations).toEqual([]);
      expect(witness.lost(operations)).toEqual([]);
      expect(findLinearization(operations)).toEqual([]);
      expect(refused, "the limits were felt").toBeGreaterThan(0);
      const { commands, entries } = witness;
      console.log(
        `${FAULTS} faults${namespaces ? " (network namespaces)" : ""}: ${acknowledged} allocations acknowledged, ${refused} refused; ${operations.length} operations linearizable over ${commands} commands in ${entries} entries`,
      );
      // every process that has read as far has the same state; cycles still go on, so that it may take more than one look
      for (const url of fleet.urls)
        for (let same = false; !same; ) {
          await call(url, "GET", "/api/v1/system/quotas");
          await witness.follow();
          const { body } = await call(url, "GET", "/api/v1/raft/status?hash=true");
          same = body.last_applied === witness.entries;
          if (same) expect(body.state_hash).toBe(stateHash(witness.state));
        }
    } finally {
      for (const end of ends.reverse()) await end();
    }
  },
);

test.skipIf(!etcdInstalled())(
  "without a quorum writes answer 503 with Retry-After, running work stays, and lists are still served",
  { timeout: 120_000 },
  async () => {
    const etcd = await startEtcdCluster();
    const ends: (() => Promise<void>)[] = [() => etcd.destroy()];
    try {
      const fleet = await startFleet(1, { kind: "etcd", endpoints: etcd.endpoints, prefix: "/quorum-test" });
      ends.push(() => fleet.destroy());
      const [url] = fleet.urls as [string];
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
      for (const end of ends.reverse()) await end();
    }
  },
);
