import { canonicalJson, parseStrictJson } from "@seneschal/crypto";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../submit.ts";

const refused = expect.objectContaining({ code: "not_canonical" });

test("RFC 8785 3.2.2: literals, strings and numbers", () => {
  const input = JSON.parse(
    String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
  );
  expect(canonicalJson(input)).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

test("RFC 8785 3.2.3: keys sort by UTF-16 code units", () => {
  const input = {
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew",
    "1": "One",
    "\ud83d\ude00": "Emoji",
    "\u0080": "Control",
    "\u00f6": "Latin",
  };
  expect(Object.keys(JSON.parse(canonicalJson(input)))).toHaveLength(7);
  expect(canonicalJson(input).match(/Carriage|One|Control|Latin|Euro|Emoji|Hebrew/g)).toEqual([
    "Carriage",
    "One",
    "Control",
    "Latin",
    "Euro",
    "Emoji",
    "Hebrew",
  ]);
});

test("RFC 8785 appendix B: numbers", () => {
  const cases: readonly (readonly [number, string])[] = [
    [-0, "0"],
    [5e-324, "5e-324"],
    [1.7976931348623157e308, "1.7976931348623157e+308"],
    [9007199254740992, "9007199254740992"],
    [295147905179352830000, "295147905179352830000"],
    [9.999999999999997e22, "9.999999999999997e+22"],
    [1e23, "1e+23"],
    [0.000001, "0.000001"],
    [1e-7, "1e-7"],
  ];
  for (const [value, text] of cases) expect(canonicalJson(value)).toBe(text);
});

test("agrees with another implementation on any JSON, and parses back to the same value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = canonicalJson(value);
      expect(text).toBe(canonicalize(value));
      expect(canonicalJson(JSON.parse(text))).toBe(text);
    }),
  );
});

test("what JSON cannot say, or says silently differently, is refused with its path", () => {
  const sparse: unknown[] = [1];
  sparse[2] = 3;
  let deep: unknown = 1;
  for (let i = 0; i < 70; i++) deep = [deep];
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  for (const value of [
    undefined,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1n,
    Symbol("s"),
    () => 1,
    new Date(0),
    new Map(),
    "\ud800",
    "\udc00x",
    { "\ud800": 1 },
    sparse,
    deep,
    cyclic,
    { a: undefined },
    new Uint8Array(1),
  ]) {
    expect(() => canonicalJson(value)).toThrow(refused);
  }
  expect(() => canonicalJson({ a: [1, { b: undefined }] })).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ path: "$.a[1].b" }) }),
  );
  // An object with a __proto__ key or a toJSON member is data like any other.
  expect(canonicalJson(JSON.parse('{"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1}}');
  expect(canonicalJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
});

describe("parseStrictJson", () => {
  test("agrees with JSON.parse on what both accept", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t"), (value, space) => {
        const text = JSON.stringify(value, null, space);
        // An integer literal of 2^53 and beyond is refused: a reader cannot tell it from its neighbours.
        fc.pre((text.match(/(?<![\d.eE+-])-?\d+(?![\d.eE])/g) ?? []).every((literal) => Number.isSafeInteger(Number(literal))));
        expect(parseStrictJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test("refuses what two readers could read differently", () => {
    for (const text of [
      '{"a":1,"a":2}',
      '{"a":1,"\\u0061":2}',
      "9007199254740993",
      "-9007199254740993",
      "1e999",
      '"\\ud800"',
      `${"[".repeat(70)}${"]".repeat(70)}`,
    ]) {
      expect(() => parseStrictJson(text)).toThrow(refused);
    }
    expect(Object.keys(parseStrictJson('{"__proto__":1}') as object)).toEqual(["__proto__"]);
  });

  test("refuses exactly what JSON.parse refuses, on damaged texts", () => {
    const text = '{"a":[1,-2.5e+3,"x\\n\\u00e9",true,false,null,{}],"b":{"c":[]}}';
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.constantFrom("", '"', "{", "}", "[", "]", ",", ":", "1", "-", ".", "e", "\\", " ", "\n", "x"),
        (at, insert) => {
          for (const damaged of [text.slice(0, at) + insert + text.slice(at), text.slice(0, at) + insert + text.slice(at + 1)]) {
            let expected: unknown;
            try {
              expected = JSON.parse(damaged);
            } catch {
              expect(() => parseStrictJson(damaged)).toThrow(refused);
              continue;
            }
            expect(parseStrictJson(damaged)).toEqual(expected);
          }
        },
      ),
      runs(300),
    );
  });

  test("a long string does not exhaust the stack", () => {
    const long = JSON.stringify("x\\".repeat(500_000));
    expect((parseStrictJson(long) as string).length).toBe(1_000_000);
  });
});
