import { RegExpParser, visitRegExpAST } from "@eslint-community/regexpp";
import fc from "fast-check";
import { checkSync } from "recheck";
import { describe, expect, test } from "vitest";
import { boundedPattern, candidates, DEFAULT_RECOGNISERS, LEXICON, recognise, termOf } from "../src/index.ts";

/** Patterns with a look-behind or so long that the checker only fuzzes them; their growth is counted below instead. */
const patterns = DEFAULT_RECOGNISERS.flatMap((r) =>
  r.patterns.flatMap((p) => (p.regex instanceof RegExp ? [[`${r.entity} ${p.name}`, p.regex] as const] : [])),
);

describe("no pattern can be made to backtrack", () => {
  test.each(patterns)("%s has bounded quantifiers only", (_, regex) => {
    // Classes and escapes are taken out first: a `+` or `*` inside a class is a character.
    const bare = regex.source.replace(/\\./g, "e").replace(/\[(?:[^\]])*\]/g, "c");
    expect(bare).not.toMatch(/[ec).][*+]/);
    expect(bare).not.toMatch(/\{\d+,\}/);
  });

  test.each(LEXICON.map((term) => [term.term, term] as const))(
    "lexicon term %s is not vulnerable",
    (_, term) => {
      for (const regex of [term.match, term.unless, term.value]) {
        if (regex !== undefined)
          expect(checkSync(regex.source, regex.flags, { timeout: 2000, checker: "automaton" }).status).not.toBe("vulnerable");
      }
    },
    60_000,
  );
});

/** The repetitions without an end of a pattern, each alone. */
function openRepetitions({ source, flags }: RegExp): readonly RegExp[] {
  const found: RegExp[] = [];
  visitRegExpAST(new RegExpParser().parsePattern(source, 0, source.length, { unicode: flags.includes("u") }), {
    onQuantifierEnter({ max, element }) {
      if (max === Number.POSITIVE_INFINITY) found.push(new RegExp(`^(?:${element.raw})$`, flags));
    },
  });
  return found;
}

describe("a search of the lexicon is linear in the words of a name", () => {
  test.each(LEXICON.map((term) => [term.term, term] as const))(
    "%s: nothing without an end goes on from word to word",
    (_, term) => {
      // What begins at each word and ends with it is seen once; what looks on to the end from each word is seen as often as there are words.
      for (const regex of [term.match, term.unless, term.signs])
        for (const repeated of regex === undefined ? [] : openRepetitions(regex))
          expect(repeated.test(" "), regex?.source).toBe(false);
      if (term.value !== undefined && openRepetitions(term.value).length > 0) expect(term.value.source).toMatch(/^\^/);
    },
  );

  test("a card and its expiry are found in any name that a database can have, and no further apart than in one", () => {
    expect(termOf("card_expiry")?.entity).toBe("BANK_CARD_EXPIRY");
    expect(termOf(`card ${"of ".repeat(40)}expiry`)?.entity).toBe("BANK_CARD_EXPIRY");
    expect(termOf(`card ${"of ".repeat(60)}expiry`)?.entity).not.toBe("BANK_CARD_EXPIRY");
  });
});

/** Runs the patterns over a text and counts the matches that were judged: work, not time. */
function judged(text: string): number {
  let count = 0;
  const counted = DEFAULT_RECOGNISERS.map((r) => ({
    ...r,
    validate: (match: string) => {
      count++;
      return r.validate?.(match);
    },
  }));
  candidates(text, counted);
  return count;
}

describe("work grows with the text, not faster", () => {
  test.each([
    ["digits", "1"],
    ["card groups", "4111 "],
    ["dots", "a."],
    ["at signs", "a@"],
    ["colons", "1:"],
    ["hyphens", "12-"],
    ["letters", "A"],
    ["mixed", "DE12 3456 a@b.co 1.2.3.4 "],
    ["begin private key", "-----BEGIN PRIVATE KEY-----"],
    ["token starts", "eyJhbGciOiJ"],
  ])("%s: twice the text is at most about twice the matches", (_, unit) => {
    const small = judged(unit.repeat(2000 / unit.length));
    const large = judged(unit.repeat(4000 / unit.length));
    expect(large).toBeLessThanOrEqual(small * 2 + 50);
  });

  test("a fifth of a megabyte of any of them is searched to the end", () => {
    for (const unit of [
      "1",
      "a@",
      "1:",
      "4111-",
      "A1",
      "leukmi",
      "Anna Smith has asthma. ",
      "He is ill and ",
      "Anna ",
      "田中さんは",
      "السيد محمد ",
      "张",
    ])
      expect(Array.isArray(recognise(unit.repeat(200_000 / unit.length), DEFAULT_RECOGNISERS))).toBe(true);
  }, 60_000);
});

describe("patterns of strangers", () => {
  test("run on RE2: back references and look-around are refused, and repetitions whose bounds multiply", () => {
    expect(boundedPattern("(a)\\1")).toBeUndefined();
    expect(boundedPattern("(?=a)a")).toBeUndefined();
    expect(boundedPattern("(a+)+$")).toBeUndefined();
    expect(boundedPattern("(a|a)+$")?.exec(`${"a".repeat(5000)}!`)).toBeNull();
  });

  test("a pattern that matches nothing at all is refused", () => {
    for (const source of ["", "a*", "(?:.*z)?", "x{0,3}", "^$"]) expect(boundedPattern(source), source).toBeUndefined();
  });

  test("open repetitions end, so that no search looks to the end of the text from every match", () => {
    expect(boundedPattern("y(?:.*z)?")?.exec(`y${"x".repeat(300)}z`)).toMatchObject({ 0: "y", index: 0 });
    expect(boundedPattern("y(?:.*z)?")?.exec(`y${"x".repeat(200)}z`)?.[0]).toHaveLength(202);
  });

  test("bounding changes no escape, quotation or class", () => {
    const text = "a+b*c{2,} [+*]";
    for (const source of ["a\\+b\\*c\\{2,\\}", "\\Qa+b*c{2,}\\E", "a[+*]b[*+]c", "a[^]x]b"])
      expect(boundedPattern(source)?.exec(text)?.index).toBe(0);
    expect(boundedPattern("[[:alpha:]+]{3}")?.exec(text)?.[0]).toBe("a+b");
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-c]{1,12}$/),
        fc.constantFrom("a+", "[ab]+c", "b{2,}", "(?:ab)*c", "a.?c"),
        (given, source) => {
          expect(boundedPattern(source)?.exec(given)?.[0]).toBe(new RegExp(source).exec(given)?.[0]);
        },
      ),
    );
  });

  test("half a megabyte against a pattern that looks far ahead is searched to the end", () => {
    const regex = boundedPattern("y(?:[^q]*z)?") ?? /x/g;
    const found = recognise("y".repeat(100_000), [
      { entity: "FAR", patterns: [{ name: "far", regex, score: 0.6 }], context: [] },
    ]);
    expect(found).toHaveLength(20_000);
  }, 60_000);

  test("find what they describe at the right place", () => {
    const regex = boundedPattern("EMP-\\d{5}");
    const found = recognise("badge EMP-12345 and EMP-54321", [
      { entity: "BADGE", patterns: [{ name: "badge", regex: regex ?? /x/g, score: 0.6 }], context: [] },
    ]);
    expect(found.map((f) => [f.start, f.end])).toEqual([
      [6, 15],
      [20, 29],
    ]);
  });
});
