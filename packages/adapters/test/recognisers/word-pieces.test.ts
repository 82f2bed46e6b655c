import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WordPieces } from "../../src/recognisers/word-pieces.ts";

const vocabulary = ["[UNK]", "[CLS]", "[SEP]", "zork", "##blat", "Zork", "cafe", ".", "中", "国", "a", "##a", "-"];
const cased = new WordPieces(vocabulary, false);
const uncased = new WordPieces(vocabulary, true);
const told = (words: WordPieces, text: string) =>
  words.of(text).map(({ id, start, end, word }) => [vocabulary[id], text.slice(start, end), word]);

describe("pieces of words, as BERT's tokenizer has them", () => {
  test("are the longest that the vocabulary has, with their places", () => {
    expect(told(cased, "Zorkblat zork.")).toEqual([
      ["Zork", "Zork", 0],
      ["##blat", "blat", 0],
      ["zork", "zork", 1],
      [".", ".", 2],
    ]);
  });

  test("of a word that cannot be put together are one that is unknown", () => {
    expect(told(cased, "zorkx aaaa")).toEqual([
      ["[UNK]", "zorkx", 0],
      ["a", "a", 1],
      ["##a", "a", 1],
      ["##a", "a", 1],
      ["##a", "a", 1],
    ]);
    expect(told(cased, "a".repeat(101))).toEqual([["[UNK]", "a".repeat(101), 0]]);
  });

  test("have neither capitals nor accents where the model has none", () => {
    expect(told(uncased, "ZORKblat CAFÉ cafe\u0301")).toEqual([
      ["zork", "ZORK", 0],
      ["##blat", "blat", 0],
      ["cafe", "CAFÉ", 1],
      ["cafe", "cafe", 2],
    ]);
    expect(told(cased, "café")).toEqual([["[UNK]", "café", 0]]);
  });

  test("part ideographs and punctuation, and pass over what nobody sees", () => {
    expect(told(cased, "中国a-a\u0000 \ufffd \u{1f600}")).toEqual([
      ["中", "中", 0],
      ["国", "国", 1],
      ["a", "a", 2],
      ["-", "-", 3],
      ["a", "a", 4],
      ["[UNK]", "\u{1f600}", 5],
    ]);
  });

  test("lie one behind the other, are not empty and part no character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.boolean(), (text, lower) => {
        let [at, word] = [0, 0];
        for (const piece of (lower ? uncased : cased).of(text)) {
          expect(piece.end).toBeGreaterThan(piece.start);
          // The parts of one character may be several.
          expect(piece.start).toBeGreaterThanOrEqual(at);
          expect([0, 1]).toContain(piece.word - word);
          for (const edge of [piece.start, piece.end])
            expect(/[\ud800-\udbff]$/.test(text.slice(0, edge)) && /^[\udc00-\udfff]/.test(text.slice(edge))).toBe(false);
          [at, word] = [piece.start, piece.word];
        }
      }),
    );
  });

  test("need a vocabulary with its own signs", () => {
    expect(() => new WordPieces(["a"], false)).toThrow("the vocabulary has no [UNK]");
  });
});
