import { Buffer } from "node:buffer";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { createClassifier, DEFAULT_TIER_POLICY } from "@seneschal/governance";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { base64Texts } from "../src/classification/search/base64-texts.ts";

const classifier = createClassifier();
const rank = (text: string): number => DEFAULT_TIER_POLICY.tiers.indexOf(classifier.classify(text).tier);

const TEXTS = [
  "my ssn is 536-22-8726",
  "Patient Jane Miller has been diagnosed with HIV since 2019.",
  "password: hunter2-Correct-Horse",
  "select name, salary from employees",
  "card 4111 1111 1111 1111, exp 12/29",
];
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  alone: base64,
  "of URLs, without padding": (text) => Buffer.from(text).toString("base64url"),
  "within a sentence": (text) => `please store ${base64(text)} somewhere`,
  "within JSON": (text) => JSON.stringify({ blob: base64(text) }),
  "within JSON, solidus escaped": (text) => JSON.stringify({ blob: base64(text) }).replaceAll("/", "\\/"),
  "within code": (text) => `const blob = "${base64(text)}";`,
  "as a data URL": (text) => `<img src="data:text/plain;base64,${base64(text)}">`,
  "over lines": (text) => (base64(text).match(/.{1,20}/g) ?? []).join("\r\n"),
  "of UTF-16": (text) => `powershell -EncodedCommand ${Buffer.from(text, "utf16le").toString("base64")}`,
  "of gzip": (text) => `blob=${gzipSync(text).toString("base64")}`,
  "of zlib": (text) => `blob: ${deflateSync(text).toString("base64")}`,
  "of deflate, for URLs": (text) => `see ${deflateRawSync(text).toString("base64url")} there`,
  "of base64": (text) => base64(base64(text)),
};

describe.each(Object.entries(FORMS))("base64 %s", (_, form) => {
  test.each(TEXTS)("hides nothing: %s", (text) => {
    expect(rank(form(text))).toBeGreaterThanOrEqual(rank(text));
  });
});

test("however often a text is put into base64, its tier never falls", () => {
  for (let text = TEXTS[0] as string, depth = 0, last = rank(text); depth < 8; depth += 1) {
    text = base64(text);
    expect(rank(text), `${depth}`).toBeGreaterThanOrEqual(last);
    last = rank(text);
  }
});

test("what is put into base64 is found again, and bytes that are no text are none", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 12 }), (text) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: texts have none of these
      fc.pre(!/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]/.test(text));
      expect(base64Texts(`a ${base64(text)} b`)).toEqual([text]);
    }),
  );
  const picture = Buffer.from([
    0x89,
    0x50,
    0x4e,
    0x47,
    0x0d,
    0x0a,
    0x1a,
    0x0a,
    ...Array.from({ length: 60 }, (_, i) => (i * 37) & 255),
  ]);
  expect(base64Texts(picture.toString("base64"))).toEqual([]);
});

test.each([
  "internationalization and incomprehensibilities",
  "the commit is 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
  "see https://example.org/articles/how-to-write-unmaintainable-code",
  "customer_acquisition_cost_per_channel and AbstractSingletonProxyFactoryBean",
])("words that only look like it stay what they are: %s", (text) => {
  expect(base64Texts(text)).toEqual([]);
});

test("what a text holds in encodings is looked for once while it is classified", () => {
  const text = `see ${base64("nothing of note, only a sentence")} and 6e6f7468696e67206f66206e6f746520 there`;
  const searches = vi.spyOn(RegExp.prototype, Symbol.matchAll);
  classifier.classify(text);
  const whole = searches.mock.contexts.flatMap((pattern, i) =>
    searches.mock.calls[i]?.[0] === text && /\\da-f\]\{2\}\)\(\?:\(\[ :|A-Z2-7|\\w\+\/-/.test((pattern as RegExp).source)
      ? [(pattern as RegExp).source]
      : [],
  );
  searches.mockRestore();
  expect(whole.length).toBeGreaterThan(0);
  expect(whole).toEqual([...new Set(whole)]);
});

test("bytes that are not compressed, and compressed bytes that are no text, are none", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 400 }), (bytes) => {
      const binary = Uint8Array.of(0xff, 0xd8, ...bytes, 0);
      expect(base64Texts(gzipSync(binary).toString("base64"))).toEqual([]);
      expect(base64Texts(Buffer.from(binary).toString("base64"))).toEqual([]);
    }),
  );
});

test("a bomb is looked at as far as any text goes", () => {
  const bomb = gzipSync(Buffer.alloc(64 << 20, "my ssn is 536-22-8726; ")).toString("base64");
  expect(base64Texts(bomb)[0]?.length).toBeLessThan(8 << 20);
});
