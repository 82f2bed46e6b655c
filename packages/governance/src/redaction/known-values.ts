import { StandingValues } from "./standing-values.ts";

/** Values so long are looked for wherever else they stand in their text. */
export const REPEATED_FROM = 4;
/** Digits that a value without letters has at least to be looked for in all of a file: years and numbers of things have fewer. */
const DIGITS = 5;
/** Words that say yes, no, nothing, or which of a few: they tell of nobody where they stand alone. */
const WEAK: ReadonlySet<string> = new Set(
  "true false none null unknown missing empty other male female divers diverse weiblich männlich positive negative normal active inactive single married ja nein wahr falsch vrai faux autre nicht keine".split(
    " ",
  ),
);

/** Values that are redacted wherever they stand as whole words, and the entity of each. */
export interface KnownValues {
  readonly texts: StandingValues<string>;
  /** By their number, as {@link plainNumber} spells it. */
  readonly numbers: ReadonlyMap<string, string>;
}

/**
 * True for a value that tells of somebody wherever it stands, so that what hides it in one place of a file hides it in all: it has four letters or digits at least, five where all are digits, and is no word that says yes, no, nothing or which of a few. A `7` that is hidden
 * below a name stays a `7` elsewhere.
 */
export function isTelling(value: string): boolean {
  const said = value.trim();
  const plain = /^0\d+$/.test(said) ? said : (plainNumber(said) ?? said);
  const [letters, digits] = [plain.match(/\p{L}/gu)?.length ?? 0, plain.match(/\p{N}/gu)?.length ?? 0];
  if (letters === 0 ? digits < DIGITS : said.length < REPEATED_FROM || letters + digits < REPEATED_FROM) return false;
  return !WEAK.has(said.toLowerCase());
}

/** Values with their entities, ready to be looked for. */
export function knownValues(values: Iterable<readonly [value: string, entity: string]>): KnownValues {
  const texts = new StandingValues<string>(REPEATED_FROM);
  const numbers = new Map<string, string>();
  for (const [given, entity] of values) {
    const value = given.trim();
    const number = plainNumber(value)?.replace("-", "");
    if (number !== undefined && isTelling(number)) numbers.set(number, entity);
    texts.set(value, entity);
  }
  return { texts, numbers };
}

const NUMBER =
  /(?<![\p{L}\p{N}.])(?:\d{1,3}(?:([,.' \u00a0\u2009\u202f])\d{3})(?:\1\d{3})*|\d+)(?:[.,]\d+)?(?:[eE][+-]?\d{1,3})?(?![\p{L}\p{N}])/gu;

/** Where known values stand in a text as numbers, however these are spelled: with an exponent, zeros at their end, or marks between thousands. */
export function* knownNumbers(text: string, { numbers }: KnownValues): Generator<{ start: number; end: number; entity: string }> {
  if (numbers.size === 0 || !/\d/.test(text)) return;
  for (const { 0: written, index } of text.matchAll(NUMBER)) {
    const readings = [written, written.replaceAll(/[,.' \u00a0\u2009\u202f](?=\d{3}(?!\d))/gu, ""), written.replace(",", ".")];
    const entity = readings.map((each) => numbers.get(plainNumber(each) ?? "")).find((each) => each !== undefined);
    if (entity !== undefined) yield { start: index, end: index + written.length, entity };
  }
}

/** Whether one of them may stand in a text. */
export function mayHold(text: string, known: KnownValues): boolean {
  if (knownNumbers(text, known).next().done !== true) return true;
  for (let at = 0; at + REPEATED_FROM <= text.length; at++)
    if (known.texts.standingAt(text, at).length > 0 && !isWordAt(text, at - 1)) return true;
  return false;
}

/** A letter or a digit is there. */
export function isWordAt(text: string, at: number): boolean {
  return /[\p{L}\p{N}]/u.test(text[at] ?? "");
}

/** A number as people write it, without an exponent and without zeros that say nothing: `4.1E3` and `4100.0` are `4100`. `undefined` for what is no number. */
export function plainNumber(text: string): string | undefined {
  const [, sign = "", whole = "", part = "", exponent = "0"] =
    /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?\s*$/.exec(text) ?? [];
  if (whole + part === "") return undefined;
  const digits = whole + part;
  const point = whole.length + Number(exponent);
  const before = point <= 0 ? "0" : digits.slice(0, point).padEnd(point, "0");
  const after = (point < 0 ? "0".repeat(-point) + digits : digits.slice(point)).replace(/0+$/, "");
  return `${sign === "-" ? "-" : ""}${before.replace(/^0+(?=\d)/, "")}${after === "" ? "" : `.${after}`}`;
}
