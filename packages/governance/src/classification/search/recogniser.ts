import type { EntitySpan } from "@seneschal/kernel/ports";

/** The part of a `RegExp` with flag `g` that matching needs. */
export interface Matcher {
  lastIndex: number;
  exec(text: string): { readonly 0: string; readonly index: number } | null;
}

/** A bounded regular expression (flag `g`) with the score that its shape alone deserves. */
export interface Pattern {
  readonly name: string;
  /** Must carry the flag `g`; quantifiers are bounded, so that a scan is linear in the text. */
  readonly regex: Matcher;
  /** 0..1. Under 0.3: weak, reported only with context or a country hint. At 0 a hint alone is not enough either. */
  readonly score: number;
}

/**
 * What a checksum or structure rule says about a match: `true` valid, `false` impossible (the match is dropped),
 * `undefined` no decision (the base score stands).
 */
export type Verdict = boolean | undefined;

/** How one entity is found: data, so that deployments add their own. */
export interface Recogniser {
  readonly entity: string;
  /** ISO 3166-1 alpha-2 in lower case (`uk` for the United Kingdom); absent for entities of no country. */
  readonly country?: string;
  readonly languages?: readonly string[];
  readonly patterns: readonly Pattern[];
  /** Stretches of the folded text that somebody else takes for the entity. They add to what patterns find, and take nothing from it. */
  readonly spans?: (folded: string) => readonly EntitySpan[];
  /** It is what stands under a name that means the entity, in markup, in rows of SQL and in tables, as the columns of a file are judged. */
  readonly byName?: boolean;
  /** Cuts a match that reached too far; the result is a prefix of it. `alone`: there is nothing but the match in the text. */
  readonly fit?: (match: string, alone: boolean) => string;
  readonly validate?: (match: string) => Verdict;
  /** Words that make a match more likely, lower case. From four letters on they also count at the beginning of longer words, from six on anywhere inside. */
  readonly context: readonly string[];
  /** Names (of a column, of a key) under which it is not looked for. */
  readonly unless?: RegExp;
  /** Fewest digits that the whole text must have, where that is more than the patterns ask for. */
  readonly digits?: number;
  /** A text without which there is no match, or a cheap test of the whole: another prefilter. */
  readonly needs?: string | ((folded: string) => boolean);
  /** Looked for only under a hint at its country or in texts that hold one of its context words. */
  readonly onlyKnown?: boolean;
  /** How often the entity is meant when rules cannot decide, 0..1. Default 0.5. */
  readonly prior?: number;
}

/** One occurrence found in a text. Offsets are UTF-16 code units, `end` exclusive. */
export interface Finding {
  readonly entity: string;
  readonly start: number;
  readonly end: number;
  /** 0..1 */
  readonly score: number;
  readonly validator: "passed" | "none";
  readonly pattern: string;
  readonly country?: string;
  readonly contextWord?: string;
  readonly contextDelta?: number;
  /** Where the value can be read in more than one way: how likely this reading is, 0..1. Absent where nothing else fits. */
  readonly probability?: number;
  /** The other readings of the same value, most likely first; those under one in ten are left out. */
  readonly alternatives?: readonly Alternative[];
}

/** What a value may be instead. */
export interface Alternative {
  readonly entity: string;
  readonly country?: string;
  /** 0..1 */
  readonly probability: number;
}
