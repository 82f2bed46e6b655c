import type { JsonObject } from "@seneschal/kernel";
import { maxDocumentBytes, serialiseDocument, utf8Length } from "@seneschal/kernel/store";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { takesMoreThan } from "../../src/store/byte-string.ts";

const anyText = fc.string({
  unit: fc.constantFrom("a", "\0", "\u00e9", "\uffee", "\ud83d", "\ude00", "\u{1f600}"),
  maxLength: 6,
});

/** Whether every engine can keep a text: a lone surrogate does not survive UTF-8. */
const keepable = (text: string): boolean =>
  !text.includes("\0") && new TextDecoder().decode(new TextEncoder().encode(text)) === text;

describe("serialiseDocument", () => {
  test("a string is refused exactly when it holds U+0000 or does not survive UTF-8, as a value and as a name", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const doc of [{ x: text }, { x: [text] }, { [text]: 1 }, { x: { [text]: null } }]) {
          if (keepable(text)) expect(serialiseDocument(doc, "doc")).toBe(JSON.stringify(doc));
          else expect(() => serialiseDocument(doc, "doc")).toThrow(expect.objectContaining({ code: "invalid_document" }));
        }
      }),
    );
  });

  test.each<[string, unknown, string]>([
    ["the first of two", { a: 1, b: Number.NaN, c: undefined }, "doc.b is not a finite number"],
    ["a value deep inside", { a: [{ b: [0, { c: 1n }] }] }, "doc.a[0].b[1].c is a bigint, not JSON"],
    ["a hole", { a: [1, new Array(1)] }, "doc.a[1][0] is undefined, not JSON"],
    ["a name", { a: { "b\0": 1 } }, 'doc.a["b\\u0000"] has a name that contains U+0000'],
    ["a string", { a: ["\ud800"] }, "doc.a[0] contains a lone surrogate"],
    ["an object of a class", { a: new Map() }, "doc.a is a object, not JSON"],
    ["an object that writes itself", { a: { toJSON: () => 1 } }, "doc.a is a object, not JSON"],
    ["no object", [1], "doc is not an object"],
  ])("names the way to %s", (_, doc, message) => {
    expect(() => serialiseDocument(doc as JsonObject, "doc")).toThrow(message);
  });

  test("nesting is allowed to 200 levels", () => {
    const nested = (levels: number): JsonObject => (levels === 1 ? { a: 1 } : { a: nested(levels - 1) });
    expect(serialiseDocument(nested(200), "doc")).toBe(JSON.stringify(nested(200)));
    expect(() => serialiseDocument(nested(201), "doc")).toThrow("is nested deeper than 200");
  });

  test("the border is in bytes: one more is refused", () => {
    for (const [char, bytes] of [
      ["x", 1],
      ["\u00e9", 2],
      ["\uffee", 3],
      ["\u{1f600}", 4],
    ] as const) {
      const free = maxDocumentBytes - utf8Length('{"t":""}');
      const full = char.repeat(Math.floor(free / bytes)) + "x".repeat(free % bytes);
      expect(utf8Length(serialiseDocument({ t: full }, "doc"))).toBe(maxDocumentBytes);
      expect(() => serialiseDocument({ t: `${full}x` }, "doc")).toThrow(`takes ${maxDocumentBytes + 1} bytes`);
    }
  });
});

test("takesMoreThan says what counting would", () => {
  fc.assert(
    fc.property(anyText, fc.nat(20), (text, limit) => {
      expect(takesMoreThan(text, limit)).toBe(utf8Length(text) > limit);
    }),
  );
});
