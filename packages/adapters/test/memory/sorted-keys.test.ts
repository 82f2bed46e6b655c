import fc from "fast-check";
import { expect, test } from "vitest";
import { SortedKeys } from "../../src/memory/sorted-keys.ts";

const key = fc.integer({ min: 0, max: 3000 }).map((n) => n.toString(36));

test("sorted keys equal a sorted plain map over any inserts, deletes and ranges", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.boolean(), key), { maxLength: 3000, size: "max" }),
      fc.array(fc.tuple(key, fc.option(key, { nil: undefined })), { maxLength: 5 }),
      (writes, ranges) => {
        const sorted = new SortedKeys();
        const plain = new Map<string, string>();
        for (const [add, name] of writes)
          if (add) {
            sorted.set(name, `id-${name}`);
            plain.set(name, `id-${name}`);
          } else {
            sorted.delete(name);
            plain.delete(name);
          }
        for (const [gte, lt] of [["", undefined] as const, ...ranges]) {
          const expected = [...plain]
            .filter(([name]) => name >= gte && (lt === undefined || name < lt))
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, id]) => ({ key: name, id }));
          expect([...sorted.entries({ gte, lt }, false)]).toEqual(expected);
          expect([...sorted.entries({ gte, lt }, true)]).toEqual(expected.reverse());
          expect(sorted.count({ gte, lt })).toBe(expected.length);
        }
      },
    ),
    { numRuns: 30 },
  );
});

test("ascending and descending inserts beyond one chunk stay sorted", () => {
  for (const direction of [1, -1]) {
    const sorted = new SortedKeys();
    const names = Array.from({ length: 5000 }, (_, at) => String(at).padStart(5, "0"));
    for (const name of direction === 1 ? names : [...names].reverse()) sorted.set(name, name);
    expect([...sorted.entries({ gte: "", lt: undefined }, false)].map((entry) => entry.key)).toEqual(names);
  }
});
