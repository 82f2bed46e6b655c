import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelStore } from "@seneschal/adapters/level";
import { suiteSchema } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { abortMigration, migrate } from "../../../src/compose/migration/migrate.ts";
import { type ProcessConfig, processSettings } from "../../../src/compose/process-settings.ts";

let root = "";
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "seneschal-migrate-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** Gateway and governance of one directory. */
function config(gateway: object, governance: object, more: object = {}): ProcessConfig {
  return processSettings.parse({
    services: ["gateway", "governance"],
    data_dir: root,
    gateway: { database: gateway },
    governance: { database: governance },
    ...more,
  });
}
const at = (name: string): object => ({ path: join(root, name) });

async function write(name: string): Promise<void> {
  const store = await openLevelStore({ path: join(root, name), ...suiteSchema });
  await store.commit({ commitId: "first", puts: [{ coll: "others", id: "a", doc: { name } }] });
  await store.close();
}

async function read(name: string): Promise<unknown> {
  const store = await openLevelStore({ path: join(root, name), ...suiteSchema });
  const found = (await store.getMany("others", ["a"]))[0]?.doc;
  await store.close();
  return found;
}

test("nothing is begun unless every part can be, and one that is in use cannot; then all move, once", async () => {
  for (const name of ["a", "b", "full"]) await write(name);
  const now = config(at("a"), at("b"));
  await expect(migrate(now, config(at("a2"), at("full")))).rejects.toMatchObject({
    code: "migration_refused",
    details: { reason: "target_serving" },
  });
  expect([await read("a"), await read("full")]).toEqual([{ name: "a" }, { name: "full" }]);
  const next = config(at("a3"), at("b3"));
  const running = await openLevelStore({ path: join(root, "b"), ...suiteSchema });
  await expect(migrate(now, next)).rejects.toMatchObject({ code: "store_locked" });
  await running.close();
  await expect(abortMigration(now, next)).rejects.toMatchObject({ details: { reason: "nothing_to_abort" } });
  expect(await read("a")).toEqual({ name: "a" });

  const parts = await migrate(now, next);
  expect(parts.map(({ service, state }) => [service, state])).toEqual([
    ["gateway", "moved"],
    ["governance", "moved"],
  ]);
  expect(parts[0]?.tables?.["documents"]).toEqual({ rows: 1, root: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect([await read("a3"), await read("b3")]).toEqual([{ name: "a" }, { name: "b" }]);
  await expect(read("a")).rejects.toMatchObject({ code: "store_moved", details: { to: `level ${join(root, "a3")}` } });
  expect((await migrate(now, next)).map(({ state }) => state)).toEqual(["was_moved", "was_moved"]);
});

test("a plan that moves nothing, forgets, takes another directory or lets two services share is refused by what is wrong", async () => {
  const now = config(at("c"), at("d"));
  const refused = async (next: ProcessConfig, message: RegExp): Promise<void> =>
    expect(migrate(now, next)).rejects.toMatchObject({ code: "config_invalid", message: expect.stringMatching(message) });
  await refused(now, /nothing to migrate/);
  await refused(config({ kind: "memory" }, at("d")), /gateway\.database\.kind: memory forgets/);
  await refused(config(at("c"), at("d"), { data_dir: join(root, "elsewhere") }), /data_dir/);
  const database = { kind: "postgres", url: "postgres://db.example/seneschal" };
  await refused(config(database, database), /two services would have one database at postgres db\.example\/seneschal seneschal/);
});
