import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonObjects } from "../../src/arbitraries/index.ts";
import { detach } from "../../src/log/detach.ts";
import { sortedJson } from "../../src/log/index.ts";

test("a detached command has the canonical text of its source, and is what that text says", () => {
  fc.assert(
    fc.property(jsonObjects, (source) => {
      const { command, text } = detach(source);
      expect(text).toBe(sortedJson(source));
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
