import { openMemoryStore } from "@seneschal/adapters/memory";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Catalogues } from "../../src/governance/catalogues.ts";
import { governanceSchema, governanceSettings, tierPolicyOf } from "../../src/governance/index.ts";
import { forgetChanges, newestChange } from "../../src/platform/index.ts";

let commits = 0;
const openStore = () => openMemoryStore(governanceSchema);
const resource = (name: string, tier: string): JsonObject => ({
  org: "acme",
  resource_id: name,
  tier,
  tags: [],
  columns: {},
  owners: [],
  accepts_tier: null,
  updated_at: "2026-01-01T00:00:00.000Z",
});
const put = (store: DocumentStore, name: string, tier: string) =>
  store.commit({ commitId: `c${commits++}`, puts: [{ coll: "resources", id: `acme|${name}`, doc: resource(name, tier) }] });

it("changes are forgotten but for the newest ones that are kept, and never from where somebody still follows", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(30), fc.nat(40), fc.nat(40), async (made, keep, heard) => {
      const store = openStore();
      expect(await newestChange(store)).toBe(0);
      for (let at = 0; at < made; at += 1) await put(store, `r${at}`, "INTERNAL");
      await forgetChanges(store, { keep, heard });
      const forgotten = Math.max(0, Math.min(made - keep, heard, made - 1));
      expect((await store.changes(forgotten, 99)).map(({ seq }) => seq)).toEqual(
        Array.from({ length: made - forgotten }, (_, at) => forgotten + at + 1),
      );
      if (forgotten > 0) await expect(store.changes(forgotten - 1, 99)).rejects.toMatchObject({ code: "changes_compacted" });
      expect(await newestChange(store)).toBe(made);
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 20) },
  );
});

it("a catalogue that was away while changes were forgotten reads its documents anew, also one that begins then", async () => {
  const store = openStore();
  const config = governanceSettings.parse({});
  const open = async (over: DocumentStore = store): Promise<Catalogues> => {
    const parts = { tiers: tierPolicyOf(config), propagation: config.propagation, destinations: [], purposes: [] };
    const catalogues = new Catalogues({ store: over, ...parts });
    await catalogues.open();
    return catalogues;
  };
  const known = async (catalogues: Catalogues) =>
    [...(await catalogues.at("acme")).registered].map(([name, { tier }]) => [name, tier]).sort();
  await put(store, "a", "INTERNAL");
  await put(store, "b", "INTERNAL");
  const followed = await open();
  expect(await known(followed)).toHaveLength(2);
  await put(store, "a", "PUBLIC");
  await store.commit({ commitId: `c${commits++}`, dels: [{ coll: "resources", id: "acme|b" }] });
  for (const name of ["c", "d"]) await put(store, name, "PUBLIC");
  await forgetChanges(store, { keep: 1 });
  const now = [
    ["a", "PUBLIC"],
    ["c", "PUBLIC"],
    ["d", "PUBLIC"],
  ];
  expect(await known(followed)).toEqual(now);
  const begun = await open();
  expect(await known(begun)).toEqual(now);
  await put(store, "e", "PUBLIC");
  for (const catalogues of [followed, begun]) expect(await known(catalogues)).toEqual([...now, ["e", "PUBLIC"]]);
});
