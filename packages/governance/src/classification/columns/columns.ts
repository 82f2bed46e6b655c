import { checkArgument } from "@seneschal/kernel";
import { isAboutPeople, isOtherwise, LEXICON, type LexiconTerm, type Surroundings, termOf } from "../lexicon.ts";
import { wordsOf } from "../names/words-of.ts";
import { hasGivenName } from "../prose/persons.ts";
import { isIpv6 } from "../recognisers/ip.ts";

/** A column to be judged: its name, what it belongs to, and values if there are any. */
export interface ColumnSample {
  readonly name: string;
  /** Of a nested one the names of its members, from the outermost on: `name` is them, dotted. */
  readonly path?: readonly string[];
  /** Table, file or data set. */
  readonly about?: string;
  /** In place of `about`: that and the columns beside it. */
  readonly around?: Surroundings;
  readonly description?: string;
  readonly values?: readonly string[];
  /** Some values are bytes that are no text: they may be anything. */
  readonly unread?: boolean;
}

/** What a column holds. */
export interface ColumnVerdict {
  readonly entity: string;
  /** Finer than the entity, for example `full name` and `part of a name`. */
  readonly term: string;
  /** 0..1, from {@link COLUMN_THRESHOLD} on it counts. */
  readonly score: number;
  /** Share of the values that fit. */
  readonly fitting?: number;
}

/** From this score on a column counts as what it seems. */
export const COLUMN_THRESHOLD = 0.6;

const NAME_WEIGHT = 0.55;
const SAMPLES = 1000;

/**
 * Judges a column by its name, its description and the share of its values that fit; real columns hold noise, so no single value decides. Without values the
 * name decides alone; values of an unmistakable shape decide without a name.
 */
export function classifyColumn(column: ColumnSample): ColumnVerdict | undefined {
  checkArgument("column", column, "object");
  const values = (column.values ?? [])
    .slice(0, SAMPLES)
    .map((v) => v.trim())
    .filter((v) => v !== "" && v.toLowerCase() !== "null");
  const named = termOf(column.name, column.around ?? column.about) ?? described(column) ?? bareName(column, values);
  if (named !== undefined && !isOtherwise(named, column.name, column.around ?? column.about ?? "", values)) {
    if (values.length === 0 || named.value === undefined) return { entity: named.entity, term: named.term, score: 0.8 };
    const fitting = share(values, (value) => named.value?.test(value) === true);
    const category = named.category !== true || new Set(values).size <= Math.max(12, values.length / 4);
    const score = category ? NAME_WEIGHT + (1 - NAME_WEIGHT) * fitting : NAME_WEIGHT;
    if (score >= COLUMN_THRESHOLD && fitting >= 0.3) return { entity: named.entity, term: named.term, score, fitting };
  }
  return byValues(values);
}

function described(column: ColumnSample): LexiconTerm | undefined {
  return column.description === undefined ? undefined : termOf(column.description, column.about);
}

/** How names of persons are written: capitals, with particles, apostrophes and hyphens, family name first or last. */
const PERSON_NAME =
  /^(?:\p{Ll}{1,4}[ '’]){0,3}\p{Lu}(?:[\p{Ll}.]|['’-]\p{Lu})[\p{L}'’.-]{0,40}(?:,? (?:\p{Ll}{1,4}[ '’]){0,3}\p{Lu}[\p{L}'’.-]{0,40}){0,4}$/u;

/**
 * `name` alone, or one word for people such as `patient`, means their names when nearly all values look like such and are not few repeated ones. Customers may
 * be companies, and two rows are few: then given names have to be among them.
 */
function bareName(column: ColumnSample, values: readonly string[]): LexiconTerm | undefined {
  const words = wordsOf(column.name);
  const isName = words[0] === "name";
  if (words.length !== 1 || values.length === 0 || (!isName && !isAboutPeople(column.name))) return undefined;
  if (share(values, (v) => PERSON_NAME.test(v)) < 0.8 || new Set(values).size <= values.length / 2) return undefined;
  const several = values.filter((v) => v.includes(" "));
  const enough =
    isName && values.length >= 3
      ? several.length > 0 || isAboutPeople(column.about ?? "")
      : several.length > values.length / 2 && share(several, hasGivenName) >= 0.25;
  return enough ? LEXICON.find((term) => term.term === "name") : undefined;
}

const UNMISTAKABLE: readonly (readonly [entity: string, term: string, test: (value: string) => boolean])[] = [
  ["EMAIL_ADDRESS", "email", (v) => /^[^\s@]{1,64}@[^\s@.]{1,63}(?:\.[^\s@.]{1,63}){1,8}$/.test(v)],
  [
    "IP_ADDRESS",
    "ip address",
    (v) => /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(v) || (v.includes(":") && isIpv6(v)),
  ],
  ["MAC_ADDRESS", "mac address", (v) => /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i.test(v)],
  ["US_SSN", "social security number", (v) => /^(?!000|666)\d{3}-(?!00)\d{2}-(?!0000)\d{4}$/.test(v)],
];

function byValues(values: readonly string[]): ColumnVerdict | undefined {
  if (values.length < 3) return undefined;
  for (const [entity, term, test] of UNMISTAKABLE) {
    const fitting = share(values, test);
    if (fitting >= 0.8) return { entity, term, score: fitting, fitting };
  }
  return undefined;
}

function share(values: readonly string[], test: (value: string) => boolean): number {
  let n = 0;
  for (const value of values) if (test(value)) n++;
  return values.length === 0 ? 0 : n / values.length;
}
