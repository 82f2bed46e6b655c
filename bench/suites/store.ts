/** The stores and logs beside the raw engine of the same run. What is not installed is left out. */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EtcdClient, openEtcdLog } from "@seneschal/adapters/etcd";
import { openLevelLog, openLevelStore } from "@seneschal/adapters/level";
import { newId, sha256 } from "@seneschal/adapters/log";
import { createMemoryLog, openMemoryStore } from "@seneschal/adapters/memory";
import { openPostgresLog, openPostgresStore } from "@seneschal/adapters/postgres";
import { systemClock } from "@seneschal/adapters/system";
import { type Machine, openReplicated, rememberCommands } from "@seneschal/kernel/log";
import type { DocumentStore, ReplicatedLog } from "@seneschal/kernel/ports";
import type { StoreSchema } from "@seneschal/kernel/store";
import { ClassicLevel } from "classic-level";
import pg from "pg";
import { etcdInstalled, startEtcdCluster } from "../../tools/etcd-cluster.ts";
import { postgresBinaries, startPostgres } from "../../tools/postgres-cluster.ts";
import type { Bench, BenchResult } from "../bench.ts";

const spinMs = 2000;

/** Calls per second of `callers` loops over `work`, after a warm-up, and the sorted times of the calls in ms. */
async function load(
  callers: number,
  work: (caller: number) => Promise<unknown>,
): Promise<{ readonly perSecond: number; readonly p50: number; readonly p99: number }> {
  const spin = async (ms: number): Promise<{ readonly times: number[]; readonly elapsed: number }> => {
    const times: number[] = [];
    const start = performance.now();
    await Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        while (performance.now() - start < ms) {
          const began = performance.now();
          await work(caller);
          times.push(performance.now() - began);
        }
      }),
    );
    return { times, elapsed: performance.now() - start };
  };
  await spin(spinMs / 4);
  const { times, elapsed } = await spin(spinMs);
  times.sort((a, b) => a - b);
  const quantile = (q: number): number => times[Math.floor((times.length - 1) * q)] ?? 0;
  return { perSecond: (times.length * 1000) / elapsed, p50: quantile(0.5), p99: quantile(0.99) };
}

const schema: StoreSchema = {
  collections: {
    jobs: {
      indexes: {
        by_tenant: { key: (doc) => [doc["tenant"] as string, doc["state"] as string, doc["at"] as number] },
        by_state: { key: (doc) => [doc["state"] as string] },
        by_name: { key: (doc) => [doc["name"] as string], unique: true },
      },
    },
  },
};
const job = (id: string): { tenant: string; state: string; at: number; name: string; text: string } => ({
  tenant: `t${id.charCodeAt(0) % 10}`,
  state: "pending",
  at: Date.now(),
  name: id,
  text: "x".repeat(220),
});
const create = (store: DocumentStore): Promise<unknown> => {
  const id = randomUUID();
  return store.commit({
    commitId: randomUUID(),
    puts: [{ coll: "jobs", id, doc: job(id), ifVersion: 0 }],
    audit: [{ stream: "org", event: { type: "created", id } }],
  });
};

async function inDirectory<T>(work: (path: string) => Promise<T>): Promise<T> {
  const path = await mkdtemp(join(tmpdir(), "bench-store-"));
  try {
    return await work(path);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

const versus = (name: string, value: number, peer: string, peerValue: number, bar: string): BenchResult => ({
  name,
  value,
  unit: "/s",
  peer,
  peerValue,
  ratio: value / peerValue,
  bar,
});

/** The same bytes in the same number of records, with nothing read, checked or numbered. */
async function rawLevel(): Promise<number> {
  return inDirectory(async (path) => {
    const db = new ClassicLevel<string, string>(path);
    await db.open();
    const { perSecond } = await load(1, () => {
      const id = randomUUID();
      const records = [
        `d/jobs/${id}`,
        `i/1/${id}`,
        `i/2/${id}`,
        `i/3/${id}`,
        `a/${id}`,
        `s/${id}`,
        `c/${id}`,
        `t/${id}`,
        `q/${id}`,
      ];
      const value = JSON.stringify(job(id));
      return db.batch(
        records.map((key, at) => ({ type: "put" as const, key, value: at === 0 ? value : id })),
        { sync: true },
      );
    });
    await db.close();
    return perSecond;
  });
}

async function levelStore(): Promise<BenchResult[]> {
  const raw = await rawLevel();
  return inDirectory(async (path) => {
    const store = await openLevelStore({ path, ...schema });
    const one = await load(1, () => create(store));
    const many = await load(16, () => create(store));
    const ids = (await store.list("jobs", "by_state", ["pending"], { limit: 1000 })).items.map((item) => item.id);
    const get = await load(16, () => store.get("jobs", ids[Math.floor(Math.random() * ids.length)] as string));
    const list = await load(8, (caller) => store.list("jobs", "by_tenant", [`t${caller}`, "pending"], { limit: 50 }));
    await store.close();
    return [
      versus("store.level.create.1", one.perSecond, "raw sync batch", raw, "ratio >= 0.5"),
      versus("store.level.create.16", many.perSecond, "raw sync batch", raw, ">= 10,000/s"),
      { name: "store.level.get.16", value: get.perSecond, unit: "/s" },
      { name: "store.level.list50.8", value: list.perSecond, unit: "/s" },
    ];
  });
}

async function memoryStore(): Promise<BenchResult[]> {
  const store = openMemoryStore(schema);
  const { perSecond } = await load(1, () => create(store));
  await store.close();
  return [{ name: "store.memory.create", value: perSecond, unit: "/s" }];
}

/** What one would write first: a transaction per create, bigserial for the audit, indexes by expression. */
async function plainPostgres(url: string, callers: number): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: Math.min(callers, 32) });
  await pool.query(`drop table if exists plain_jobs, plain_audit;
    create table plain_jobs (id text primary key, version bigint not null, doc jsonb not null);
    create index on plain_jobs ((doc->>'tenant'), (doc->>'state'), ((doc->>'at')::bigint));
    create index on plain_jobs ((doc->>'state')); create unique index on plain_jobs ((doc->>'name'));
    create table plain_audit (seq bigserial primary key, stream text not null, event jsonb not null)`);
  const { perSecond } = await load(callers, async () => {
    const id = randomUUID();
    const client = await pool.connect();
    try {
      await client.query("begin");
      await client.query({ name: "i", text: "insert into plain_jobs values ($1, 1, $2)", values: [id, job(id)] });
      await client.query({ name: "a", text: "insert into plain_audit (stream, event) values ($1, $2)", values: ["org", { id }] });
      await client.query("commit");
    } finally {
      client.release();
    }
  });
  await pool.end();
  return perSecond;
}

async function postgresStore(): Promise<BenchResult[]> {
  if (postgresBinaries() === undefined) return [];
  const server = await startPostgres();
  try {
    const results: BenchResult[] = [];
    const store = await openPostgresStore({ url: server.url, ...schema });
    for (const [callers, bar] of [
      [1, ""],
      [16, "ratio >= 1.2"],
      [64, "ratio >= 2"],
    ] as const) {
      const plain = await plainPostgres(server.url, callers);
      const ours = await load(callers, () => create(store));
      results.push(
        versus(`store.postgres.create.${callers}`, ours.perSecond, "one transaction each, audit not dense", plain, bar),
      );
    }
    await store.close();
    return results;
  } finally {
    await server.destroy();
  }
}

type Command = { readonly id: string; readonly tenant: string; readonly amount: number };
type State = Readonly<Record<string, number>>;

/** A limit per tenant, and nothing else: what is measured is the log. */
const counters = (limit: number): Machine<State, Command, boolean> => ({
  initial: {},
  apply(state, { tenant, amount }) {
    const next = (state[tenant] ?? 0) + amount;
    return next > limit ? { state, result: false } : { state: { ...state, [tenant]: next }, result: true };
  },
  encode: (state) => [Buffer.from(JSON.stringify(state))],
  decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as State,
  hash: (state) => sha256(JSON.stringify(Object.entries(state).sort())),
});

async function decisions(log: ReplicatedLog, callers: number, tenants: number, limit = Number.MAX_SAFE_INTEGER) {
  const replicated = await openReplicated({ log, machine: counters(limit), clock: systemClock, sha256, newId });
  const measured = await load(callers, (caller) =>
    replicated.propose([{ id: randomUUID(), tenant: `t${caller % tenants}`, amount: 1 }]),
  );
  await replicated.close();
  return measured;
}

async function embeddedLogs(): Promise<BenchResult[]> {
  const memory = await decisions(createMemoryLog().open(), 64, 1);
  const level = await inDirectory(async (path) => {
    const log = await openLevelLog({ path });
    const measured = await decisions(log, 64, 1);
    await log.close();
    return measured;
  });
  return [
    { name: "log.memory.decisions.64", value: memory.perSecond, unit: "/s" },
    { name: "log.level.decisions.64", value: level.perSecond, unit: "/s", bar: ">= 20,000/s" },
  ];
}

async function postgresLog(): Promise<BenchResult[]> {
  if (postgresBinaries() === undefined) return [];
  const server = await startPostgres();
  try {
    const log = await openPostgresLog({ url: server.url, name: "bench" });
    const { perSecond } = await decisions(log, 64, 1);
    await log.close();
    return [{ name: "log.postgres.decisions.64", value: perSecond, unit: "/s" }];
  } finally {
    await server.destroy();
  }
}

async function etcdLog(): Promise<BenchResult[]> {
  if (!etcdInstalled()) return [];
  const cluster = await startEtcdCluster();
  try {
    const { endpoints } = cluster;
    const client = new EtcdClient({ endpoints });
    await client.preferLeader();
    const value = Buffer.alloc(200, "x");
    const transaction = (caller: number) => {
      const key = Buffer.from(`/raw/${caller}`);
      return client.call("KV.Txn", {
        compare: [{ key, target: 0, result: 1, version: -1 }],
        success: [{ request_put: { key, value } }],
      });
    };
    const raw1 = await load(1, transaction);
    const raw64 = await load(64, transaction);
    client.close();
    let prefixes = 0;
    const run = async (callers: number, tenants: number, limit?: number) => {
      prefixes += 1;
      const log = await openEtcdLog({ endpoints, prefix: `/bench/${prefixes}` });
      const before = await log.status();
      const measured = await decisions(log, callers, tenants, limit);
      const after = await log.status();
      await log.close();
      return { ...measured, entries: after.head.seq - before.head.seq };
    };
    const one = await run(1, 1);
    const single = await run(64, 1);
    const spread = await run(64, 64);
    const rejected = await run(16, 1, 0);
    return [
      versus("log.etcd.decisions.64.one_tenant", single.perSecond, "raw transactions", raw64.perSecond, "ratio >= 2.5"),
      versus("log.etcd.decisions.64.64_tenants", spread.perSecond, "raw transactions", raw64.perSecond, "ratio >= 2.5"),
      versus("log.etcd.one_tenant_over_64", single.perSecond, "64 tenants", spread.perSecond, "ratio >= 0.8"),
      { name: "log.etcd.p99.64", value: single.p99, unit: "ms", bar: "<= 20 ms" },
      {
        name: "log.etcd.p50.1",
        value: one.p50,
        unit: "ms",
        peer: "raw transaction",
        peerValue: raw1.p50,
        ratio: one.p50 / raw1.p50,
        bar: "ratio <= 1.3",
      },
      { name: "log.etcd.rejections.16", value: rejected.perSecond, unit: "/s", bar: ">= 5,000/s" },
      { name: "log.etcd.rejections.entries", value: rejected.entries, unit: "entries", bar: "0" },
    ];
  } finally {
    await cluster.destroy();
  }
}

/** The same load where every fdatasync takes 2 ms longer. */
async function etcdSlowDisk(): Promise<BenchResult[]> {
  if (!etcdInstalled() || spawnSync("strace", ["-V"]).status !== 0) return [];
  const cluster = await startEtcdCluster({ slowDisk: true });
  try {
    const log = await openEtcdLog({ endpoints: cluster.endpoints, prefix: "/slow" });
    const { perSecond } = await decisions(log, 64, 64);
    await log.close();
    return [{ name: "log.etcd.slow_disk.64", value: perSecond, unit: "/s", bar: ">= 5,000/s" }];
  } finally {
    await cluster.destroy();
  }
}

/** A million small commands, 512 at a time, with the default snapshots, truncation and compaction. */
async function etcdSoak(): Promise<BenchResult[]> {
  if (!etcdInstalled()) return [];
  const cluster = await startEtcdCluster();
  try {
    const log = await openEtcdLog({ endpoints: cluster.endpoints, prefix: "/soak" });
    const replicated = await openReplicated({
      log,
      machine: rememberCommands(counters(Number.MAX_SAFE_INTEGER)),
      clock: systemClock,
      sha256,
      newId,
    });
    const commands = 1_000_000;
    let most = 0;
    const start = performance.now();
    for (let done = 0; done < commands; done += 4096) {
      await replicated.propose(Array.from({ length: 4096 }, (_, at) => ({ id: randomUUID(), tenant: `t${at % 64}`, amount: 1 })));
      if (done % (16 * 4096) === 0) most = Math.max(most, (await log.status()).sizeBytes ?? 0);
    }
    const seconds = (performance.now() - start) / 1000;
    const beforeReopen = performance.now();
    await openReplicated({
      log,
      machine: rememberCommands(counters(Number.MAX_SAFE_INTEGER)),
      clock: systemClock,
      sha256,
      newId,
    });
    const reopen = performance.now() - beforeReopen;
    await replicated.close();
    await log.close();
    return [
      { name: "log.etcd.soak.decisions", value: commands / seconds, unit: "/s" },
      { name: "log.etcd.soak.size_in_use", value: most / 1e6, unit: "MB", bar: "< 256 MB" },
      { name: "log.etcd.soak.restart", value: reopen, unit: "ms", bar: "<= 5,000 ms" },
    ];
  } finally {
    await cluster.destroy();
  }
}

export const benches: readonly Bench[] = [
  { name: "store.memory", run: memoryStore },
  { name: "store.level", run: levelStore },
  { name: "store.postgres", run: postgresStore },
  { name: "log.embedded", run: embeddedLogs },
  { name: "log.postgres", run: postgresLog },
  { name: "log.etcd", run: etcdLog },
  { name: "log.etcd.slow_disk", run: etcdSlowDisk },
  { name: "log.etcd.soak", run: etcdSoak },
];
