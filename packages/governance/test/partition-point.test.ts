import fc from "fast-check";
import { expect, test } from "vitest";
import { partitionPoint } from "../src/partition-point.ts";

test("of every ascending list it says how many stand before a bound, as a search from the front does", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -9, max: 9 })), fc.integer({ min: -10, max: 10 }), (numbers, bound) => {
      const ascending = numbers.sort((a, b) => a - b);
      const counted = ascending.filter((number) => number < bound).length;
      expect(partitionPoint(ascending, (number) => number < bound)).toBe(counted);
      expect(partitionPoint(ascending, (_, i) => i < counted)).toBe(counted);
    }),
  );
});
