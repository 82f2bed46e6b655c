import { checkSync } from "recheck";
import { describe, expect, test } from "vitest";
import { boundedPattern, candidates, DEFAULT_RECOGNISERS, LEXICON, recognise } from "../../src/governance/index.ts";

/** Patterns with a look-behind or so long that the checker only fuzzes them; their growth is counted below instead. */
const patterns = DEFAULT_RECOGNISERS.flatMap((r) => r.patterns.map((p) => [`${r.entity} ${p.name}`, p.regex as RegExp] as const));

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

  test("a megabyte of any of them is searched to the end", () => {
    for (const unit of ["1", "a@", "1:", "4111-", "A1"])
      expect(Array.isArray(recognise(unit.repeat(1_000_000 / unit.length), DEFAULT_RECOGNISERS))).toBe(true);
  }, 60_000);
});

describe("patterns of strangers", () => {
  test("run on RE2: back references and look-around are refused, nested quantifiers are harmless", () => {
    expect(boundedPattern("(a)\\1")).toBeUndefined();
    expect(boundedPattern("(?=a)a")).toBeUndefined();
    const evil = boundedPattern("(a+)+$");
    expect(evil?.exec(`${"a".repeat(5000)}!`)).toBeNull();
  });

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
