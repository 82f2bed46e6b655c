import type { IndexValue } from "@seneschal/core/ports";
import { encodeIndexKey, entryKey, fromHex, successor, toHex, utf8, utf8Length } from "@seneschal/core/store";
import fc from "fast-check";
import { expect, test } from "vitest";

const text = fc.string({ unit: "binary", maxLength: 6 }).filter((value) => !value.includes("\0"));
const value: fc.Arbitrary<IndexValue> = fc.oneof(
  fc.constantFrom(null, true, false),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  text,
);

/** The obvious order: kinds by rank, numbers by `<`, strings by their bytes as Node encodes them. */
function reference(a: readonly IndexValue[], b: readonly IndexValue[]): number {
  const rank = (v: IndexValue): number => (v === null ? 0 : typeof v === "number" ? 1 : v === false ? 2 : v === true ? 3 : 4);
  for (const [at, left] of a.entries()) {
    if (at === b.length) return 1;
    const right = b[at] as IndexValue;
    if (rank(left) !== rank(right)) return Math.sign(rank(left) - rank(right));
    if (typeof left === "number" && typeof right === "number" && left !== right) return left < right ? -1 : 1;
    if (typeof left === "string" && typeof right === "string" && left !== right)
      return Buffer.compare(Buffer.from(left), Buffer.from(right));
  }
  return a.length === b.length ? 0 : -1;
}

test("the order of encoded keys is the order of their values", () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 3 }), fc.array(value, { maxLength: 3 }), (a, b) => {
      const [left, right] = [encodeIndexKey(a), encodeIndexKey(b)];
      expect(left < right ? -1 : left > right ? 1 : 0).toBe(reference(a, b));
    }),
    { numRuns: 2000 },
  );
});

test("the key of a prefix of whole values is a prefix of the key, and of no other tuple's", () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 3 }), fc.array(value, { maxLength: 3 }), (a, b) => {
      const startsWith = reference(a, b.slice(0, a.length)) === 0 && b.length >= a.length;
      expect(encodeIndexKey(b).startsWith(encodeIndexKey(a))).toBe(startsWith);
    }),
  );
});

test("entries of a range end at the successor of its prefix", () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 2 }), fc.array(value, { maxLength: 2 }), text, (a, more, id) => {
      const prefix = encodeIndexKey(a);
      const key = entryKey(encodeIndexKey([...a, ...more]), id);
      expect(key >= prefix && key < (successor(prefix) as string)).toBe(true);
    }),
  );
});

test("the successor of a byte string is the least string behind everything that starts with it", () => {
  expect(successor("")).toBeUndefined();
  expect(successor("\xff\xff")).toBeUndefined();
  expect(successor("a")).toBe("b");
  expect(successor("a\xff\xff")).toBe("b");
});

test("UTF-8 equals Node's for every well-formed string, in bytes and length", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (any) => {
      expect(utf8(any)).toBe(Buffer.from(any).toString("latin1"));
      expect(utf8Length(any)).toBe(Buffer.byteLength(any));
      expect(fromHex(toHex(utf8(any)))).toBe(utf8(any));
    }),
  );
  expect(fromHex("0")).toBeUndefined();
  expect(fromHex("AB")).toBeUndefined();
});

test("-0 and 0 have one key", () => {
  expect(encodeIndexKey([-0])).toBe(encodeIndexKey([0]));
});
