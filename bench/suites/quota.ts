import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEtcdLog } from "@seneschal/adapters/etcd";
import { openLevelLog } from "@seneschal/adapters/level";
import { sha256 } from "@seneschal/adapters/log";
import { createMemoryLog } from "@seneschal/adapters/memory";
import { openReplicated } from "@seneschal/kernel/log";
import type { ReplicatedLog } from "@seneschal/kernel/ports";
import { type Command, plan, type QuotaState, quotaMachine, tenantUsage } from "@seneschal/quota";
import { type EtcdCluster, etcdInstalled, startEtcdCluster } from "../../tools/etcd-cluster.ts";
import { type Bench, type BenchResult, quantile } from "../bench.ts";
import { built, cluster, must, nodeId, queue, REQUEST } from "../quota-states.ts";

/**
 * `callers` loops against one log, each submitting, assigning and completing allocations of `size` nodes on nodes of its
 * own. Decisions are submissions and assignments; completions are counted as releases.
 */
async function decisions(
  name: string,
  log: ReplicatedLog,
  { callers, tenants, size, ms, bar }: { callers: number; tenants: number; size: number; ms: number; bar?: string },
): Promise<BenchResult[]> {
  const replicated = await openReplicated({
    log,
    machine: quotaMachine,
    clock: { now: () => Date.now() },
    sha256,
    newId: randomUUID,
  });
  const setup = [...cluster(callers * size, tenants)];
  for (let i = 0; i < setup.length; i += 500) await replicated.propose(setup.slice(i, i + 500));
  const latencies: number[] = [];
  let decided = 0;
  let assigned = 0;
  let released = 0;
  let stop = performance.now() + ms / 4;
  const propose = async (command: Command): Promise<void> => {
    const [answer] = await replicated.propose([command]);
    if (answer?.result.ok !== true) throw new Error(answer?.result.message ?? "no answer");
  };
  const caller = async (c: number, timed: boolean): Promise<void> => {
    const mine = Array.from({ length: size }, (_, i) => nodeId(c * size + i));
    const request = { ...REQUEST, tenant: `t${c % tenants}`, nodes: size, minNodes: size };
    while (performance.now() < stop) {
      const allocation = randomUUID();
      const steps: Command[] = [
        { kind: "allocation.submit", id: randomUUID(), by: "bench", allocation, request },
        { kind: "allocation.assign", id: randomUUID(), by: "bench", allocation, nodes: mine, to: "running", expected: {} },
        { kind: "allocation.move", id: randomUUID(), by: "bench", allocation, to: "completed", exitCode: 0 },
      ];
      for (const [i, step] of steps.entries()) {
        const began = performance.now();
        await propose(step);
        if (!timed) continue;
        if (i === 2) released++;
        else {
          decided++;
          assigned += i;
          latencies.push(performance.now() - began);
        }
      }
    }
  };
  const all = (timed: boolean): Promise<unknown> => Promise.all(Array.from({ length: callers }, (_, c) => caller(c, timed)));
  await all(false);
  const began = performance.now();
  stop = began + ms;
  await all(true);
  const seconds = (performance.now() - began) / 1000;
  latencies.sort((a, b) => a - b);
  await replicated.close();
  await log.close();
  return [
    {
      name: size === 1 ? `${name} decisions` : `${name} allocations accepted`,
      value: (size === 1 ? decided : assigned) / seconds,
      unit: "1/s",
      ...(bar === undefined ? {} : { bar }),
    },
    { name: `${name} releases beside`, value: released / seconds, unit: "1/s" },
    { name: `${name} decision p50`, value: quantile(latencies, 0.5), unit: "ms" },
    { name: `${name} decision p99`, value: quantile(latencies, 0.99), unit: "ms" },
  ];
}

async function onLevel<T>(work: (log: ReplicatedLog) => Promise<T>): Promise<T> {
  const path = await mkdtemp(join(tmpdir(), "quota-bench-"));
  try {
    return await work(await openLevelLog({ path }));
  } finally {
    await rm(path, { recursive: true });
  }
}

/** The longest time without a decision while the leader is killed under 64 callers, who insist. */
async function outage(etcd: EtcdCluster, log: ReplicatedLog): Promise<BenchResult> {
  const clock = { now: () => Date.now() };
  const replicated = await openReplicated({ log, machine: quotaMachine, clock, sha256, newId: randomUUID });
  await replicated.propose([...cluster(1, 1)]);
  let working = true;
  let longest = 0;
  let last = performance.now();
  let seen = 0;
  const caller = async (): Promise<void> => {
    while (working) {
      const [id, allocation] = [randomUUID(), randomUUID()];
      const command: Command = { kind: "allocation.submit", id, by: "bench", allocation, request: REQUEST };
      while ((await replicated.propose([command]).catch(() => undefined)) === undefined);
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
      seen++;
    }
  };
  const callers = Array.from({ length: 64 }, caller);
  const until = async (count: number): Promise<void> => {
    while (seen < count) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  await until(1000);
  longest = 0;
  const leader = await etcd.leader();
  await etcd.kill(leader);
  await until(seen + 1000);
  working = false;
  await Promise.all(callers);
  await etcd.restart(leader);
  await replicated.close();
  await log.close();
  return { name: "quota etcd, leader killed, longest gap", value: longest, unit: "ms", bar: "<= 1,500" };
}

const applying: Bench = {
  name: "quota-apply",
  async run() {
    const count = 30_000;
    let state = built(1000, 10);
    let at = 1000;
    let id = 0;
    const began = performance.now();
    for (let i = 0; i < count; i++) {
      const allocation = `a${String(i).padStart(8, "0")}`;
      const send = (command: Command): void => {
        state = must(state, command, at++);
      };
      const stamp = (): { id: string; by: string } => ({ id: `c${id++}`, by: "bench" });
      send({ kind: "allocation.submit", ...stamp(), allocation, request: { ...REQUEST, tenant: `t${i % 10}` } });
      send({ kind: "allocation.assign", ...stamp(), allocation, nodes: [nodeId(i % 1000)], to: "running", expected: {} });
      send({ kind: "allocation.move", ...stamp(), allocation, to: "completed" });
    }
    return [{ name: "quota apply, pure", value: (3 * count * 1000) / (performance.now() - began), unit: "commands/s" }];
  },
};

const embedded: Bench = {
  name: "quota-embedded",
  async run() {
    const one = { callers: 64, tenants: 1, size: 1, ms: 3000 };
    return [
      ...(await decisions("quota memory log, 64 callers,", createMemoryLog().open(), one)),
      ...(await onLevel((log) => decisions("quota embedded log, 64 callers,", log, { ...one, bar: ">= 20,000" }))),
      ...(await onLevel((log) => decisions("quota embedded log, 256 callers,", log, { ...one, callers: 256, bar: ">= 20,000" }))),
      ...(await onLevel((log) => decisions("quota embedded log, 1 caller,", log, { ...one, callers: 1 }))),
      ...(await onLevel((log) =>
        decisions("quota embedded log, 500 nodes each,", log, { callers: 16, tenants: 16, size: 500, ms: 3000 }),
      )),
    ];
  },
};

const onEtcd: Bench = {
  name: "quota-etcd",
  async run() {
    if (!etcdInstalled()) {
      console.log("quota-etcd: etcd is not installed here, left out");
      return [];
    }
    const cluster = await startEtcdCluster();
    try {
      const open = (prefix: string): Promise<ReplicatedLog> => openEtcdLog({ endpoints: cluster.endpoints, prefix });
      const one = { callers: 64, tenants: 1, size: 1, ms: 4000 };
      return [
        ...(await decisions("quota etcd, 64 callers, 1 tenant,", await open("/a"), { ...one, bar: ">= 10,000, p99 <= 15" })),
        ...(await decisions("quota etcd, 64 callers, 64 tenants,", await open("/b"), { ...one, tenants: 64 })),
        ...(await decisions("quota etcd, 1 caller,", await open("/c"), { ...one, callers: 1 })),
        ...(await decisions("quota etcd, 16 callers, 500 nodes each,", await open("/d"), {
          callers: 16,
          tenants: 16,
          size: 500,
          ms: 4000,
          bar: ">= 800",
        })),
        await outage(cluster, await open("/e")),
      ];
    } finally {
      await cluster.destroy();
    }
  },
};

const cycle: Bench = {
  name: "quota-cycle",
  async run() {
    const results: BenchResult[] = [];
    const sizes = [
      [100, 1000, undefined],
      [300, 3000, undefined],
      [1000, 10_000, "<= 500"],
      [3000, 30_000, undefined],
      [10_000, 100_000, "<= 10,000"],
    ] as const;
    for (const [pending, nodes, bar] of sizes) {
      const idle = queue(built(nodes, 20), pending, 0);
      results.push(timed(`quota cycle, ${pending} pending, ${nodes} nodes, idle`, idle, bar));
      let busy = built(nodes, 20);
      for (let i = 0, at = 0; at + 16 <= nodes; i++, at += 16) {
        const allocation = `r${String(i).padStart(8, "0")}`;
        const request = {
          ...REQUEST,
          tenant: `t${i % 20}`,
          nodes: 16,
          minNodes: 16,
          priorityClass: i % 8,
          checkpoint: "auto" as const,
        };
        const mine = Array.from({ length: 16 }, (_, k) => nodeId(at + k));
        busy = must(busy, { kind: "allocation.submit", id: `s${i}`, by: "bench", allocation, request }, 2);
        busy = must(
          busy,
          { kind: "allocation.assign", id: `x${i}`, by: "bench", allocation, nodes: mine, to: "running", expected: {} },
          3,
        );
      }
      results.push(timed(`quota cycle, ${pending} pending, ${nodes} nodes, full`, queue(busy, pending, 3), bar));
    }
    results.push({ name: "quota cycle, memory after", value: process.memoryUsage().heapUsed / 2 ** 20, unit: "MiB" });
    return results;
  },
};

function timed(name: string, state: QuotaState, bar: string | undefined): BenchResult {
  plan(state, 3_600_000);
  const began = performance.now();
  plan(state, 3_600_000);
  return { name, value: performance.now() - began, unit: "ms", ...(bar === undefined ? {} : { bar }) };
}

const ledger: Bench = {
  name: "quota-ledger",
  async run() {
    const count = 1_000_000;
    let state = built(1000, 10);
    const day = 86_400_000;
    const step = Math.floor((90 * day) / count);
    let id = 0;
    for (let i = 0; i < count; i++) {
      const allocation = "a"; // one record, reused: the ledger keeps the hours, not the record
      const stamp = (): { id: string; by: string } => ({ id: `c${id++}`, by: "bench" });
      const at = 1000 + i * step;
      const send = (command: Command): void => {
        state = must(state, command, at);
      };
      send({
        kind: "allocation.submit",
        ...stamp(),
        allocation,
        request: { ...REQUEST, tenant: `t${i % 10}`, user: `u${i % 100}` },
      });
      send({ kind: "allocation.assign", ...stamp(), allocation, nodes: [nodeId(i % 1000)], to: "running", expected: {} });
      state = must(state, { kind: "allocation.move", ...stamp(), allocation, to: "completed" }, at + Math.floor(step / 2));
      send({ kind: "allocation.prune", ...stamp(), allocations: [allocation] });
    }
    const times: number[] = [];
    for (let i = 0; i < 10_000; i++) {
      const began = performance.now();
      tenantUsage(state, `t${i % 10}`, 1 + (i % 90), state.at);
      times.push(performance.now() - began);
    }
    times.sort((a, b) => a - b);
    return [
      { name: "quota ledger, 1,000,000 allocations, p99", value: quantile(times, 0.99), unit: "ms", bar: "<= 5" },
      { name: "quota ledger, memory", value: process.memoryUsage().rss / 2 ** 20, unit: "MiB" },
    ];
  },
};

export const benches: readonly Bench[] = [applying, embedded, onEtcd, cycle, ledger];
