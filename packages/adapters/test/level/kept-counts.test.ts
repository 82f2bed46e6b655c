import fc from "fast-check";
import { expect, test } from "vitest";
import { KeptCounts } from "../../src/level/kept-counts.ts";

const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 3 });
const index = fc.constantFrom("i/x/", "i/y/");
const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("write" as const), index, key: text }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), index, key: text }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("count" as const), index, key: text }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("clear" as const), index, key: text }) },
);

test("a kept count is what counting anew would say, whatever was written and deleted since", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
      const counts = new KeptCounts();
      const entries = new Set<string>();
      const matching = (place: string): number => [...entries].filter((entry) => entry.startsWith(place)).length;
      for (const { do: what, index, key } of actions) {
        if (what === "write" && !entries.has(index + key)) {
          entries.add(index + key);
          counts.changed(index, key, 1);
        } else if (what === "delete" && entries.delete(index + key)) counts.changed(index, key, -1);
        else if (what === "clear") counts.clear();
        else if (what === "count") {
          const expected = matching(index + key);
          expect(await (counts.get(index, key) ?? counts.keep(index, key, Promise.resolve(expected)))).toBe(expected);
        }
      }
    }),
  );
});

test("what is written while the first count runs is in it", async () => {
  const counts = new KeptCounts();
  const counting = defer<number>();
  const first = counts.keep("i/x/", "a", counting.promise);
  counts.changed("i/x/", "ab", 1);
  counting.resolve(4);
  expect(await first).toBe(5);
});

test("the prefix that was asked longest ago is let go; a count that failed is not kept", async () => {
  const counts = new KeptCounts();
  const [first, second] = ["p0", "p1"];
  for (let at = 0; at < 4096; at++) void counts.keep("i/x/", `p${at}`, Promise.resolve(at));
  expect(await counts.get("i/x/", first as string)).toBe(0);
  void counts.keep("i/x/", "one more", Promise.resolve(0));
  expect(counts.get("i/x/", second as string)).toBeUndefined();
  expect(await counts.get("i/x/", first as string)).toBe(0);
  await expect(counts.keep("i/x/", "bad", Promise.reject(new Error("no disk")))).rejects.toThrow("no disk");
  expect(counts.get("i/x/", "bad")).toBeUndefined();
});

function defer<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((ready) => {
    resolve = ready;
  });
  return { promise, resolve };
}
