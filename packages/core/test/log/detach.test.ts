import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/json.ts";
import { detach } from "../../src/log/detach.ts";
import { canonicalJson } from "../../src/log/index.ts";

const key = fc.oneof(fc.string(), fc.constantFrom("10", "9", "007", "__proto__", "constructor", "z", "a"));
const json = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
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

test("a detached command has the canonical text of its source, and is what that text says", () => {
  fc.assert(
    fc.property(json, (source) => {
      const { command, text } = detach(source);
      expect(text).toBe(canonicalJson(source));
      expect(JSON.stringify(command)).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

test("a detached command shares nothing with its source", () => {
  const source = { list: [{ deep: 1 }], object: { deep: 1 } };
  const { command } = detach(source);
  (source.list[0] as { deep: number }).deep = 2;
  source.object.deep = 2;
  expect(command).toEqual({ list: [{ deep: 1 }], object: { deep: 1 } });
});

test("members that are undefined are left out; numbers that JSON cannot say become null", () => {
  expect(detach({ a: undefined, b: [undefined, Number.NaN, -0], c: Number.POSITIVE_INFINITY }).text).toBe(
    '{"b":[null,null,0],"c":null}',
  );
});

test.each([[null], [1], ["text"], [[1]], [undefined], [{ a: () => 1 }], [{ a: [1n] }]])("%s is no command", (value) => {
  expect(() => detach(value)).toThrow(TypeError);
});
