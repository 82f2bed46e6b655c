import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { base64Bytes, base64Text } from "../src/base64-text.ts";

const schema = new RegExp(base64Text);
/** Mostly base64, with what is near it. */
const texts = fc.string({ unit: fc.constantFrom(..."Az09+/==-_ \t\n\f\r\v\0é\u00a0\u0100\ud800"), maxLength: 9 });

describe("base64Bytes", () => {
  it("takes what the schema of base64 texts takes, and nothing else", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const bytes = schema.test(text) ? Buffer.from(text, "base64").length : undefined;
        expect(base64Bytes(text)).toBe(bytes);
      }),
      { numRuns: 5000 },
    );
  });

  it("counts the bytes of any base64, padded or not", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = Buffer.from(bytes).toString("base64");
        expect([base64Bytes(text), base64Bytes(text.replace(/=+$/, ""))]).toEqual([bytes.length, bytes.length]);
      }),
    );
  });
});
