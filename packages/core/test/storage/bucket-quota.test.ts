import {
  addUsage,
  checkBucketQuota,
  compareKeys,
  countOn,
  nothingCounted,
  type PlacedVersion,
  usageAfter,
  usageOf,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { placedVersions } from "../../src/arbitraries/index.ts";

const figure = fc.integer({ min: 0, max: 100 });
const usage = fc.record({ bytes: figure, objects: figure });
const change = fc.record({ bytes: fc.integer({ min: -50, max: 50 }), objects: fc.integer({ min: -2, max: 2 }) });
const quota = fc.record({ max_bytes: figure, max_objects: figure }, { requiredKeys: [] });

test("a change is refused exactly when a figure that it raises would be beyond its limit", () => {
  fc.assert(
    fc.property(quota, usage, change, (limits, used, by) => {
      const beyond = (["bytes", "objects"] as const).some((name) => {
        const limit = limits[`max_${name}`];
        return limit !== undefined && by[name] > 0 && used[name] + by[name] > limit;
      });
      let refused: string | undefined;
      try {
        checkBucketQuota(limits, used, by);
      } catch (error) {
        refused = (error as { code: string }).code;
      }
      expect(refused).toBe(beyond ? "QuotaExceeded" : undefined);
    }),
  );
});

const idOf = ({ coll, at }: PlacedVersion) => `${coll} ${at.join(" ")}`;
/** As the store has them in order. */
const compare = ({ at: [a, x, i] }: Pick<PlacedVersion, "at">, { at: [b, y, j] }: Pick<PlacedVersion, "at">): number =>
  compareKeys(a, b) || x - y || (i < j ? -1 : Number(i > j));
const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.array(fc.record({ to: placedVersions, gone: fc.boolean() }), { minLength: 1, maxLength: 3 }) },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 3 }) },
  ),
  { maxLength: 30 },
);

test("whatever is written while a bucket is counted page by page, what is recorded is what lies before the place that was reached, in the end all of it", () => {
  fc.assert(
    fc.property(fc.array(placedVersions, { maxLength: 12 }), steps, (first, history) => {
      const held = new Map(first.map((one) => [idOf(one), one]));
      let usage = nothingCounted;
      const sum = (all: readonly PlacedVersion[]) =>
        all.reduce((n, { version }) => addUsage(n, usageOf(version)), { bytes: 0, objects: 0 });
      const countPage = (limit: number) => {
        if (usage.counting === undefined) return;
        const { coll, last } = usage.counting;
        const all = [...held.values()].filter((one) => one.coll === coll).sort(compare);
        const from = last === undefined ? 0 : all.filter((one) => compare(one, { at: last }) <= 0).length;
        const page = all.slice(from, from + limit);
        usage = countOn(usage, page, from + limit < all.length ? "more" : undefined);
      };
      for (const step of history) {
        if (typeof step === "number") {
          countPage(step);
          continue;
        }
        const changes = step.flatMap(({ to, gone }) => {
          const before = held.get(idOf(to));
          if (gone) held.delete(idOf(to));
          else held.set(idOf(to), to);
          return [...(before ? [{ ...before, sign: -1 as const }] : []), ...(gone ? [] : [{ ...to, sign: 1 as const }])];
        });
        usage = usageAfter({}, usage, changes);
        if (usage.counting === undefined) expect(usage).toEqual(sum([...held.values()]));
        expect(usage.bytes).toBeLessThanOrEqual(sum([...held.values()]).bytes);
        expect(Math.min(usage.bytes, usage.objects)).toBeGreaterThanOrEqual(0);
      }
      for (let pages = 0; usage.counting !== undefined; pages++) {
        expect(pages).toBeLessThan(100);
        countPage(2);
      }
      expect(usage).toEqual(sum([...held.values()]));
    }),
  );
});

test("changes that are refused are those that add to what is beyond the quota, also while what is there is being counted", () => {
  fc.assert(
    fc.property(quota, usage, fc.array(placedVersions, { maxLength: 3 }), fc.boolean(), (limits, used, put, counting) => {
      const before = { ...used, ...(counting && nothingCounted.counting && { counting: nothingCounted.counting }) };
      const codeOf = (work: () => unknown) => {
        try {
          work();
          return "";
        } catch (error) {
          return (error as { code: string }).code;
        }
      };
      const change = put.reduce((n, { version }) => addUsage(n, usageOf(version)), { bytes: 0, objects: 0 });
      expect(
        codeOf(() =>
          usageAfter(
            limits,
            before,
            put.map((one) => ({ ...one, sign: 1 })),
          ),
        ),
      ).toBe(codeOf(() => checkBucketQuota(limits, used, change)));
    }),
  );
});
