import { normalise } from "../classification/search/normalise.ts";
import { dialectOf } from "./dialect-of.ts";
import { LEXES, type Lexis, peculiarities, writtenPlainly } from "./lexis.ts";
import { sqlTokens } from "./split-statements.ts";
import { withoutUnicodeEscapes } from "./unicode-escapes.ts";

/**
 * The texts that a statement may be, in words that all dialects read alike: as it stands; where dialects differ in what is a comment and what a text, as each of them reads it, or as the named one does; with
 * and without what MySQL runs under a condition; and with its look-alikes and invisible characters folded. One for most texts, and that is the text itself.
 */
export function readingsOf(sql: string, dialect?: string): readonly string[] {
  const found = new Set<string>();
  for (const text of foldings(withoutIntroducers(withoutUnicodeEscapes(sql))))
    for (const reading of lexicalReadings(text, dialect)) found.add(reading).add(joinedLiterals(reading));
  return [...found];
}

/** MySQL: a text with the name of its character set before it is the text. */
function withoutIntroducers(sql: string): string {
  return sql.replace(/(?<![\w$])_(?:utf8(?:mb[34])?|utf16(?:le)?|utf32|ucs2|latin[12]|ascii|binary|gbk|big5)(?=\s{0,9}')/gi, "");
}

/** With texts that stand next to one another as the one that they are (ISO/IEC 9075-2, 5.3; MySQL without a new line between). */
function joinedLiterals(sql: string): string {
  if (!/'\s+'/.test(sql)) return sql;
  let text = "";
  let from = 0;
  let before: { readonly end: number } | undefined;
  for (const token of sqlTokens(sql)) {
    const literal = token.text.startsWith("'");
    if (literal && before !== undefined) {
      text += sql.slice(from, before.end - 1);
      from = token.start + 1;
    }
    before = literal ? token : undefined;
  }
  return text + sql.slice(from);
}

function lexicalReadings(sql: string, dialect: string | undefined): readonly string[] {
  const kinds = peculiarities(sql);
  if (kinds.length === 0) return [sql];
  const named = dialectOf(dialect);
  const lexes = named === undefined ? Object.values(LEXES) : [LEXES[named] ?? {}];
  const found = new Set<string>();
  const tried = new Set<string>();
  for (const lexis of lexes.flatMap(withAndWithoutConditional).flatMap(withAndWithoutCarriageReturn)) {
    const key = kinds.filter((kind) => lexis[kind] === true).join();
    if (tried.has(key)) continue;
    tried.add(key);
    const text = writtenPlainly(sql, lexis);
    if (text !== undefined) found.add(text);
  }
  return found.size === 0 ? [sql] : [...found];
}

/** Which conditions hold is known to the server alone. */
function withAndWithoutConditional(lexis: Lexis): readonly Lexis[] {
  const { conditional, ...rest } = lexis;
  return conditional === undefined ? [lexis] : [lexis, rest];
}

/** Whether a lone carriage return ends a line the client decides, too. */
function withAndWithoutCarriageReturn(lexis: Lexis): readonly Lexis[] {
  const { carriageReturn: _, ...rest } = lexis;
  return [rest, Object.assign({ carriageReturn: true as const }, rest)];
}

const PLAIN = /^[\t\n\v\f\r\x20-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\x00-\x08\x0e-\x1f\x7f]+/gu;
/** Those that every parser takes. */
const BLANKS = /[ \t]+/g;

/** The beginning of a text, folded; what cannot be seen does not stand before it. */
export function beginningsOf(text: string): readonly string[] {
  return foldings(text.replace(UNSEEN, "").slice(0, BEGINNING));
}
const BEGINNING = 512;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const UNSEEN = /^[\s\p{Default_Ignorable_Code_Point}\x00-\x1f\x7f;]+/u;

/** A text with odd characters: as it stands, folded, and folded with blanks in the place of what cannot be seen. */
function foldings(sql: string): readonly string[] {
  if (PLAIN.test(sql)) return [sql];
  // What is a look-alike shows where its neighbours are folded.
  const folded = ["", " "].map((instead) => normalise(normalise(sql.replace(INVISIBLE, instead)).text).text);
  const same = sql.replace(BLANKS, " ");
  return [...new Set([sql, ...folded.filter((text) => text.replace(BLANKS, " ") !== same)])];
}
