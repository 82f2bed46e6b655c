import { validateHeaderName, validateHeaderValue } from "node:http";
import { checkDescription, isFieldValue } from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";

const texts = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }));
const holds = (work: () => void): boolean => {
  try {
    work();
    return true;
  } catch {
    return false;
  }
};

test("a description is taken only when Node can send all of it, and everything that Node can send is", () => {
  const taken = (description: Parameters<typeof checkDescription>[0]) => holds(() => checkDescription(description));
  fc.assert(
    fc.property(texts, (text) => {
      const sendable = holds(() => validateHeaderValue("x", text));
      expect(isFieldValue(text)).toBe(sendable);
      expect(taken({ contentType: text, headers: {}, meta: {} })).toBe(sendable);
      expect(taken({ contentType: "a/b", headers: { expires: text }, meta: {} })).toBe(sendable);
      expect(taken({ contentType: "a/b", headers: {}, meta: { a: text } })).toBe(sendable);
      const named = text !== "" && holds(() => validateHeaderName(text));
      expect(taken({ contentType: "a/b", headers: {}, meta: { [text]: "a" } })).toBe(named);
    }),
  );
});

test("what is refused is named", () => {
  for (const [meta, field] of [
    [{ "a b": "1" }, "x-amz-meta-a b"],
    [{ a: "\r\n" }, "x-amz-meta-a"],
  ] as const)
    expect(() => checkDescription({ contentType: "a/b", headers: {}, meta })).toThrow(
      expect.objectContaining({ code: "InvalidArgument", details: { field } }),
    );
});
