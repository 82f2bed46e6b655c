import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClassifier, DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, redact, tierRank } from "../src/index.ts";

const policy = DEFAULT_TIER_POLICY;
const classifier = createClassifier();
const rank = (text: string): number => tierRank(policy, classifier.classify(text).tier);
const redacted = (text: string): string =>
  redact(text, { policy, recognisers: DEFAULT_RECOGNISERS, rules: [{ operator: "replace" }] }).text;

const range = (first: number, last: number): readonly number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);
/** All that Unicode lets be ignored where it is shown, and the blank of Braille. */
const UNSEEN = range(0, 0x10ffff)
  .filter((code) => (code < 0xd800 || code > 0xdfff) && /\p{Default_Ignorable_Code_Point}/u.test(String.fromCodePoint(code)))
  .map((code) => String.fromCodePoint(code));
const TEXTS = [
  "my ssn is 536-22-8726",
  "card 4111 1111 1111 1111",
  "write to ada@example.org",
  "password: hunter2-Correct-Horse",
];

const WAYS: Readonly<Record<string, (text: string) => string>> = {
  tags: (text) => Array.from(text, (c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join(""),
  "variation selectors": (text) =>
    Array.from(Buffer.from(text), (byte) => String.fromCodePoint(byte < 16 ? 0xfe00 + byte : 0xe0100 + byte - 16)).join(""),
  hexadecimal: (text) => Buffer.from(text).toString("hex"),
  "hexadecimal in capitals": (text) => `0x${Buffer.from(text).toString("hex").toUpperCase()}`,
  "bytes apart": (text) => Array.from(Buffer.from(text), (byte) => byte.toString(16).padStart(2, "0")).join(" "),
  base32: (text) => {
    const bits = Array.from(Buffer.from(text), (byte) => byte.toString(2).padStart(8, "0")).join("");
    const letters = (bits.match(/.{1,5}/g) ?? []).map(
      (five) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[Number.parseInt(five.padEnd(5, "0"), 2)],
    );
    return letters.join("").padEnd(Math.ceil(letters.length / 8) * 8, "=");
  },
};

describe.each(Object.entries(WAYS))("what stands in a text in %s", (_, written) => {
  test.each(TEXTS)("counts as it does in clear and is hidden where it stands: %s", (text) => {
    for (const [before, behind] of [
      ["", ""],
      ["nice 😀 ", " day"],
      ["a ", " b"],
    ] as const) {
      const given = `${before}${written(text)}${behind}`;
      expect(rank(given), given).toBeGreaterThanOrEqual(rank(text));
      const left = redacted(given);
      expect(left).not.toContain(written(text.slice(-9)));
      expect(left.startsWith(before) && left.endsWith(behind), left).toBe(true);
    }
  });

  test("says nothing where it is no text with a value", () => {
    expect(rank(`see ${written("the quick brown fox")}`)).toBeLessThanOrEqual(rank("see the quick brown fox"));
  });
});

test("whatever is not seen hides no value that it stands in", () => {
  for (const c of UNSEEN)
    for (const text of [`my ssn is 53${c}6-22-87${c}26`, `card 4111${c}1111${c}11111111`])
      expect(redacted(text), c.codePointAt(0)?.toString(16)).toMatch(/<(?:US_SSN|CREDIT_CARD)>$/);
  expect(redacted("my ssn is 536\u280022\u28008726")).toBe("my ssn is <US_SSN>");
});

test("bytes that are no text, flags and emoji are left alone", () =>
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 64 }), (bytes) => {
      bytes[0] = 0xff;
      const text = `sha ${Buffer.from(bytes).toString("hex")} 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} ❤️ 👩‍⚕️`;
      expect(redacted(text)).toBe(text);
    }),
  ));

describe("values in pieces", () => {
  test.each([
    ["my ssn is 5 3 6 2 2 8 7 2 6", "my ssn is <US_SSN>"],
    ["card 4.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1 expired", "card <CREDIT_CARD> expired"],
    ["ssn = '536-22-' + '8726'", /^ssn = '?<US_SSN>'?$/],
    ['const mail = "ada@exam" + "ple.org";', 'const mail = "<EMAIL_ADDRESS>";'],
    ["card = ('41111111' '11111111')", "card = ('<CREDIT_CARD>')"],
    ["you can log in with admin / Tr0ub4dor3x!", /^you can .*<PASSWORD>$/],
    ["sign in as ada with Tr0ub4dor3x!", /<PASSWORD>$/],
  ])("%s", (text, expected) => {
    const left = redacted(text);
    if (typeof expected === "string") expect(left).toBe(expected);
    else expect(left).toMatch(expected);
  });

  test.each([
    "scores 5 3 6 2 2 8 7 2 6",
    "version 1.2.3.4.5.6.7.8.9",
    "1 2 3 4 5 6 7 8 9 10 11 12",
    "'north' + 'south'",
    "log in with admin / user rights",
    "you can log in with Google / Facebook",
    "sign in as admin / operator",
    "log in with SSO / OAuth2",
    "you can sign in with v2 / v3",
  ])("%s is nothing of this", (text) => {
    expect(redacted(text)).toBe(text);
  });
});

describe("a number whose digits are said as words, one by one", () => {
  const LANGUAGES: Readonly<Record<string, readonly [name: string, words: string]>> = {
    en: ["my ssn is", "zero one two three four five six seven eight nine"],
    de: ["meine SSN lautet", "null eins zwei drei vier fünf sechs sieben acht neun"],
    fr: ["mon ssn est", "zéro un deux trois quatre cinq six sept huit neuf"],
    es: ["mi ssn es", "cero uno dos tres cuatro cinco seis siete ocho nueve"],
    it: ["il mio ssn è", "zero uno due tre quattro cinque sei sette otto nove"],
    pt: ["meu ssn é", "zero um dois três quatro cinco seis sete oito nove"],
    nl: ["mijn ssn is", "nul een twee drie vier vijf zes zeven acht negen"],
  };
  test.each(Object.entries(LANGUAGES))("is hidden as if it were written: %s", (_, [name, words]) =>
    fc.assert(
      fc.property(fc.constantFrom("536228726", "4111111111111111"), fc.constantFrom(" ", ", ", "-", ". "), (number, between) => {
        const said = Array.from(number, (digit) => words.split(" ")[Number(digit)]).join(between);
        const text = number.length === 9 ? `${name} ${said} ok` : `card: ${said} ok`;
        expect(redacted(text)).not.toContain(said);
        expect(rank(text)).toBeGreaterThanOrEqual(rank(number.length === 9 ? `${name} ${number} ok` : `card: ${number} ok`));
      }),
    ),
  );

  test("counting is none", () => {
    for (const text of [
      "one two three four five six seven eight nine ten",
      "eins zwei drei vier fünf sechs sieben, wo ist meine Katze geblieben",
      "say one, one, two, three, five, eight and go on",
    ])
      expect(redacted(text)).toBe(text);
  });
});
