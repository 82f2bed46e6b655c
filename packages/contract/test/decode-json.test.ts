import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeJson } from "../src/decode-json.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const codeOf = (text: string): string => {
  try {
    decodeJson(bytes(text));
    return "accepted";
  } catch (error) {
    return (error as { code: string }).code;
  }
};

/** The obvious check: every string and key of the parsed value. */
function isWhole(value: unknown): boolean {
  if (typeof value === "string") return !value.includes("\0") && !/\p{Surrogate}/u.test(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, child]) => key !== "__proto__" && isWhole(key) && isWhole(child));
}

const piece = fc.constantFrom("a", "\\", '"', "\\u", "\0", "\ud800", "\udc00", "[", "{", "😀", "u0000", "\n");
const tricky = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
const value = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, tricky, fc.integer(), fc.array(tie("value")), fc.dictionary(tricky, tie("value"))),
})).value;

test("a body is accepted if and only if all its strings and names are well-formed text, whatever is escaped how", () => {
  fc.assert(
    fc.property(value, fc.boolean(), (sent, escaped) => {
      const plain = JSON.stringify(sent);
      const text = escaped ? plain.replace(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`) : plain;
      expect(codeOf(text)).toBe(isWhole(JSON.parse(new TextDecoder().decode(bytes(text)))) ? "accepted" : "validation_failed");
    }),
  );
});

test("a bound on values is a bound on separators and brackets, those in strings not counted, before anything is parsed", () => {
  const marks = (text: string, most: number) => {
    try {
      decodeJson(bytes(text), { values: most });
      return "accepted";
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const list = JSON.stringify(Array.from({ length: 100 }, (_, i) => i));
  expect([marks(list, 100), marks(list, 99)]).toEqual(["accepted", "payload_too_large"]);
  const keys = JSON.stringify(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, i])));
  expect([marks(keys, 100), marks(keys, 99)]).toEqual(["accepted", "payload_too_large"]);
  expect(marks(JSON.stringify([",".repeat(1000), '[{":,'.repeat(100)]), 2)).toBe("accepted");
});

test("64 levels are read and 65 are not; brackets in strings, behind any number of backslashes, are no levels", () => {
  fc.assert(
    fc.property(fc.integer({ min: 60, max: 70 }), tricky, tricky, (levels, before, inside) => {
      const whole = (text: string): string => text.replaceAll("\0", "").replaceAll(/\p{Surrogate}/gu, "");
      const nested = `${"[".repeat(levels - 1)}${JSON.stringify(`${whole(inside)}[[{`)}${"]".repeat(levels - 1)}`;
      const text = `[${JSON.stringify(`${whole(before)}\\`)}, ${nested}]`;
      expect(codeOf(text)).toBe(levels <= 64 ? "accepted" : "invalid_json");
    }),
  );
});

describe("readers agree on what a body says", () => {
  test.each([
    ['{"a":1,"a":2}', "body.a"],
    ['{"a":{"b":[0,{"c":1,"\\u0063":2}]}}', "body.a.b[1].c"],
    ['{"b":1,"a":"\\"a\\":","b" \n\t :2}', "body.b"],
    ['[{"x":1},{"x":1},{"x":1,"x":1}]', "body[2].x"],
  ])("a key that is there twice is named: %s", (text, path) => {
    let refused: unknown;
    try {
      decodeJson(bytes(text));
    } catch (error) {
      refused = error;
    }
    const issues = [{ path, message: "the field is there twice" }];
    expect(refused).toMatchObject({ code: "validation_failed", details: { issues } });
  });

  test("a byte order mark is no JSON", () => {
    expect(() => decodeJson(bytes('\ufeff{"a":1}'))).toThrow(expect.objectContaining({ code: "invalid_json" }));
  });

  test("what holds no key twice decodes to itself, whatever its keys and texts", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, stringUnit: "binary" }), (text) => {
        fc.pre(!text.includes('"__proto__"') && !/\\u|\0/.test(text));
        expect(decodeJson(bytes(text))).toEqual(JSON.parse(text));
      }),
    );
  });
});
