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
 * Folds a text so that evasion by look-alikes fails: compatibility forms (NFKC per character), invisible characters removed, runs of blanks to one, voice marks put to their kana,
 * dashes and digits of all scripts to ASCII, Cyrillic and Greek look-alikes to Latin inside words that also hold ASCII letters or
 * digits (so that Russian or Greek words stay themselves). A run of foreign letters alone (`http://кулік.укр`) is folded only where all foreign letters of its
 * word are look-alikes, as they are in a disguise (`example.сом`).
 */
export function normalise(text: string): Normalised {
  if (ASCII.test(text) && !text.includes("  ")) return { text, start: (i) => i, end: (i) => i };
  const out: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  for (const word of words(text)) {
    if (ASCII.test(word.text)) {
      if (word.text === " " && out.at(-1) === " ") continue;
      for (let i = 0; i < word.text.length; i++) {
        out.push(word.text[i] ?? "");
        starts.push(word.start + i);
        ends.push(word.start + i + 1);
      }
      continue;
    }
    const disguised = MIXED.test(word.text) && !FOREIGN.test(word.text);
    for (const run of word.text.matchAll(RUN)) {
      const mixed = disguised || MIXED.test(run[0]);
      let at = word.start + run.index;
      for (const c of run[0]) {
        const from = at;
        at += c.length;
        if (INVISIBLE.test(c)) continue;
        const folded = LONG_DASHES.test(c) ? longDash(out.at(-1), text[at]) : foldOne(c, mixed);
        if (folded === " " && out.at(-1) === " ") continue;
        if (VOICE_MARK.test(folded)) {
          const voiced = ((out.at(-1) ?? "") + folded).normalize("NFC");
          if (out.length > 0 && voiced.length === 1) {
            out[out.length - 1] = voiced;
            ends[ends.length - 1] = at;
            continue;
          }
        }
        // By UTF-16 units, as the text is indexed: an astral character is two of them.
        for (let unit = 0; unit < folded.length; unit++) {
          out.push(folded[unit] ?? "");
          starts.push(from);
          ends.push(at);
        }
      }
    }
  }
  return {
    text: out.join(""),
    start: (i) => starts[i] ?? text.length,
    end: (i) => (i === 0 ? 0 : (ends[i - 1] ?? text.length)),
  };
}

function longDash(before: string | undefined, after: string | undefined): string {
  return DIGIT.test(before ?? "") && DIGIT.test(after ?? "") ? "-" : " ";
}

/** Voice marks of kana that stand behind their letter (NFD, half-width forms). */
const VOICE_MARK = /^[\u3099\u309a]$/;

/** Decimal digits of every script stand in runs of ten that begin with zero (Unicode, section 4.6). */
function digitValue(code: number): number {
  let first = code;
  while (DIGIT.test(String.fromCodePoint(first - 1))) first--;
  return (code - first) % 10;
}

/** The UTF-16 units that stand for one character. */
function foldOne(c: string, mixed: boolean): string {
  const code = c.codePointAt(0) ?? 0;
  if (code < 0x80) return c;
  if (DASHES.test(c)) return "-";
  if (DIGIT.test(c)) return String(digitValue(code));
  const latin = mixed ? HOMOGLYPHS[c] : undefined;
  if (latin !== undefined) return LOWER.has(c) ? latin.toLowerCase() : latin;
  return c.normalize("NFKC");
}

function* words(text: string): Generator<{ readonly text: string; readonly start: number }> {
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    const space = i < text.length && /\s/.test(text[i] ?? "");
    if (i === text.length || space) {
      if (i > start) yield { text: text.slice(start, i), start };
      if (space) yield { text: text[i] ?? "", start: i };
      start = i + 1;
    }
  }
}
