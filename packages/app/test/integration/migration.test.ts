import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEtcdLog, openEtcdLogMigratable } from "@seneschal/adapters/etcd";
import { openLevelLog, openLevelLogMigratable, openLevelStore, openLevelStoreMigratable } from "@seneschal/adapters/level";
import {
  openPostgresLog,
  openPostgresLogMigratable,
  openPostgresStore,
  openPostgresStoreMigratable,
} from "@seneschal/adapters/postgres";
import type { DocumentStore, Migratable, ReplicatedLog } from "@seneschal/kernel/ports";
import { suiteSchema } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EtcdCluster, etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { logs, stores, type TestPlace, transferLaws } from "../compose/migration/transfer-laws.ts";

const runs = Number(process.env["FC_RUNS"] ?? 3);
const isPostgres = postgresBinaries() !== undefined;
const isEtcd = etcdInstalled();
let root = "";
let postgres: PostgresServer;
let etcd: EtcdCluster;
let places = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "seneschal-migrate-"));
  if (isPostgres) postgres = await startPostgres();
  if (isEtcd) etcd = await startEtcdCluster({ members: 1 });
});
afterAll(async () => {
  await Promise.all([postgres?.destroy(), etcd?.destroy()]);
  await rm(root, { recursive: true, force: true });
});

const storesOf: Readonly<Record<string, () => TestPlace<DocumentStore>>> = {
  level: () => {
    places += 1;
    const path = join(root, String(places));
    return {
      name: `level ${path}`,
      open: () => openLevelStore({ path, ...suiteSchema }),
      migratable: () => openLevelStoreMigratable({ path }),
    };
  },
  ...(isPostgres && {
    postgres: () => {
      places += 1;
      const options = { url: postgres.url, namespace: `store_${places}` };
      return {
        name: `postgres ${options.namespace}`,
        open: () => openPostgresStore({ ...options, ...suiteSchema }),
        migratable: () => openPostgresStoreMigratable(options),
      };
    },
  }),
};

const logsOf: Readonly<Record<string, () => TestPlace<ReplicatedLog>>> = {
  level: () => {
    places += 1;
    const path = join(root, String(places));
    return { name: `level ${path}`, open: () => openLevelLog({ path }), migratable: () => openLevelLogMigratable({ path }) };
  },
  ...(isPostgres && {
    postgres: () => {
      places += 1;
      const options = { url: postgres.url, namespace: `log_${places}`, name: "scheduler" };
      return {
        name: `postgres ${options.namespace}`,
        open: () => openPostgresLog(options),
        migratable: () => openPostgresLogMigratable(options),
      };
    },
  }),
  ...(isEtcd && {
    etcd: () => {
      places += 1;
      const options = { endpoints: etcd.endpoints, prefix: `/log/${places}` };
      return {
        name: `etcd ${options.prefix}`,
        open: () => openEtcdLog(options),
        migratable: () => openEtcdLogMigratable(options),
      };
    },
  }),
};

function eachPair<T>(kinds: Readonly<Record<string, T>>): readonly (readonly [string, string, T, T])[] {
  const all = Object.entries(kinds);
  return all
    .flatMap(([a, from]) => all.map(([b, to]) => [a, b, from, to] as const))
    .filter(([a, b]) => a !== "level" || b !== "level");
}

for (const [a, b, from, to] of eachPair(storesOf))
  describe(`a store moves from ${a} to ${b}`, () => transferLaws(stores, async () => [from(), to()], runs));
for (const [a, b, from, to] of eachPair(logsOf))
  describe(`a log moves from ${a} to ${b}`, () => transferLaws(logs, async () => [from(), to()], runs));

const migration = { id: "m1", from: "here", to: "there", at: "2026-01-01T00:00:00.000Z" };

async function rows(end: Migratable): Promise<unknown> {
  return Promise.all(end.tables.map((table) => end.read(table, undefined, 100)));
}

describe("who has it open when it is fenced", () => {
  for (const [name, place] of Object.entries(storesOf).filter(([kind]) => kind !== "level"))
    test(`commits nothing more to a store on ${name}, and is named`, async () => {
      const { open, migratable } = place();
      const [store, end] = [await open(), await migratable()];
      await store.commit({ commitId: "a", puts: [{ coll: "others", id: "a", doc: {} }] });
      expect(await end.openedBy()).not.toEqual([]);
      await end.fence(migration);
      const before = await rows(end);
      await expect(store.commit({ commitId: "b", puts: [{ coll: "others", id: "b", doc: {} }] })).rejects.toMatchObject({
        code: "store_failed",
      });
      expect(await rows(end)).toEqual(before);
      // Who is just leaving has it open no more.
      expect((await Promise.all([end.openedBy(), store.close()]))[0]).toEqual([]);
      await end.close();
    });
  for (const [name, place] of Object.entries(logsOf).filter(([kind]) => kind !== "level"))
    test(`appends nothing more to a log on ${name}`, async () => {
      const { open, migratable } = place();
      const [log, end] = [await open(), await migratable()];
      const entry = (seq: number) => ({ v: 1, seq, batchId: `b${seq}`, prevHash: "", at: seq, commands: [{ n: seq }] });
      const woken: unknown[] = [];
      log.subscribe(0, (seq) => void woken.push(seq));
      await log.append({ seq: 0, batchId: "" }, entry(1) as never);
      await log.saveSnapshot(1, Uint8Array.of(1));
      await end.fence(migration);
      const before = await rows(end);
      await expect(log.append({ seq: 1, batchId: "b1" }, entry(2) as never)).rejects.toMatchObject({ code: "log_moved" });
      await expect(log.read(0, { limit: 1 })).rejects.toMatchObject({ code: "log_moved" });
      await expect(log.truncate(1)).rejects.toMatchObject({ code: expect.any(String) });
      expect(await rows(end)).toEqual(before);
      await log.close();
      await end.close();
    });
});
