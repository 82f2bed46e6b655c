import { decodeHTMLStrict } from "entities/decode";
import { partitionPoint } from "../../partition-point.ts";
import { utf8Length } from "./base64-texts.ts";
import { EncodedRuns, MAY_HOLD_ENCODED } from "./encoded-texts.ts";
import { MARKS, type Normalised, normalise } from "./normalise.ts";

/** A text as it reads once what is encoded in it is written out, with the way back to the offsets of the original. */
export interface DecodedText extends Normalised {
  /** Whether something between two offsets of the original was written out, or a sign between groups read as a blank. */
  touched(start: number, end: number): boolean;
  /** Whether such a sign stands between two offsets of the original: numbers may stand beside one another without being one. */
  joined(start: number, end: number): boolean;
}

/** What stands in the place of a stretch. */
interface Rewriting {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Encodings within encodings so deep are written out. */
const MAX_DEPTH = 4;

const REFERENCE = /&(?:#\d{1,8};?|#x[\da-f]{1,7};?|[a-z][a-z\d]{1,31};)/gi;
const PERCENT = /(?:%[\da-f]{2}){1,4096}/gi;
const QUOTED = /(?:=[\da-f]{2}){1,4096}/gi;
/** A line that quoted-printable goes on with (RFC 2045, section 6.7). */
const SOFT_BREAK = /=[ \t]{0,8}\r?\n/g;
/** An encoded word of a header (RFC 2047): what says how it is encoded, and its end. */
const WORD = /=\?[\w-]{1,40}(?:\*[\w-]{1,20})?\?([bq])\?([^?\s]{1,998})\?=(?:\s{1,8}(?==\?))?/gi;
const ESCAPES = /(?:\\u[\da-f]{4}|\\u\{[\da-f]{1,6}\}|\\x[\da-f]{2}){1,4096}/gi;
const ESCAPE = /\\u\{?([\da-f]{1,6})\}?|\\x([\da-f]{2})/gi;
/** A field of a form (`application/x-www-form-urlencoded`), in which `+` is a blank. */
const FIELD = /(?<![\w.%~-])[\w.%~-]{1,64}=([^\s&"'<>]{1,1024})/g;
const MARKED = new RegExp(`(?<=[A-Za-z\\d])${MARKS}{1,64}`, "g");

/** What parts lines and columns, but is no end of a line that people write. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
const SEPARATOR = /(?<=\S)\t{1,8}(?=\S)|[\v\f\x1c-\x1f\x85\u2028\u2029]/g;
/** Groups of digits, with letters of codes, and the signs between them that no identifier has. */
const GROUPS = /(?<![A-Za-z\d])[A-Z]{0,4}\d{0,12}(?:[/\\_|+](?:[\dA-Z]{1,12}|\p{L}{3,10}(?=[/\\_|+]\d))){1,12}(?![a-z\d])/gu;
const SIGN = /[/\\_|+]/g;
/** Digits one by one, with a blank or a dot between. */
const SPELT = /(?<![\p{L}\p{N}]|\d[ .])\d([ .])\d(?:\1\d){6,38}(?![ .]?\d|\p{L})/gu;
/** Digits as words, one by one, in the languages of the prose. */
const DIGIT_WORDS: readonly (readonly string[])[] = [
  "zero oh null nul cero zéro nulla".split(" "),
  "one eins ein un uno um een één".split(" "),
  "two zwei zwo deux dos due dois duas twee".split(" "),
  "three drei trois tres tre três drie".split(" "),
  "four vier quatre cuatro quattro quatro".split(" "),
  "five fünf cinq cinco cinque vijf".split(" "),
  "six sechs seis sei zes".split(" "),
  "seven sieben sept siete sette sete zeven".split(" "),
  "eight acht huit ocho otto oito".split(" "),
  "nine neun neuf nueve nove negen".split(" "),
];
const DIGIT_OF: ReadonlyMap<string, string> = new Map(
  DIGIT_WORDS.flatMap((words, digit) => words.map((word) => [word, String(digit)] as const)),
);
const DIGIT_WORD = DIGIT_WORDS.flat().join("|");
/** Seven and more of them, which nobody says in a row but of a number. */
const SAID = new RegExp(`(?<![\\p{L}\\p{N}])(?:${DIGIT_WORD})(?:[ ,.-]{1,3}(?:${DIGIT_WORD})){6,38}(?![\\p{L}\\p{N}])`, "giu");
const SAID_SIGN = new RegExp(`(?<![\\p{L}\\p{N}])(?:${DIGIT_WORD})[ ,.-]{1,3}(?:${DIGIT_WORD})[ ,.-]`, "iu");

/** Between two pieces of a text that code joins: an operator, or nothing but blanks. */
const JOINED = /(?<=([^\s\\])(["'`]))(?:\s{0,8}(?:\+|&|\.|\|\|)\s{0,8}|\s{1,8}|\s{0,8}\\\r?\n\s{0,8})[furb]{0,2}\2(?=[^\s])/gi;
/** Fewer digits are dates and fractions. */
const LEAST_DIGITS = 6;

/** What none of these is in is as it is written. */
const MAY_HOLD = new RegExp(
  [
    "&[#A-Za-z]",
    "[%=][\\dA-Fa-f]{2}",
    "=[ \\t]{0,8}\\r?\\n",
    "=\\?",
    "\\\\[uxUX]",
    "[\\w%]\\+[\\w%]",
    "\\S\\t+\\S",
    "[\\v\\f\\x1c-\\x1f\\x85\\u2028\\u2029]",
    "[\\dA-Z][/\\\\_|+][\\dA-Z]",
    "[\\w+/-]{11}[\\w+/=-]",
    "\\d([ .])\\d\\1\\d\\1\\d",
    `["'\`](?:\\s|[+&.|\\\\])[^"'\`]{0,18}["'\`]`,
    MAY_HOLD_ENCODED,
    MARKS,
  ].join("|"),
);

/**
 * Writes out what a text holds in character references of HTML, percent-encoding, quoted-printable, encoded words of mail, escapes of code (`\u0040`, `\x40`), base64, base32, hexadecimal, tags and variation selectors that nobody sees, and pieces of a text that code joins, also within one another;
 * leaves out marks that are put on Latin letters and digits; puts digits together that stand one by one; and reads tabs, odd separators of lines, and signs between groups of digits as blanks. `undefined` where there is nothing of this.
 */
export function decodedText(text: string, encoded = new EncodedRuns(text)): DecodedText | undefined {
  if (!MAY_HOLD.test(text) && !SAID_SIGN.test(text)) return undefined;
  let runs = encoded;
  const runsOf = (given: string): EncodedRuns => {
    if (runs.text !== given) runs = new EncodedRuns(given);
    return runs;
  };
  let written = new Rewritten(text).with(fields(text));
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const before = written;
    for (const find of [
      (given: string) => runsOf(given).unseen,
      words,
      (given: string) => runsOf(given).base64,
      (given: string) => runsOf(given).bare,
      references,
      softBreaks,
      percents,
      quoted,
      escapes,
      joinedPieces,
      marks,
    ])
      written = written.with(find(written.text));
    if (written === before) break;
  }
  const joins = [...separators(written.text), ...groups(written.text), ...spelt(written.text), ...said(written.text)].sort(
    (a, b) => a.start - b.start,
  );
  const joinedAt = merged(joins.map(({ start, end }): Span => [written.start(start), written.end(end)]));
  written = written.with(joins);
  if (written.spans.length === 0) return undefined;
  const folded = normalise(written.text);
  const touchedAt = merged(written.spans);
  return {
    text: folded.text,
    start: (index) => written.start(folded.start(index)),
    end: (index) => written.end(folded.end(index)),
    touched: (start, end) => meets(touchedAt, start, end),
    joined: (start, end) => meets(joinedAt, start, end),
  };
}

type Span = readonly [start: number, end: number];

/** What spans cover together, in its order. */
function merged(spans: readonly Span[]): readonly Span[] {
  const out: [start: number, end: number][] = [];
  for (const [start, end] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last === undefined || last[1] <= start) out.push([start, end]);
    else last[1] = Math.max(last[1], end);
  }
  return out;
}

/** Whether one of spans that are apart and in their order has something of a stretch. */
function meets(spans: readonly Span[], start: number, end: number): boolean {
  const next = spans[partitionPoint(spans, ([, until]) => until <= start)];
  return next !== undefined && next[0] < end;
}

/** A text that others were put into the place of stretches of. */
class Rewritten {
  readonly text: string;
  /** Where something was put in, in the original. */
  readonly spans: readonly Span[];
  readonly #starts: Int32Array | undefined;
  readonly #ends: Int32Array | undefined;

  constructor(text: string, spans: readonly Span[] = [], starts?: Int32Array, ends?: Int32Array) {
    this.text = text;
    this.spans = spans;
    this.#starts = starts;
    this.#ends = ends;
  }

  /** Where in the original the unit at `index` begins. */
  start(index: number): number {
    const { text } = this;
    if (this.#starts === undefined || this.#ends === undefined) return index;
    return index < text.length ? (this.#starts[index] ?? 0) : text.length === 0 ? 0 : (this.#ends[text.length - 1] ?? 0);
  }

  /** Where in the original the unit before `index` ends. */
  end(index: number): number {
    return index === 0 ? 0 : this.#ends === undefined ? index : (this.#ends[index - 1] ?? 0);
  }

  /** The same text with others in the place of stretches, which do not overlap and stand in their order. */
  with(rewritings: readonly Rewriting[]): Rewritten {
    if (rewritings.length === 0) return this;
    const pieces: string[] = [];
    let length = this.text.length;
    for (const { start, end, text } of rewritings) length += text.length - (end - start);
    const starts = new Int32Array(length);
    const ends = new Int32Array(length);
    let to = 0;
    const kept = (from: number, until: number): void => {
      pieces.push(this.text.slice(from, until));
      for (let at = from; at < until; at++, to++) {
        starts[to] = this.start(at);
        ends[to] = this.end(at + 1);
      }
    };
    const spans: Span[] = [...this.spans];
    let at = 0;
    for (const { start, end, text } of rewritings) {
      kept(at, start);
      const span: Span = [this.start(start), this.end(end)];
      pieces.push(text);
      for (let unit = 0; unit < text.length; unit++, to++) [starts[to], ends[to]] = span;
      spans.push(span);
      at = end;
    }
    kept(at, this.text.length);
    return new Rewritten(pieces.join(""), spans, starts, ends);
  }
}

function references(text: string): readonly Rewriting[] {
  if (!text.includes("&")) return [];
  return Array.from(text.matchAll(REFERENCE), ({ 0: reference, index }) => {
    const closed = reference.endsWith(";") ? reference : `${reference};`;
    return { start: index, end: index + reference.length, text: decodeHTMLStrict(closed), closed };
  }).filter(({ text, closed }) => text !== closed);
}

function percents(text: string): readonly Rewriting[] {
  return text.includes("%")
    ? [...text.matchAll(PERCENT)].flatMap(({ 0: run, index }) => (tells(run) ? bytesOf(run, index, 3) : []))
    : [];
}

function quoted(text: string): readonly Rewriting[] {
  if (!text.includes("=")) return [];
  return [...text.matchAll(QUOTED)].flatMap(({ 0: run, index }) => {
    // `year=2024` is a number, `4111=201111` one that a blank parts.
    const number = /^=\d\d$/.test(run) && isDigit(text, index + run.length) && !isDigit(text, index - 1);
    return number || !tells(run) ? [] : bytesOf(run, index, 3);
  });
}

/** One escape alone stands for something that could not stand there otherwise: letters and digits are written out of longer runs. */
function tells(run: string): boolean {
  return run.length > 3 || !/[A-Za-z\d]/.test(String.fromCharCode(Number.parseInt(run.slice(1), 16)));
}

function fields(text: string): readonly Rewriting[] {
  if (!text.includes("+")) return [];
  return [...text.matchAll(FIELD)].flatMap(({ 0: field, 1: value = "", index }) => {
    const from = index + field.length - value.length;
    return Array.from(value.matchAll(/\+/g), ({ index: at }) => ({ start: from + at, end: from + at + 1, text: " " }));
  });
}

function softBreaks(text: string): readonly Rewriting[] {
  if (!text.includes("=")) return [];
  return Array.from(text.matchAll(SOFT_BREAK), ({ 0: { length }, index }) => ({ start: index, end: index + length, text: "" }));
}

function words(text: string): readonly Rewriting[] {
  if (!text.includes("=?")) return [];
  return [...text.matchAll(WORD)].flatMap(({ 0: word, 1: encoding = "", 2: inner = "", index }): readonly Rewriting[] => {
    const start = index + word.lastIndexOf(inner, word.lastIndexOf("?="));
    const end = start + inner.length;
    const blanks = /^q$/i.test(encoding) ? [...inner.matchAll(/_/g)].map(({ index: at }) => start + at) : [];
    return [
      { start: index, end: start, text: "" },
      ...blanks.map((at) => ({ start: at, end: at + 1, text: " " })),
      { start: end, end: index + word.length, text: "" },
    ];
  });
}

function escapes(text: string): readonly Rewriting[] {
  if (!text.includes("\\")) return [];
  return [...text.matchAll(ESCAPES)].flatMap(({ 0: run, index }) => {
    if (/^(?:\\x..)+$/i.test(run)) return bytesOf(run, index, 4);
    return [...run.matchAll(ESCAPE)].flatMap(({ 0: { length }, 1: unit = "", 2: byte = "", index: at }) => {
      const code = Number.parseInt(unit + byte, 16);
      const start = index + at;
      return code > 0x10ffff
        ? []
        : [{ start, end: start + length, text: code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code) }];
    });
  });
}

function marks(text: string): readonly Rewriting[] {
  return Array.from(text.matchAll(MARKED), ({ 0: { length }, index }) => ({ start: index, end: index + length, text: "" }));
}

function separators(text: string): readonly Rewriting[] {
  return Array.from(text.matchAll(SEPARATOR), ({ 0: { length }, index }) => joinAt(text, index, index + length));
}

function groups(text: string): readonly Rewriting[] {
  return [...text.matchAll(GROUPS)].flatMap(({ 0: run, index }) => {
    if (run.replace(/\D/g, "").length < LEAST_DIGITS) return [];
    return Array.from(run.matchAll(SIGN), ({ index: at }) => joinAt(text, index + at, index + at + 1));
  });
}

function spelt(text: string): readonly Rewriting[] {
  return [...text.matchAll(SPELT)].flatMap(({ 0: run, index }) =>
    Array.from(run.matchAll(/[ .]/g), ({ index: at }) => ({ start: index + at, end: index + at + 1, text: "" })),
  );
}

function said(text: string): readonly Rewriting[] {
  if (!SAID_SIGN.test(text)) return [];
  return Array.from(text.matchAll(SAID), ({ 0: run, index }) => ({
    start: index,
    end: index + run.length,
    text: Array.from(run.toLowerCase().matchAll(/\p{L}+/gu), ([word]) => DIGIT_OF.get(word.normalize("NFC")) ?? "").join(""),
  }));
}

function joinedPieces(text: string): readonly Rewriting[] {
  if (!/["'`]/.test(text)) return [];
  // The quotation mark before the joint goes with it.
  return Array.from(text.matchAll(JOINED), ({ 0: { length }, index }) => ({ start: index - 1, end: index + length, text: "" }));
}

/** What groups of one value have between them where nothing else is put there. */
function joinAt(text: string, start: number, end: number): Rewriting {
  return { start, end, text: isDigit(text, start - 1) && isDigit(text, end) ? "-" : " " };
}

/** What a run of escaped bytes says, each of `width` units: UTF-8, else the bytes as Latin-1. */
function bytesOf(run: string, index: number, width: number): readonly Rewriting[] {
  const count = run.length / width;
  const byte = (at: number): number => Number.parseInt(run.slice(at * width + width - 2, (at + 1) * width), 16);
  const found: Rewriting[] = [];
  for (let at = 0; at < count; ) {
    const length = Math.min(utf8Length(byte(at)), count - at);
    const bytes = Array.from({ length }, (_, i) => byte(at + i));
    const character = utf8Character(bytes);
    const taken = character === undefined ? 1 : length;
    const start = index + at * width;
    found.push({ start, end: start + taken * width, text: character ?? String.fromCharCode(byte(at)) });
    at += taken;
  }
  return found;
}

function utf8Character([first = 0, ...rest]: readonly number[]): string | undefined {
  if (rest.length + 1 !== utf8Length(first)) return undefined;
  if (rest.length === 0) return first < 0x80 ? String.fromCharCode(first) : undefined;
  if (rest.some((byte) => (byte & 0xc0) !== 0x80)) return undefined;
  const code = rest.reduce((high, byte) => (high << 6) | (byte & 0x3f), first & (0x7f >> (rest.length + 1)));
  const least = [0x80, 0x800, 0x10000][rest.length - 1] ?? 0;
  return code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? undefined : String.fromCodePoint(code);
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}
