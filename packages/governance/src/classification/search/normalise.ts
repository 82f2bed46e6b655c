import { checkArgument } from "@seneschal/kernel";

/** A text folded for matching, with the way back to the offsets of the original. */
export interface Normalised {
  readonly text: string;
  /** Original offset of the unit at `index`; `index` may be the length of the text. */
  start(index: number): number;
  /** Original offset behind the unit before `index`. */
  end(index: number): number;
}

const HOMOGLYPHS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ["аΑАᴀ", "A"],
    ["ВΒв", "B"],
    ["СсϹ", "C"],
    ["ЕеΕ", "E"],
    ["НΗн", "H"],
    ["ІіΙӀ", "I"],
    ["ЈјϳЈ", "J"],
    ["КΚк", "K"],
    ["МΜм", "M"],
    ["ΝＮ", "N"],
    ["ОоΟο", "O"],
    ["РрΡ", "P"],
    ["ЅѕՏ", "S"],
    ["ТΤт", "T"],
    ["ХхΧ", "X"],
    ["УуΥ", "Y"],
    ["ΖＺ", "Z"],
    ["α", "a"],
    ["ԁ", "d"],
    ["һ", "h"],
    ["ι", "i"],
    ["κ", "k"],
    ["ӏ", "l"],
    ["ρ", "p"],
    ["υ", "u"],
    ["ν", "v"],
    ["χ", "x"],
    ["γ", "y"],
  ].flatMap(([from, to]) => [...(from ?? "")].map((c) => [c, to ?? ""] as const)),
);
const MIXED = /[0-9A-Za-z@]/;
/** Letters and digits that stand together, and what stands between them. */
const RUN = /[\p{L}\p{N}\p{M}\p{Default_Ignorable_Code_Point}]+|[^\p{L}\p{N}\p{M}\p{Default_Ignorable_Code_Point}]+/gu;
const LOWER: ReadonlySet<string> = new Set("асеіјорѕхуο");
/** A Cyrillic or Greek letter that no Latin one looks like: its word is not disguised. */
const FOREIGN = new RegExp(`(?![${Object.keys(HOMOGLYPHS).join("")}])[\\p{Script=Cyrillic}\\p{Script=Greek}]`, "u");
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;
const DIGIT = /\p{Nd}/u;
const DASHES = /[\u2010-\u2013\u2212\u2043\ufe63\uff0d]/;
/** Dashes of sentences: between digits they join, elsewhere they part. */
const LONG_DASHES = /[\u2014\u2015\ufe58]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant
const ASCII = /^[\x00-\x7f]*$/;

/**
 * Folds a text so that evasion by look-alikes fails: compatibility forms (NFKC per character), invisible characters removed, runs of blanks to one, marks put to their letters or, where no letter has them, left out,
 * dashes and digits of all scripts to ASCII, Cyrillic and Greek look-alikes to Latin inside words that also hold ASCII letters or
 * digits (so that Russian or Greek words stay themselves). A run of foreign letters alone (`http://кулік.укр`) is folded only where all foreign letters of its
 * word are look-alikes, as they are in a disguise (`example.сом`).
 */
export function normalise(text: string): Normalised {
  checkArgument("text", text, "string");
  if (ASCII.test(text) && !text.includes("  ")) return { text, start: (i) => i, end: (i) => i };
  const out: string[] = [];
  /** The unit that was written last. */
  let last = "";
  const starts: number[] = [];
  const ends: number[] = [];
  const add = (units: string, from: number, to: number): void => {
    if (units === "") return;
    out.push(units);
    last = units[units.length - 1] ?? "";
    for (let unit = 0; unit < units.length; unit++) {
      starts.push(from);
      ends.push(to);
    }
  };
  const plain = (from: number, to: number): void => {
    out.push(text.slice(from, to));
    last = text[to - 1] ?? "";
    for (let at = from; at < to; at++) {
      starts.push(at);
      ends.push(at + 1);
    }
  };
  for (let wordStart = 0; wordStart < text.length; ) {
    if (isSpace(text.charCodeAt(wordStart))) {
      const c = text[wordStart] ?? "";
      const blank = INVISIBLE.test(c) ? "" : foldOne(c, false);
      if (blank !== " " || last !== " ") add(blank, wordStart, wordStart + 1);
      wordStart++;
      continue;
    }
    let wordEnd = wordStart;
    let held = 0;
    for (; wordEnd < text.length; wordEnd++) {
      const code = text.charCodeAt(wordEnd);
      if (isSpace(code)) break;
      held |= kindOf(code);
    }
    if ((held & FOLDED) === 0 && ((held & LOOK_ALIKE) === 0 || (held & LATIN) === 0)) plain(wordStart, wordEnd);
    else foldWord(wordStart, text.slice(wordStart, wordEnd));
    wordStart = wordEnd;
  }
  return {
    text: out.join(""),
    start: (i) => starts[i] ?? text.length,
    end: (i) => (i === 0 ? 0 : (ends[i - 1] ?? text.length)),
  };

  function foldWord(start: number, word: string): void {
    const disguised = MIXED.test(word) && !FOREIGN.test(word);
    for (const run of word.matchAll(RUN)) {
      const mixed = disguised || MIXED.test(run[0]);
      let at = start + run.index;
      for (const c of run[0]) {
        const from = at;
        at += c.length;
        const kind = c.length === 1 ? kindOf(c.charCodeAt(0)) : FOLDED;
        if ((kind & FOLDED) === 0 && !(mixed && (kind & LOOK_ALIKE) !== 0)) {
          add(c, from, at);
          continue;
        }
        if (INVISIBLE.test(c)) continue;
        const folded = LONG_DASHES.test(c) ? longDash(last, text[at]) : foldOne(c, mixed);
        if (folded === " " && last === " ") continue;
        const mark = MARK.test(folded);
        if (mark || VOICE_MARK.test(folded)) {
          const composed = (last + folded).normalize("NFC");
          const fits = out.length > 0 && composed.length === 1;
          if (fits) {
            out.push((out.pop() ?? "").slice(0, -1) + composed);
            last = composed;
          }
          if (fits || mark) {
            // What a mark is put on reaches as far as it.
            if (ends.length > 0) ends[ends.length - 1] = at;
            continue;
          }
        }
        // By UTF-16 units, as the text is indexed: an astral character is two of them.
        add(folded, from, at);
      }
    }
  }
}

/** What folding may do to a UTF-16 unit; without any of these it stays itself. */
const KNOWN = 1;
const LATIN = 2;
const LOOK_ALIKE = 4;
const FOLDED = 8;
/** By unit, filled as units are met. */
const kinds = new Uint8Array(0x10000);

function kindOf(code: number): number {
  const known = kinds[code] ?? 0;
  if (known !== 0) return known;
  const c = String.fromCharCode(code);
  let kind = KNOWN;
  if (MIXED.test(c)) kind |= LATIN;
  if (HOMOGLYPHS[c] !== undefined) kind |= LOOK_ALIKE;
  const changed = code >= 0xd800 && code < 0xe000 ? true : INVISIBLE.test(c) || LONG_DASHES.test(c) || foldOne(c, false) !== c;
  if (changed || VOICE_MARK.test(c) || MARK.test(c)) kind |= FOLDED;
  kinds[code] = kind;
  return kind;
}

const SPACE = /\s/;

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || (code >= 0xa0 && SPACE.test(String.fromCharCode(code)));
}

function longDash(before: string | undefined, after: string | undefined): string {
  return DIGIT.test(before ?? "") && DIGIT.test(after ?? "") ? "-" : " ";
}

/** Marks that are put on letters of scripts that do without them, as a class of a pattern: accents, strokes, enclosing signs. */
export const MARKS = "[\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f]";
const MARK = new RegExp(`^${MARKS}$`);

/** Voice marks of kana that stand behind their letter (NFD, half-width forms). */
const VOICE_MARK = /^[\u3099\u309a]$/;

/** Decimal digits of every script stand in runs of ten that begin with zero (Unicode, section 4.6). */
function digitValue(code: number): number {
  let first = code;
  while (DIGIT.test(String.fromCodePoint(first - 1))) first--;
  return (code - first) % 10;
}

/** A pattern of Braille without dots: a blank to the eye. */
const BRAILLE_BLANK = 0x2800;

/** The UTF-16 units that stand for one character. */
function foldOne(c: string, mixed: boolean): string {
  const code = c.codePointAt(0) ?? 0;
  if (code < 0x80) return c;
  if (DASHES.test(c)) return "-";
  if (DIGIT.test(c)) return String(digitValue(code));
  if (code === BRAILLE_BLANK) return " ";
  const latin = mixed ? HOMOGLYPHS[c] : undefined;
  if (latin !== undefined) return LOWER.has(c) ? latin.toLowerCase() : latin;
  return c.normalize("NFKC");
}
