import fc from "fast-check";
import type { Json, JsonObject } from "../json.ts";

const key = fc.oneof(fc.string(), fc.constantFrom("10", "9", "007", "__proto__", "constructor", "z", "a"));

/** JSON objects with what trips readers up: names that look like numbers or that objects inherit, halves of surrogate pairs, odd numbers. */
export const jsonObjects: fc.Arbitrary<JsonObject> = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    fc.string({ unit: "binary" }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("object"),
  ),
  object: fc.dictionary(key, tie("value"), { maxKeys: 5 }),
})).object;
