import { compare, equal, type Value } from "@seneschal/rego";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { documentOf } from "../document-of.ts";
import { rounds } from "../rounds.ts";

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Value>;

describe("the order of values", () => {
  test("is total: antisymmetric, transitive, and equal only for equals", () => {
    fc.assert(
      fc.property(json, json, json, (a, b, c) => {
        expect(Math.sign(compare(a, b)) + Math.sign(compare(b, a))).toBe(0);
        expect(compare(a, b) === 0).toBe(equal(a, b));
        if (compare(a, b) <= 0 && compare(b, c) <= 0) expect(compare(a, c)).toBeLessThanOrEqual(0);
      }),
      { numRuns: rounds(300) },
    );
  });

  test("strings go by code point, not by UTF-16 unit", () => {
    expect(compare("😀", "\uffff")).toBeGreaterThan(0);
  });

  test("types come in Rego's order", () => {
    expect(documentOf('p := [type_name(x) | some x in sort([{1}, {"a": 1}, [1], "a", 1, true, false, null])]')).toEqual([
      "null",
      "boolean",
      "boolean",
      "number",
      "string",
      "array",
      "object",
      "set",
    ]);
  });

  test("objects are walked in the order of their keys, numbers before strings", () => {
    expect(documentOf('p := [k | {"b": 1, "a": 2, 1: 3, [1]: 4, 10: 5, 9: 6}[k]]')).toEqual([1, 9, 10, "a", "b", [1]]);
    expect(documentOf("p := [k | input[k]]", { b: 1, "10": 1, "9": 1, a: 1 })).toEqual(["10", "9", "a", "b"]);
  });
});
