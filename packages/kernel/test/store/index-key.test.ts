import { compareIndexKeys, indexValues } from "@seneschal/kernel/arbitraries";
import { encodeIndexKey, entryKey, fromHex, successor, toHex, utf8, utf8Length } from "@seneschal/kernel/store";
import fc from "fast-check";
import { expect, test } from "vitest";

test("the order of encoded keys is the order of their values", () => {
  fc.assert(
    fc.property(fc.array(indexValues, { maxLength: 3 }), fc.array(indexValues, { maxLength: 3 }), (a, b) => {
      const [left, right] = [encodeIndexKey(a), encodeIndexKey(b)];
      expect(left < right ? -1 : left > right ? 1 : 0).toBe(Math.sign(compareIndexKeys(a, b)) + 0);
    }),
    { numRuns: 2000 },
  );
});

test("the key of a prefix of whole values is a prefix of the key, and of no other tuple's", () => {
  fc.assert(
    fc.property(fc.array(indexValues, { maxLength: 3 }), fc.array(indexValues, { maxLength: 3 }), (a, b) => {
      const startsWith = compareIndexKeys(a, b.slice(0, a.length)) === 0 && b.length >= a.length;
      expect(encodeIndexKey(b).startsWith(encodeIndexKey(a))).toBe(startsWith);
    }),
  );
});

test("entries of a range end at the successor of its prefix", () => {
  fc.assert(
    fc.property(
      fc.array(indexValues, { minLength: 1, maxLength: 2 }),
      fc.array(indexValues, { maxLength: 2 }),
      fc.string(),
      (a, more, id) => {
        const prefix = encodeIndexKey(a);
        const key = entryKey(encodeIndexKey([...a, ...more]), id);
        expect(key >= prefix && key < (successor(prefix) as string)).toBe(true);
      },
    ),
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
