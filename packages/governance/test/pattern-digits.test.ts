import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CharacterBits, requiredCharacters } from "../src/classification/search/character-bits.ts";
import { either, joined, lengthsOf, ONE_DIGIT, ONE_OTHER, repeated } from "../src/classification/search/first-digit-run.ts";
import { parsePattern } from "../src/classification/search/parse-pattern.ts";
import { patternDigits } from "../src/classification/search/pattern-digits.ts";
import { TextDigits } from "../src/classification/search/text-digits.ts";
import { DEFAULT_RECOGNISERS } from "../src/index.ts";
import { barePattern } from "./bare-pattern.ts";

const patterns = DEFAULT_RECOGNISERS.flatMap(({ entity, country, patterns: list }) =>
  list.flatMap(({ name, regex }) => (regex instanceof RegExp ? [[`${entity} ${country ?? ""} ${name}`, regex] as const] : [])),
);

describe("what is read off a pattern", () => {
  const shown = (regex: RegExp) => {
    const { firstDigitRun, ...rest } = patternDigits(parsePattern(regex));
    return { ...rest, runs: [...Array(32).keys()].filter((n) => firstDigitRun & (1 << n)) };
  };
  test.each([
    [/(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)/g, { least: 9, most: 9, longest: 11, whole: true, runs: [3] }],
    [
      /(?<![\dA-Z])(?:18|19|20)?\d{6}[-+]?\d{4}(?![\d-])/g,
      { least: 10, most: 12, longest: 13, whole: true, runs: [6, 8, 10, 12] },
    ],
    [/(?<![A-Z\d])[A-Z]{2}\d{7}(?![A-Z\d])/g, { least: 7, most: 7, longest: 9, whole: true, runs: [7] }],
    [/(?<!\d)(?:a|7)b?[0-5]{1,2}(?!\w)/g, { least: 1, most: 3, longest: 4, whole: true, runs: [1, 2, 3] }],
    [/(?<!\d)(?:a1|b)2x3(?!\d)/g, { least: 2, most: 3, longest: 5, whole: true, runs: [1, 2] }],
    [/(?<!\d)\d{30,40}(?!\d)/g, { least: 30, most: 40, longest: 40, whole: true, runs: [30, 31] }],
    // Of one side alone, of less than all digits or of two characters, a refusal says nothing.
    [/(?<!\d)\d{4}/g, { least: 4, most: 4, longest: 4, whole: false, runs: [4] }],
    [/(?<![0-8])\d{4}(?!\d)/g, { least: 4, most: 4, longest: 4, whole: false, runs: [4] }],
    [/(?<!\d)\d{4}(?!\.\d)/g, { least: 4, most: 4, longest: 4, whole: false, runs: [4] }],
    [/(?<!\d)\d(?!\d)|x\d/g, { least: 1, most: 1, longest: 2, whole: false, runs: [1] }],
    [/(?<!\d)\p{L}\d(?!\d)/gu, { least: 1, most: 1, longest: 4, whole: true, runs: [1] }],
  ])("%s", (regex, known) => expect(shown(regex)).toEqual(known));

  test("nothing, where it cannot be known", () => {
    const open = { least: 0, most: Number.POSITIVE_INFINITY, longest: Number.POSITIVE_INFINITY };
    expect(shown(/(?<!\d)(a)\1(?!\d)/g)).toMatchObject(open);
    expect(shown(/(?<!\d)[^a]{0,3}(?!\d)/g)).toMatchObject({ least: 0, most: 3, longest: 3 });
    const sets: string = "v";
    expect(shown(new RegExp(String.raw`(?<!\d)\d{3}(?!\d)`, sets))).toMatchObject({ ...open, whole: false });
  });
});

describe("the characters that are in every match of a pattern", () => {
  const shown = (regex: RegExp) => {
    const required = requiredCharacters(parsePattern(regex));
    const lacks = (character: string) => {
      const others = new CharacterBits();
      for (let code = 0; code < 256; code++) if (code !== character.charCodeAt(0)) others.add(code);
      return !others.includes(required);
    };
    return Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
      .filter(lacks)
      .join("");
  };
  test.each([
    [/a@b\.c/g, ".@abc"],
    [/a?b+c{0,3}d{2}/g, "bd"],
    [/(?:ab|cb)x|ybz/g, "b"],
    [/(?<=q)[ab]\d-(?!w)/g, "-"],
    [/HR[AB]-/gi, "-hr"],
    // The sign for kelvin and the long s fold to them.
    [/Kas/giu, "a"],
    [/(a)\1/g, "a"],
    [/é/gi, ""],
  ])("%s", (regex, characters) => expect(shown(regex)).toBe(characters));

  test("what folds to a letter finds a match as ever, and another sign above ASCII is told from none", () => {
    for (const [regex, text] of [
      [/k1/giu, "\u212a1"],
      [/s1/giu, "\u017f1"],
      [/É°/giu, "é°"],
      [/😀-/gu, "😀-"],
    ] as const) {
      expect(new RegExp(regex).test(text)).toBe(true);
      const characters = new CharacterBits();
      characters.addText(text);
      expect(characters.includes(requiredCharacters(parsePattern(regex)))).toBe(true);
    }
    const plain = new CharacterBits();
    plain.addText("48 N, 16 E");
    expect(plain.includes(requiredCharacters(parsePattern(/\d°/g)))).toBe(false);
  });
});

const matched = new Set<string>();
test.each(patterns)("a text that %s finds something in is searched", (name, regex) => {
  const digits = patternDigits(parsePattern(regex));
  const required = requiredCharacters(parsePattern(regex));
  const match = fc.stringMatching(barePattern(regex));
  const other = fc.constantFrom("", " ", "7 ", "in 1999 ", " 12.5 and ", "a-1 ", " (4) ", " 0042-17 ");
  fc.assert(
    fc.property(other, match, other, (before, middle, after) => {
      const text = before + middle + after;
      regex.lastIndex = 0;
      if (!regex.test(text)) return;
      matched.add(name);
      expect(new TextDigits(text).mayHold(digits)).toBe(true);
      const characters = new CharacterBits();
      characters.addText(text);
      expect(characters.includes(required)).toBe(true);
    }),
  );
});

test("nearly every pattern was matched by what was made for it", () => {
  expect(matched.size).toBeGreaterThan(0.95 * new Set(patterns.map(([name]) => name)).size);
});

describe("a text without what a pattern needs is not searched", () => {
  const ssn = patternDigits(parsePattern(/(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)/g));
  test.each([
    ["in whole runs", "123-45-6789", true],
    ["in a part of a run", "1123-45-6789", false],
    ["in runs too far apart", "123-45  6789", false],
    ["in one run", "123456789", false],
    ["in no digit", "none", false],
    ["beside others", "9 of 123-45-6789, 8 of 7", true],
  ])("%s", (_, text, expected) => expect(new TextDigits(text).mayHold(ssn)).toBe(expected));
});

/** Texts of 0 and x, kept apart by what a term says of them. */
type Term =
  | { readonly kind: "digit" }
  | { readonly kind: "other" }
  | { readonly kind: "joined"; readonly one: Term; readonly two: Term }
  | { readonly kind: "either"; readonly one: Term; readonly two: Term }
  | { readonly kind: "repeated"; readonly one: Term; readonly min: number; readonly max: number };

const { term } = fc.letrec<{ term: Term }>((tie) => ({
  term: fc.oneof(
    { maxDepth: 4 },
    fc.record({ kind: fc.constantFrom("digit" as const, "other" as const) }),
    fc.record({ kind: fc.constantFrom("joined" as const, "either" as const), one: tie("term"), two: tie("term") }),
    fc
      .tuple(tie("term"), fc.nat(2), fc.nat(2))
      .map(([one, min, more]): Term => ({ kind: "repeated", one, min, max: min + more })),
  ),
}));

test("the first run has exactly the lengths that it has in the texts", () => {
  const textsOf = (t: Term): Set<string> => {
    switch (t.kind) {
      case "digit":
        return new Set(["0"]);
      case "other":
        return new Set(["x"]);
      case "either":
        return new Set([...textsOf(t.one), ...textsOf(t.two)]);
      case "joined":
        return new Set([...textsOf(t.one)].flatMap((a) => [...textsOf(t.two)].map((b) => a + b)));
      default: {
        const one = [...textsOf(t.one)];
        const all = new Set<string>();
        let some = [""];
        for (let n = 0; n <= t.max; n++) {
          if (n >= t.min) for (const text of some) all.add(text);
          some = [...new Set(some.flatMap((a) => one.map((b) => a + b)))];
        }
        return all;
      }
    }
  };
  const knownOf = (t: Term): ReturnType<typeof joined> => {
    switch (t.kind) {
      case "digit":
        return ONE_DIGIT;
      case "other":
        return ONE_OTHER;
      case "either":
        return either(knownOf(t.one), knownOf(t.two));
      case "joined":
        return joined(knownOf(t.one), knownOf(t.two));
      default:
        return repeated(knownOf(t.one), t.min, t.max);
    }
  };
  fc.assert(
    fc.property(
      term.filter((t) => sizeOf(t) <= 400),
      (t) => {
        let lengths = 0;
        for (const text of textsOf(t)) lengths |= 1 << (/0+/.exec(text)?.[0].length ?? 0);
        expect(lengthsOf(knownOf(t))).toBe(lengths);
      },
    ),
  );

  function sizeOf(t: Term): number {
    switch (t.kind) {
      case "joined":
        return sizeOf(t.one) * sizeOf(t.two);
      case "either":
        return sizeOf(t.one) + sizeOf(t.two);
      case "repeated":
        return (sizeOf(t.one) + 1) ** t.max;
      default:
        return 1;
    }
  }
});
