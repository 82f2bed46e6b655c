import { childrenOf, compareKeys, entryOf, isFileName } from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { objectKeys } from "../../src/arbitraries/index.ts";

const encoder = new TextEncoder();

/** The first bytes of a key, whole characters, as an index keeps it. */
const indexedKey = (key: string, bytes: number): string => {
  let cut = "";
  for (const letter of key) {
    if (encoder.encode(cut + letter).length > bytes) break;
    cut += letter;
  }
  return cut;
};

test("whatever keys there are, however few bytes of them the index has and however large its pages: children are what lies directly in the directory", () => {
  const directories = fc.oneof(
    fc.constant(""),
    objectKeys.map((key) => `${key}/`),
  );
  fc.assert(
    fc.property(
      fc.uniqueArray(objectKeys, { maxLength: 20 }),
      directories,
      fc.integer({ min: 9, max: 24 }),
      fc.integer({ min: 1, max: 4 }),
      (keys, directory, indexed, pageSize) => {
        // Where keys share what the index has of them it orders them by something else.
        const index = keys
          .map((key) => ({ key, at: indexedKey(key, indexed) }))
          .sort((a, b) => compareKeys(a.at, b.at) || compareKeys(b.key, a.key));
        const listing = childrenOf(directory, indexed);
        let rest = index.filter(({ at }) => compareKeys(at, indexedKey(directory, indexed)) >= 0);
        let read = 0;
        scan: while (rest.length > 0) {
          for (const { key } of rest.slice(0, pageSize)) {
            read += 1;
            if (!listing.take(key)) break scan;
          }
          rest = rest.slice(pageSize);
          const past = listing.past();
          if (past !== undefined) rest = rest.filter(({ at }) => compareKeys(at, indexedKey(past, indexed)) >= 0);
        }
        const expected = new Map<string, string>();
        for (const key of keys) {
          if (!key.startsWith(directory) || key === directory) continue;
          const { name, kind } = entryOf(directory, key);
          if (isFileName(name) && expected.get(name) !== "directory") expected.set(name, kind);
        }
        expect(new Map(listing.children().map(({ name, kind }) => [name, kind]))).toEqual(expected);
        expect(read).toBeLessThanOrEqual(index.length);
      },
    ),
  );
});

test("what else lies in a directory that was met is passed over", () => {
  const listing = childrenOf("", 600);
  listing.take("a/1");
  expect(listing.past()).toBe("a0");
  listing.take("b");
  expect(listing.past()).toBeUndefined();
});
