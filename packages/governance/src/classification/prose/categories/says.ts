import type { Phrase } from "../phrases.ts";

/** A phrase of an entity: its words, apart by blanks, and what stands around them. */
export function says(entity: string, rule: string, words: string, sides: Omit<Phrase, "entity" | "rule" | "words"> = {}): Phrase {
  return { entity, rule, words: new Set(words.trim().split(/\s+/)), ...sides };
}

/** The alternatives of a list, of which each may go over several lines. */
export const oneOf = (list: string): string =>
  `(?:${list
    .trim()
    .replace(/\s*\|\s*/g, "|")
    .replace(/\s+/g, " ")})`;
