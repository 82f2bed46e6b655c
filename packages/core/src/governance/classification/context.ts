const WORDS_BEFORE = 6;
const WORDS_AFTER = 3;
const REACH = 120;

/**
 * The context word that speaks for a match, if any: among the hints, the five words before or the three behind. `lowered` is the folded text in
 * lower case. A word of four letters or more also counts inside a longer one (`passportnumber`).
 */
export function contextOf(
  lowered: string,
  start: number,
  end: number,
  words: readonly string[],
  hints: readonly string[] = [],
): string | undefined {
  if (words.length === 0) return undefined;
  const before = lastWords(lowered.slice(Math.max(0, start - REACH), start), WORDS_BEFORE);
  const after = firstWords(lowered.slice(end, end + REACH), WORDS_AFTER);
  for (const word of words) {
    if (holds(before, word) || holds(after, word) || hints.some((hint) => holds(hint, word))) return word;
  }
  return undefined;
}

/** Names of numbers that belong to things: what stands behind one of them is none of a person. */
const THINGS =
  /\b(?:serial|order|invoice|ticket|issue|version|release|build|section|chapter|paragraph|page|figure|table|isbn|issn|gtin|ean|sku|batch|lot|part|item|model|article|tracking|commit|revision|error|port|meeting)(?: (?:no|nr|num|number|id|code|is|was|#))*[\s.:#("']*$/;

/** True when the words right before a match name a thing: `serial number`, `version`. */
export function namesThing(lowered: string, start: number): boolean {
  return THINGS.test(lowered.slice(Math.max(0, start - 40), start));
}

/** True for blank-separated digits that go on before or behind: numbers of a row, not groups of one. */
export function isPartOfRow(text: string, start: number, end: number): boolean {
  if (!/\d \d/.test(text.slice(start, end))) return false;
  return /\d $/.test(text.slice(Math.max(0, start - 2), start)) || /^ \d/.test(text.slice(end, end + 2));
}

/** True when the window holds the word. */
function holds(window: string, word: string): boolean {
  for (let at = window.indexOf(word); at >= 0; at = window.indexOf(word, at + 1)) {
    if (word.length >= 4) return true;
    if (!isWordChar(window.charCodeAt(at - 1)) && !isWordChar(window.charCodeAt(at + word.length))) return true;
  }
  return false;
}

function isWordChar(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code > 127;
}

function lastWords(text: string, count: number): string {
  let at = text.length;
  for (let seen = 0; seen <= count && at > 0; ) {
    const blank = text.lastIndexOf(" ", at - 1);
    at = Math.max(0, blank);
    if (blank < 0) return text;
    seen++;
    if (seen > count) return text.slice(blank);
  }
  return text;
}

function firstWords(text: string, count: number): string {
  let at = 0;
  for (let seen = 0; seen <= count; seen++) {
    const blank = text.indexOf(" ", at + 1);
    if (blank < 0) return text;
    at = blank;
  }
  return text.slice(0, at);
}
