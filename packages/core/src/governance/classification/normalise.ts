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
  ].flatMap(([from, to]) => [...(from ?? "")].map((c) => [c, to ?? ""] as const)),
);
const LOWER: ReadonlySet<string> = new Set("асеіјорѕхуο");
const DIGIT_ZEROS = [0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xe50, 0xed0];
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;
const DASHES = /[\u2010-\u2015\u2212\u2043\ufe58\ufe63\uff0d]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant
const ASCII = /^[\x00-\x7f]*$/;

/**
 * Folds a text so that evasion by look-alikes fails: compatibility forms (NFKC per character), invisible characters removed,
 * dashes and digits of all scripts to ASCII, Cyrillic and Greek look-alikes to Latin inside words that also hold ASCII letters or
 * digits (so that Russian or Greek words stay themselves).
 */
export function normalise(text: string): Normalised {
  if (ASCII.test(text)) return { text, start: (i) => i, end: (i) => i };
  const out: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  for (const word of words(text)) {
    const mixed = /[0-9A-Za-z@]/.test(word.text);
    let at = word.start;
    for (const c of word.text) {
      const from = at;
      at += c.length;
      if (INVISIBLE.test(c)) continue;
      const folded = foldOne(c, mixed);
      // By UTF-16 units, as the text is indexed: an astral character is two of them.
      for (let unit = 0; unit < folded.length; unit++) {
        out.push(folded[unit] ?? "");
        starts.push(from);
        ends.push(at);
      }
    }
  }
  return {
    text: out.join(""),
    start: (i) => starts[i] ?? text.length,
    end: (i) => (i === 0 ? 0 : (ends[i - 1] ?? text.length)),
  };
}

/** The UTF-16 units that stand for one character. */
function foldOne(c: string, mixed: boolean): string {
  const code = c.codePointAt(0) ?? 0;
  if (code < 0x80) return c;
  if (DASHES.test(c)) return "-";
  const zero = DIGIT_ZEROS.find((z) => code >= z && code <= z + 9);
  if (zero !== undefined) return String(code - zero);
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
