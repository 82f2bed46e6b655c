import fc from "fast-check";
import { expect, test } from "vitest";
import { DEFAULT_TIER_POLICY, datasetEvent, readLineageEvent, scannedAsset, scannedTier, tierRank } from "../src/index.ts";

const { tiers } = DEFAULT_TIER_POLICY;
const name = fc.constantFrom("mail", "id", "__proto__", "constructor");
const column = fc.record({ name, tier: fc.constantFrom(...tiers), tags: fc.subarray(["PII", "PHI", "SSN"]) });
const read = fc.option(fc.uniqueArray(column, { selector: (one) => one.name }), { nil: undefined });
const rank = (tier: string = "PUBLIC") => tierRank(DEFAULT_TIER_POLICY, tier);

test("whatever scans see one after the other, a column that is still there never has less than any of them found", () => {
  fc.assert(
    fc.property(fc.array(read, { minLength: 1 }), (scans) => {
      let asset = scannedAsset(DEFAULT_TIER_POLICY, undefined, scans[0]);
      for (const scan of scans.slice(1)) {
        const before = asset;
        asset = scannedAsset(DEFAULT_TIER_POLICY, before, scan);
        for (const { name, tier, tags } of scan ?? []) {
          const now = Object.hasOwn(asset.columns, name) ? asset.columns[name] : undefined;
          const then = Object.hasOwn(before.columns, name) ? before.columns[name] : undefined;
          expect(rank(now?.tier)).toBe(Math.max(rank(tier), rank(then?.tier)));
          expect(now?.tags ?? []).toEqual(expect.arrayContaining([...tags, ...(then?.tags ?? [])]));
        }
        if (scan === undefined) expect(asset).toEqual(before);
        else expect(Object.keys(asset.columns).sort()).toEqual(scan.map((one) => one.name).sort());
      }
      // What no scan ever read may be anything.
      const everRead = scans.some((scan) => scan !== undefined);
      expect(scannedTier(DEFAULT_TIER_POLICY, asset)?.tier).toBe(everRead ? undefined : "RESTRICTED");
    }),
  );
});

test("that nothing was found in a column is no tier", () => {
  const asset = scannedAsset(DEFAULT_TIER_POLICY, undefined, [{ name: "note", type: "text", tier: "PUBLIC", tags: [] }]);
  expect(asset.columns["note"]).toEqual({ type: "text" });
});

test("the event of a data set is read without a warning", () => {
  const fields = [{ name: "id", type: "bigint" }];
  const table = { producer: "https://example.com", namespace: "postgres://db:5432", name: "shop.public.orders", fields };
  for (const change of ["CREATE", "ALTER", "DROP"] as const) {
    const event = readLineageEvent(datasetEvent({ ...table, change }, 1000), 0);
    expect(event).toMatchObject({ kind: "dataset", time: 1000, warnings: [], outputs: [{ name: "shop.public.orders" }] });
  }
});
