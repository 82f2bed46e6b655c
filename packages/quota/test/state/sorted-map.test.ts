import fc from "fast-check";
import { expect, test } from "vitest";
import { SortedMap } from "../../src/state/sorted-map.ts";
import { runs } from "../runs.ts";

const key = fc.string({ maxLength: 3 });
const edits = fc.array(
  fc.oneof(
    fc.tuple(fc.constant("set" as const), key, fc.nat()),
    fc.tuple(fc.constant("delete" as const), key, fc.nat()),
    fc.tuple(fc.constant("many" as const), key, fc.integer({ min: 0, max: 80 })),
  ),
  { maxLength: 120, size: "max" },
);

test("after any edits it holds what a plain map holds, in key order, and every old version is unchanged", () => {
  fc.assert(
    fc.property(edits, key, key, (steps, from, to) => {
      const model = new Map<string, number>();
      let map = SortedMap.empty<number>();
      const versions: [SortedMap<number>, [string, number][]][] = [];
      for (const [verb, k, n] of steps) {
        if (verb === "set") {
          map = map.set(k, n);
          model.set(k, n);
        } else if (verb === "delete") {
          map = map.delete(k);
          model.delete(k);
        } else {
          const many = Array.from({ length: n }, (_, i) => [`${k}${i}`, i] as const);
          map = map.setAll(many);
          for (const [a, b] of many) model.set(a, b);
        }
        versions.push([map, [...model].sort(([a], [b]) => (a < b ? -1 : 1))]);
      }
      for (const [version, entries] of versions.filter((_, i) => i % 7 === 0)) {
        expect([...version.entries()]).toEqual(entries);
        expect(version.size).toBe(entries.length);
      }
      const all = versions.at(-1)?.[1] ?? [];
      expect([...map.entries(from, to)]).toEqual(all.filter(([k]) => k >= from && k < to));
      expect([...map.entries(from)]).toEqual(all.filter(([k]) => k >= from));
      expect([...map.reversed()]).toEqual(all.toReversed());
      for (const [k, v] of all) expect(map.get(k)).toBe(v);
      expect(map.get(from)).toBe(model.get(from));
      // in runs and out of order, what is there and what is not
      const find = map.finder();
      for (const [k, v] of all) expect(find(k)).toBe(v);
      for (const k of [from, to, ...all.map(([k]) => k).reverse(), from]) expect(find(k)).toBe(model.get(k));
    }),
    runs(30),
  );
});

test("a large map with everything deleted again is empty", () => {
  let map = SortedMap.from(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i] as const));
  for (let i = 0; i < 5000; i++) map = map.delete(`k${(i * 7919) % 5000}`);
  expect([map.size, [...map.entries()]]).toEqual([0, []]);
});
