import { BIRTH_WORDS } from "./recognisers/dates.ts";
import type { Finding } from "./search/recogniser.ts";

/** A whole date beside a word of birth says more than a date: the recogniser finds the date, the word what it is. */
export function isBirthDate({ entity, contextWord, pattern }: Finding): boolean {
  return (
    entity === "DATE_TIME" &&
    contextWord !== undefined &&
    BIRTH_WORDS.includes(contextWord) &&
    !/^(?:year|time|weekday)$/.test(pattern)
  );
}
