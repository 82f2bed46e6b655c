import type { Word } from "./words.ts";

/** A word that speaks of a category of personal data, with what must stand before or behind it to mean that. */
export interface Phrase {
  readonly entity: string;
  readonly rule: string;
  /** Any of these, without accents. */
  readonly words: ReadonlySet<string>;
  /** Ends at the word, over the six words before it in its sentence, apart by blanks: what stands between words is not looked at, and numbers are left out. */
  readonly before?: RegExp;
  /** Begins behind the word, with the blank. */
  readonly behind?: RegExp;
  /** One of the two is enough. */
  readonly either?: true;
  /** Written with a capital, or in capitals. */
  readonly capital?: true;
  /** What the sentence must hold too. */
  readonly with?: RegExp;
  /** Sentences that mean something else. */
  readonly unless?: RegExp;
}

/** Words looked at on either side. */
const NEAR = 6;

/** Which words a phrase around the one at `at` covers, from index to index; `undefined` where it is not the phrase. */
export function reachOf(
  phrase: Phrase,
  words: readonly Word[],
  at: number,
): { readonly from: number; readonly to: number } | undefined {
  const word = words[at] as Word;
  if (phrase.capital === true && !(word.capitalised || word.capitals)) return undefined;
  let first = at;
  while (first > 0 && at - first < NEAR && words[first - 1]?.sentence === word.sentence) first--;
  let last = at;
  while (last - at < NEAR && words[last + 1]?.sentence === word.sentence) last++;
  const said = (from: number, to: number) => words.slice(from, to).map(({ plain }) => plain);
  const before = phrase.before?.exec(`${said(first, at).join(" ")} `.trimStart())?.[0];
  const behind = phrase.behind?.exec(` ${said(at + 1, last + 1).join(" ")}`.trimEnd())?.[0];
  const wanted = [phrase.before, phrase.behind].filter((side) => side !== undefined).length;
  const found = [before, behind].filter((side) => side !== undefined).length;
  if (phrase.either === true ? found === 0 : found < wanted) return undefined;
  const wordsIn = (text: string) => text.split(" ").filter((part) => part !== "").length;
  return { from: at - wordsIn(before ?? ""), to: at + wordsIn(behind ?? "") };
}
