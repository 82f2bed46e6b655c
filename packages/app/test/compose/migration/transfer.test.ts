import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelLog, openLevelLogMigratable, openLevelStore, openLevelStoreMigratable } from "@seneschal/adapters/level";
import type { DocumentStore, ReplicatedLog } from "@seneschal/kernel/ports";
import { suiteSchema } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, describe } from "vitest";
import { logs, stores, type TestPlace, transferLaws } from "./transfer-laws.ts";

const runs = Number(process.env["FC_RUNS"] ?? 2);
let root = "";
let places = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "seneschal-migrate-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

function place<T>(open: (path: string) => Promise<T>, migratable: typeof openLevelStoreMigratable): TestPlace<T> {
  places += 1;
  const path = join(root, String(places));
  return { name: `level ${path}`, open: () => open(path), migratable: () => migratable({ path }) };
}

describe("a store moves from directory to directory", () => {
  const one = (): TestPlace<DocumentStore> => place((path) => openLevelStore({ path, ...suiteSchema }), openLevelStoreMigratable);
  transferLaws(stores, async () => [one(), one()], runs);
});

describe("a log moves from directory to directory", () => {
  const one = (): TestPlace<ReplicatedLog> => place((path) => openLevelLog({ path }), openLevelLogMigratable);
  transferLaws(logs, async () => [one(), one()], runs);
});
