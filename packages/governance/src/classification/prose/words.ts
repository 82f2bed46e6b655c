/** A word of a text, as rules about prose look at it. */
export interface Word {
  /** Place in the folded text; `end` exclusive. */
  readonly start: number;
  readonly end: number;
  /** Lower case, without accents. */
  readonly plain: string;
  /** A capital and a small letter. */
  readonly capitalised: boolean;
  /** Two capitals or more and no small letter. */
  readonly capitals: boolean;
  /** Number of its sentence, from 0. */
  readonly sentence: number;
  /** First of its sentence or line. */
  readonly opens: boolean;
  /** What stands between it and the word before: a blank, `, `, a line break ... */
  readonly gap: string;
  /** Part of an address, a path, an identifier or a number: no word of a sentence. */
  readonly code: boolean;
}

const WORD = /\p{L}[\p{L}\p{M}]*(?:['’-]\p{L}[\p{L}\p{M}]*)*/gu;
/** A full stop between digits, or behind those of an ordinal, ends nothing. */
const ENDS = /[!?]|(?<!\d)[.;](?=\s|$)|\n|\|/;
/** Abbreviations whose full stop ends no sentence. */
const ABBREVIATIONS = new Set(
  "mr mrs ms dr prof st sr sra srta jr sig dott mme mlle m b geb née dx rx hx pt pat pte pcte paz hr fr frl dhr mevr vs no nr tel ca bzw z u a e d".split(
    " ",
  ),
);
const CODE_BEFORE = /[\w@/\\._#$&%+-]/;
const CODE_BEHIND = /^(?:[\w@/\\_=(]|\.\w)/;

/** Lower case, without accents and with the letters that Unicode does not take apart. */
export function plainOf(text: string): string {
  const lower = text.toLowerCase();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant
  if (/^[\x00-\x7f]*$/.test(lower)) return lower;
  return lower
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .replace(/ß/g, "ss")
    .replace(/[łıøæœ’]/g, (c) => ({ ł: "l", ı: "i", ø: "o", æ: "ae", œ: "oe" })[c] ?? "'");
}

/** A word without the article or pronoun that French and Italian write together with it: `l'asthme`, `dell'asma`. */
export function unelided(plain: string): string {
  const at = plain.indexOf("'");
  return at > 0 && at < 5 && /^(?:[ldjmnstc]|qu|un|all|dell|nell|sull|dall)$/.test(plain.slice(0, at))
    ? plain.slice(at + 1)
    : plain;
}

/** The words of a text in order, letters only. Takes time linear in the text. */
export function wordsIn(text: string): readonly Word[] {
  const words: Word[] = [];
  let sentence = 0;
  let last = 0;
  for (const match of text.matchAll(WORD)) {
    const start = match.index;
    const written = match[0];
    const end = start + written.length;
    const gap = start - last === 1 && text.charCodeAt(last) === 32 ? " " : text.slice(last, start);
    const before = words[words.length - 1];
    let opens = before === undefined;
    if (before !== undefined && gap !== " " && ENDS.test(gap) && !isAbbreviated(gap, before, end - start)) {
      sentence++;
      opens = true;
    }
    const first = written.charCodeAt(0);
    const upper = first < 128 ? first < 97 : /^\p{Lu}/u.test(written);
    const small = upper && written.length > 1 ? /\p{Ll}/u.test(written) : !upper;
    words.push({
      start,
      end,
      plain: plainOf(written),
      capitalised: upper && small,
      capitals: upper && !small && written.length > 1,
      sentence,
      opens,
      gap,
      code: (gap !== " " && CODE_BEFORE.test(text[start - 1] ?? " ")) || isCodeBehind(text, end),
    });
    last = end;
  }
  return words;
}

function isAbbreviated(gap: string, before: Word, length: number): boolean {
  return /^\.\s?$/.test(gap) && (ABBREVIATIONS.has(before.plain) || length < 2 || before.end - before.start === 1);
}

function isCodeBehind(text: string, end: number): boolean {
  const next = text.charCodeAt(end);
  return next !== 32 && next !== 44 && CODE_BEHIND.test(text.slice(end, end + 2));
}
