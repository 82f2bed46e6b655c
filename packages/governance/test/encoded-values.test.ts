import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createClassifier,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  recognise,
  redact,
  redactAs,
  tierRank,
} from "../src/index.ts";

const policy = DEFAULT_TIER_POLICY;
const classifier = createClassifier();
const rank = (text: string): number => tierRank(policy, classifier.classify(text).tier);

const digits = (length: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length }).map((all) => all.join(""));
const pick = (...of: readonly string[]) => fc.constantFrom(...of);
/** The digit that makes a number pass Luhn's check. */
const luhn = (number: string): string => {
  const sum = [...`${number}0`].reverse().reduce((total, digit, at) => {
    const doubled = at % 2 === 1 ? Number(digit) * 2 : Number(digit);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return String((10 - (sum % 10)) % 10);
};
const iban = (account: string): string => {
  const check = 98n - (BigInt(`${account}131400`) % 97n);
  return `DE${String(check).padStart(2, "0")}${account}`;
};
const grouped = (value: string, by = " "): string => (value.match(/.{1,4}/g) ?? []).join(by);

/** Values and what stands before them, as texts have them. */
const VALUES: Readonly<Record<string, fc.Arbitrary<readonly [label: string, value: string]>>> = {
  US_SSN: fc
    .tuple(fc.integer({ min: 501, max: 599 }), fc.integer({ min: 11, max: 99 }), fc.integer({ min: 1001, max: 9999 }))
    .map(([area, group, serial]) => ["my ssn is ", `${area}-${group}-${serial}`]),
  CREDIT_CARD: fc
    .tuple(digits(14), pick(" ", "-", ""))
    .map(([rest, by]) => ["card number: ", grouped(`4${rest}${luhn(`4${rest}`)}`, by)]),
  IBAN_CODE: fc.tuple(digits(18), pick(" ", "")).map(([account, by]) => ["IBAN: ", grouped(iban(account), by)]),
  EMAIL_ADDRESS: fc
    .tuple(pick("ada", "j.okafor", "maria_lopez", "tim-2"), pick("example", "mail-host", "acme"), pick("org", "com", "de"))
    .map(([name, host, end]) => ["write to ", `${name}@${host}.${end}`]),
  PERSON: fc
    .tuple(pick("Jonathan", "Maria", "Fatima", "Anna"), pick("Okafor", "Müller", "Rodriguez", "Nakamura"))
    .map(([first, last]) => ["dear Mr ", `${first} ${last}`]),
  IP_ADDRESS: fc
    .tuple(fc.integer({ min: 11, max: 99 }), digits(2))
    .map(([a, b]) => ["from the ip address ", `198.51.${a}.1${b}`]),
  PASSWORD: fc
    .tuple(pick("hunter", "Sommer", "trail"), digits(3))
    .map(([word, number]) => ["password: ", `${word}${number}Xq!z`]),
  DATE_OF_BIRTH: fc
    .tuple(fc.integer({ min: 1941, max: 1999 }), pick("01", "05", "12"), fc.integer({ min: 11, max: 28 }))
    .map(([year, month, day]) => ["date of birth: ", `${year}-${month}-${day}`]),
};

const utf8 = (text: string) => [...Buffer.from(text)];
const hex = (code: number, width = 2) => code.toString(16).padStart(width, "0");
const escaped = (prefix: string) => (text: string) =>
  utf8(text)
    .map((byte) => prefix + hex(byte))
    .join("");
const each = (written: (code: number) => string) => (text: string) =>
  [...text].map((c) => written(c.codePointAt(0) ?? 0)).join("");
const signs = (written: (code: number) => string) => (text: string) =>
  text.replace(/[^A-Za-z\d]/gu, (c) => written(c.codePointAt(0) ?? 0));
const between = (sign: string) => (text: string) => [...text].join(sign);
const NAMED: Readonly<Record<string, string>> = {
  "@": "&commat;",
  ".": "&period;",
  " ": "&nbsp;",
  "-": "&hyphen;",
  _: "&lowbar;",
  "!": "&excl;",
  ü: "&uuml;",
};

/** Ways to write a value so that it does not stand there, and still is read: by a browser, a mail program, a database. */
const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  "decimal character references": each((code) => `&#${code};`),
  "hexadecimal character references": each((code) => `&#x${hex(code)};`),
  "character references of signs": signs((code) => `&#${code};`),
  "named character references": (text) => text.replace(/[@. _!ü-]/g, (c) => NAMED[c] ?? c),
  "character references that are encoded again": signs((code) => `&amp;#${code};`),
  "quoted-printable": escaped("="),
  "quoted-printable of signs": signs((code) =>
    [...Buffer.from(String.fromCodePoint(code))].map((byte) => `=${hex(byte).toUpperCase()}`).join(""),
  ),
  "soft line breaks": (text) => `${text.slice(0, 5)}=\r\n${text.slice(5)}`,
  "percent-encoding": escaped("%"),
  "percent-encoding of signs": encodeURIComponent,
  "percent-encoding, twice": (text) => encodeURIComponent(encodeURIComponent(text)),
  "escapes of UTF-16": (text) => Array.from({ length: text.length }, (_, i) => `\\u${hex(text.charCodeAt(i), 4)}`).join(""),
  "escapes of bytes": escaped("\\x"),
  base64: (text) => Buffer.from(`${text}, ${text}`).toString("base64"),
  "base64 of URLs": (text) => Buffer.from(`${text}, ${text}`).toString("base64url"),
  "zero-width blanks": between("\u200b"),
  "zero-width joiners": between("\u200d"),
  "soft hyphens": between("\u00ad"),
  "word joiners": between("\u2060"),
  "full-width signs": (text) => text.replace(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)),
  "Arabic digits": (text) => text.replace(/\d/g, (c) => String.fromCharCode(0x660 + Number(c))),
  "combining strokes": (text) => text.replace(/[A-Za-z\d]/g, "$&\u0336"),
  "combining accents on digits": (text) => text.replace(/\d/g, "$&\u0301"),
  keycaps: (text) => text.replace(/\d/g, "$&\ufe0f\u20e3"),
  "decomposed letters": (text) => text.normalize("NFD"),
  "line separators for blanks": (text) => text.replaceAll(" ", "\u2028"),
  "paragraph separators for blanks": (text) => text.replaceAll(" ", "\u2029"),
  "tabs for blanks": (text) => text.replaceAll(" ", "\t"),
  "no-break blanks": (text) => text.replaceAll(" ", "\u00a0"),
};

const value = fc
  .constantFrom(...Object.keys(VALUES))
  .chain((entity) => (VALUES[entity] as NonNullable<(typeof VALUES)[string]>).map(([label, text]) => ({ entity, label, text })));

describe.each(Object.entries(ENCODINGS))("%s", (_, encode) => {
  test("hide no value from classification", () => {
    fc.assert(
      fc.property(value, ({ label, text }) => {
        expect(rank(label + encode(text))).toBeGreaterThanOrEqual(rank(label + text));
      }),
      { numRuns: 25 },
    );
  });

  test("are redacted as what they hold, and nothing beside it", () => {
    fc.assert(
      fc.property(value, pick("", " and so on", "\nthanks"), ({ entity, label, text }, behind) => {
        const rules = [{ entity, operator: "replace" as const }];
        const redacted = (given: string) => redact(given, { policy, recognisers: DEFAULT_RECOGNISERS, rules }).text;
        const wrapped = redacted(label + encode(text) + behind);
        expect(asOne(wrapped)).toBe(asOne(redacted(label + text + behind)));
        expect(redacted(wrapped)).toBe(wrapped);
      }),
      { numRuns: 25 },
    );
  });
});

/** What stands in the place of one value counts as one marker, of whatever entity it may also be. */
function asOne(redacted: string): string {
  return redacted.replace(/<[A-Z_]+>(?:[^\p{L}\p{N}<]{0,9}<[A-Z_]+>|\p{M}+)*/gu, "<>");
}

/** Signs between groups of digits, which plain numbers have too: they count beside the value's name. */
describe.each(["/", "\t", "_", "|", "+", "\\"])("groups of digits with %j between them", (sign) => {
  const numbers = fc
    .constantFrom("US_SSN", "CREDIT_CARD", "IBAN_CODE", "DATE_OF_BIRTH")
    .chain((entity) =>
      (VALUES[entity] as NonNullable<(typeof VALUES)[string]>).map(([label, text]) => ({ entity, label, text })),
    );

  test("are a value beside its name", () => {
    fc.assert(
      fc.property(numbers, ({ entity, label, text }) => {
        fc.pre(/[ -]/.test(text));
        const wrapped = text.replace(/[ -]/g, sign);
        expect(rank(label + wrapped)).toBeGreaterThanOrEqual(rank(label + text));
        const { text: redacted } = redact(label + wrapped, {
          policy,
          recognisers: DEFAULT_RECOGNISERS,
          rules: [{ entity, operator: "replace" }],
        });
        expect(redacted).toMatch(new RegExp(`^${label}<[A-Z_]+>$`));
      }),
      { numRuns: 25 },
    );
  });

  test("are numbers without it", () => {
    fc.assert(
      fc.property(fc.tuple(digits(3), digits(2), digits(4)), (parts) => {
        expect(recognise(`see ${parts.join(sign)} there`, DEFAULT_RECOGNISERS).map(({ entity }) => entity)).not.toContain(
          "US_SSN",
        );
      }),
      { numRuns: 25 },
    );
  });
});

const ORDINARY = [
  "GET /search?utf8=%E2%9C%93&q=is%3Aopen+label%3Abug&page=12 HTTP/1.1",
  "https://img.shields.io/badge/build-passing%20now-brightgreen?style=flat&color=4C1",
  "the meeting is moved to Thursday &mdash; same room, same time &amp; the same people",
  "const width = 100; const ratio=20; if (year=2024) return `\\u00e9t\\u00e9`;",
  "Fish &amp; chips cost 12&nbsp;&euro;, salad 9&nbsp;&euro;",
  "=?UTF-8?Q?Wochenbericht_f=C3=BCr_Kalenderwoche_12?=",
  "the release notes are in docs/2026/11/27/notes_v2_final.md",
  "id\tname\tcount\n1\tapples\t536228726",
  "run --retries=20 --timeout=4000 --level=3f2a",
  "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
  "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
];

test.each(ORDINARY)("ordinary texts stay so: %s", (text) => {
  expect(rank(text)).toBeLessThanOrEqual(tierRank(policy, "INTERNAL"));
});

const anything = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "&#64;",
        "&#x2d;",
        "&amp;",
        "%40",
        "%C3%BC",
        "%",
        "=40",
        "=\r\n",
        "=?utf-8?Q?",
        "?=",
        "=?x?B?",
        "\\u0040",
        "\\u{1f600}",
        "\\xc3\\xbc",
      ),
      fc.constantFrom(
        "ada@example.org",
        "536-22-8726",
        "my ssn is ",
        "YWRhQGV4YW1wbGUub3Jn",
        "e\u0301",
        "\u2028",
        "\t",
        "/",
        "+",
        "_",
        " ",
      ),
      fc.string({ unit: "binary", maxLength: 6 }),
    ),
    { maxLength: 24 },
  )
  .map((parts) => parts.join(""));

test("whatever is encoded how, findings stand in the text one behind the other", () => {
  fc.assert(
    fc.property(anything, (text) => {
      let at = 0;
      for (const { start, end } of recognise(text, DEFAULT_RECOGNISERS)) {
        expect(start).toBeGreaterThanOrEqual(at);
        expect(end).toBeGreaterThan(start);
        at = end;
      }
      expect(at).toBeLessThanOrEqual(text.length);
    }),
    { numRuns: 300 },
  );
});

test("a text that holds several values in one encoding is hidden where a rule hides one of them", () => {
  const blob = Buffer.from("write to ada@example.org, card 4111 1111 1111 1111").toString("base64");
  for (const [hidden, kept] of [
    ["EMAIL_ADDRESS", "CREDIT_CARD"],
    ["CREDIT_CARD", "EMAIL_ADDRESS"],
  ] as const) {
    const rules = [
      { entity: hidden, operator: "replace" as const },
      { entity: kept, operator: "keep" as const },
    ];
    for (const [format, text] of [
      ["text", `see ${blob}`],
      ["json", JSON.stringify({ note: `see ${blob}` })],
      ["csv", `note\nsee ${blob}\n`],
    ] as const)
      expect(redactAs(format, text, { policy, recognisers: DEFAULT_RECOGNISERS, rules }).text).not.toContain(blob.slice(2, 12));
  }
});
