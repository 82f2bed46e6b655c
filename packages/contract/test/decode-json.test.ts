import fc from "fast-check";
import { expect, test } from "vitest";
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
