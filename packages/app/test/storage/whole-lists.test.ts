import { openMemoryStore } from "@seneschal/adapters/memory";
import fc from "fast-check";
import { expect, test } from "vitest";
import { everyDocument } from "../../src/platform/index.ts";
import { createCredentials } from "../../src/storage/keys/credentials.ts";
import { openRig, switchableVault } from "./rig.ts";

test("every document below a prefix comes, once, in order, however many there are", () =>
  fc.assert(
    fc.asyncProperty(fc.constantFrom(0, 1, 499, 500, 501, 1000, 1001), async (count) => {
      const store = openMemoryStore({
        collections: { notes: { indexes: { by_owner: { key: (doc) => [doc["owner"] as string, doc["n"] as number] } } } },
      });
      const puts = Array.from({ length: count }, (_, n) => ({ coll: "notes", id: `n${n}`, doc: { owner: "a", n } }));
      await store.commit({ commitId: "c", puts: [...puts, { coll: "notes", id: "other", doc: { owner: "b", n: 0 } }] });
      const found: unknown[] = [];
      for await (const { doc } of everyDocument(store, "notes", "by_owner", ["a"])) found.push(doc["n"]);
      expect(found).toEqual(puts.map(({ doc }) => doc.n));
    }),
    { numRuns: 14 },
  ));

test("a node tells of all tenants and all access keys, and ends the shredding of all, beyond the first thousand", async () => {
  const rig = await openRig({ devices: 3, data: 2, parity: 1 });
  const tenants = Array.from({ length: 1001 }, (_, n) => `t${n}`);
  const ids = Array.from({ length: 1001 }, (_, n) => `SN${n}`);
  const done = await rig.store.commit({
    commitId: "many",
    puts: [
      ...tenants.map((id) => ({
        coll: "storage_tenants",
        id,
        doc: { id, state: "shredding", kek: "", dedup: "", created_at: rig.clock.now() },
      })),
      ...ids.map((id) => ({
        coll: "storage_credentials",
        id,
        doc: { tenant: "t0", sealed: "", created_at: rig.clock.now() },
      })),
    ],
  });
  expect(done.ok).toBe(true);
  expect((await rig.node.tenants.list()).filter(({ state }) => state === "shredding")).toHaveLength(1001);
  const credentials = createCredentials(rig.node.context, switchableVault());
  const pages = await Promise.all([0, 1000, 2000].map((offset) => credentials.list("t0", { limit: 1000, offset })));
  expect(pages.map((page) => page.length)).toEqual([1000, 1, 0]);
  expect(pages.flat().map(({ access_key }) => access_key)).toEqual(ids.toSorted());
  await rig.node.tenants.finishShreds();
  expect(await rig.node.tenants.shredding()).toBe(0);
  await rig.dispose();
});
