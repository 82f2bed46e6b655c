import {
  compareKeys,
  isListedBehind,
  type KeyQuery,
  listKeysOf,
  type ObjectVersion,
  ordinalOf,
  placeOfReplica,
  versionIdOf,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { objectKeys, objectVersions } from "../../src/arbitraries/index.ts";

const begin = fc.array(fc.constantFrom("a", "b", "/"), { maxLength: 2 }).map((all) => all.join(""));
const delimiter = fc.constantFrom("", "/", "/", "b", "//", "é");
type Entry = { readonly key: string; readonly n: number };
/** What there is, in its order; some keys several times, as versions are. */
const entries = fc
  .uniqueArray(fc.tuple(objectKeys, fc.integer({ min: 1, max: 3 })), { selector: ([name]) => name, maxLength: 20 })
  .map((all) =>
    all
      .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .flatMap(([name, times]) => Array.from({ length: times }, (_, n): Entry => ({ key: name, n }))),
  );

/** A page as a server makes it: it looks from where the listing begins, and at nothing once that is not asked for any more. */
function pageOf(all: readonly Entry[], query: Omit<KeyQuery, "bucket">, within?: (entry: Entry) => boolean) {
  const listing = listKeysOf(query, within);
  for (const entry of all) {
    if (compareKeys(entry.key, listing.from) < 0) continue;
    if (!listing.take(entry)) break;
  }
  return listing.page();
}

/** What is listed, by the words of the specification: keys with the prefix, each once under what it is rolled up to. */
function whole(all: readonly Entry[], prefix: string, separator: string): readonly (Entry | string)[] {
  const shown: (Entry | string)[] = [];
  for (const entry of all) {
    if (!entry.key.startsWith(prefix)) continue;
    const at = separator === "" ? -1 : entry.key.indexOf(separator, prefix.length);
    const rolled = at < 0 ? entry : entry.key.slice(0, at + separator.length);
    if (!shown.includes(rolled)) shown.push(rolled);
  }
  return shown;
}

test("keys are in the order of their UTF-8 bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) => {
      expect(compareKeys(a, b)).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }),
  );
});

test("whatever the size of its pages, a listing shows each key and each prefix once, and all of them, in their order", () => {
  fc.assert(
    fc.property(entries, begin, delimiter, fc.integer({ min: 1, max: 5 }), (all, prefix, separator, limit) => {
      const shown: (Entry | string)[] = [];
      let [after, seen]: [string, number] = ["", 0];
      for (let pages = 0; ; pages++) {
        expect(pages).toBeLessThan(100);
        const page = pageOf(all, { prefix, delimiter: separator, after, limit }, ({ n }) => n > seen);
        expect(page.items.length + page.prefixes.length).toBeLessThanOrEqual(limit);
        const both = [...page.items, ...page.prefixes].sort((a, b) => {
          const [x, y] = [typeof a === "string" ? a : a.key, typeof b === "string" ? b : b.key];
          return compareKeys(x, y) || (a as Entry).n - (b as Entry).n;
        });
        shown.push(...both);
        if (page.next === undefined) break;
        expect(both.length).toBe(limit);
        const last = both.at(-1);
        expect(page.next).toBe(typeof last === "string" ? last : last?.key);
        [after, seen] = [page.next, typeof last === "string" ? 9 : (last?.n ?? 0)];
      }
      expect(shown).toEqual(whole(all, prefix, separator));
    }),
  );
});

test("a page begins behind any text, also one that is no key: nothing before it is shown, and what it rolled up is not shown again", () => {
  fc.assert(
    fc.property(entries, begin, delimiter, fc.oneof(objectKeys, fc.constant("")), (all, prefix, separator, after) => {
      const { items, prefixes, next } = pageOf(all, { prefix, delimiter: separator, after, limit: 1000 });
      expect(next).toBeUndefined();
      for (const { key: name } of items) expect(after === "" || compareKeys(name, after) > 0).toBe(true);
      expect(prefixes).not.toContain(after);
      const rolled = separator !== "" && after.startsWith(prefix) && after.indexOf(separator, prefix.length);
      const behind = (name: string) =>
        after === "" || (compareKeys(name, after) > 0 && !(rolled === after.length - separator.length && name.startsWith(after)));
      const expected = whole(
        all.filter(({ key: name }) => behind(name)),
        prefix,
        separator,
      );
      expect(new Set<Entry | string>([...items, ...prefixes])).toEqual(new Set(expected));
    }),
  );
});

test("a page of nothing holds nothing and says that there is no other", () => {
  expect(pageOf([{ key: "a", n: 0 }], { prefix: "", delimiter: "", after: "", limit: 0 })).toEqual({ items: [], prefixes: [] });
});

test("versions are listed as they came, the latest first: where a copy goes among them is where a listing shows it", () => {
  const start = Date.UTC(2026, 0, 1);
  const named = fc
    .tuple(objectVersions(start), fc.integer({ min: 0, max: 2 }), fc.nat(3))
    .map(([version, later, n]): ObjectVersion => ({ ...version, ordinal: start + later, version_id: `${n}` }));
  fc.assert(
    fc.property(named, named, (one, other) => {
      const place = (version: ObjectVersion) => ({ version: versionIdOf(version), ordinal: ordinalOf(version) });
      const [behind, before] = [isListedBehind(one, place(other)), isListedBehind(other, place(one))];
      const same = versionIdOf(one) === versionIdOf(other) && ordinalOf(one) === ordinalOf(other);
      expect([behind, before].filter(Boolean).length).toBe(same ? 0 : 1);
      if (!same) expect(placeOfReplica(place(one), place(other))).toBe(behind ? "current" : "past");
    }),
  );
});
