import { contextOf, foldedWords, isPartOfRow, isQuantity, namesThing } from "./context.ts";
import { normalise } from "./normalise.ts";
import type { Finding, Recogniser } from "./recogniser.ts";

/** How a text is searched. */
export interface RecogniseOptions {
  /** Only these entities; absent: all. */
  readonly entities?: ReadonlySet<string>;
  /** Country that the data is known to be from: its ids count more. */
  readonly country?: string;
  /** Lowest score reported. Default 0.3. */
  readonly minScore?: number;
  /** Drops what a validator could not confirm. Default false. */
  readonly strict?: boolean;
  /** Words that stand for the place of the text: column name, JSON path, `context` fields. */
  readonly hints?: readonly string[];
}

/** Below this a shape alone says nothing. */
export const REPORTED_FROM = 0.3;

/** What a country hint adds, and what context adds and at least gives. The last two are Presidio's. */
const COUNTRY_DELTA = 0.3;
const CONTEXT_DELTA = 0.35;
const CONTEXT_FLOOR = 0.4;
/** Matches of one recogniser that are looked at per text: beyond it the text is data of that kind anyway. */
const MAX_MATCHES = 20_000;

/** A match with enough evidence, and what decides between it and others that overlap it. */
interface Candidate {
  readonly finding: Finding;
  readonly rank: readonly number[];
}

/**
 * Finds entities in a text. Every pattern is bounded and every match is judged in constant time, so the work is linear in the
 * text. Where matches overlap the best evidence wins: check digit and context, then the hinted country, longer span, base score, and at last how
 * common the entity is. Findings are in text order and do not overlap.
 *
 * @example
 * ```ts
 * import { DEFAULT_RECOGNISERS, recognise } from "@seneschal/core/governance";
 * const found = recognise("card 4111 1111 1111 1111", DEFAULT_RECOGNISERS);
 * console.log(found[0]?.entity, found[0]?.validator); // CREDIT_CARD passed
 * ```
 */
export function recognise(text: string, recognisers: readonly Recogniser[], options: RecogniseOptions = {}): Finding[] {
  return resolveOverlaps(search(text, recognisers, options));
}

/** Every match with enough evidence, overlapping ones too. */
export function candidates(text: string, recognisers: readonly Recogniser[], options: RecogniseOptions = {}): Finding[] {
  return search(text, recognisers, options).map(({ finding }) => finding);
}

function search(text: string, recognisers: readonly Recogniser[], options: RecogniseOptions): Candidate[] {
  const folded = normalise(text);
  const digits = countDigits(folded.text);
  const found: Candidate[] = [];
  const minScore = options.minScore ?? REPORTED_FROM;
  const lowered = folded.text.toLowerCase();
  // Recognisers of one kind share their words: looked for once.
  const named = new Map<readonly string[], boolean>();
  const isNamed = (words: readonly string[]): boolean => {
    const answer = named.get(words) ?? names(words, lowered, options.hints);
    named.set(words, answer);
    return answer;
  };
  // Many recognisers look at the same digits.
  const things = new Map<number, boolean>();
  const isThing = (index: number): boolean => {
    const answer = things.get(index) ?? namesThing(lowered, index);
    things.set(index, answer);
    return answer;
  };
  for (const recogniser of recognisers) {
    if (options.entities !== undefined && !options.entities.has(recogniser.entity)) continue;
    if (digits < (recogniser.digits ?? 0)) continue;
    if (!hasNeeded(recogniser, folded.text)) continue;
    const hinted = options.country !== undefined && recogniser.country === options.country;
    if (recogniser.onlyKnown === true && !hinted && !isNamed(recogniser.context)) continue;
    for (const pattern of recogniser.patterns) {
      pattern.regex.lastIndex = 0;
      let count = 0;
      for (let match = pattern.regex.exec(folded.text); match !== null; match = pattern.regex.exec(folded.text)) {
        const value = recogniser.fit?.(match[0], match[0].length === folded.text.length) ?? trimmed(match[0]);
        if (value === "") {
          pattern.regex.lastIndex++;
          continue;
        }
        if (++count > MAX_MATCHES) break;
        const verdict = recogniser.validate?.(value);
        if (verdict === false || (options.strict === true && verdict === undefined && recogniser.validate !== undefined))
          continue;
        const { index } = match;
        const telling = verdict === true && (recogniser.prior ?? DEFAULT_PRIOR) >= TELLING_PRIOR;
        if (
          !telling &&
          isMostlyDigits(value) &&
          (isThing(index) || (isPlainNumber(value) && isQuantity(lowered, index + value.length)))
        )
          continue;
        const context = contextOf(lowered, index, index + value.length, recogniser.context, options.hints);
        if (!telling && context === undefined && isPartOfRow(folded.text, index, index + value.length)) continue;
        const alone = value.length === folded.text.length;
        const byChance = verdict === true && !telling && !alone && isPlainNumber(value);
        let score = byChance ? CHANCE_SCORE : verdict === true ? 1 : pattern.score;
        if (byChance && (hinted || context !== undefined)) score = 1;
        else if (hinted && score > 0) score = Math.min(1, score + COUNTRY_DELTA);
        const raised = context === undefined ? score : Math.min(1, Math.max(score + CONTEXT_DELTA, CONTEXT_FLOOR));
        if (raised < minScore) continue;
        const start = folded.start(index);
        const end = folded.end(index + value.length);
        found.push({
          finding: {
            entity: recogniser.entity,
            start,
            end,
            score: raised,
            validator: verdict === true ? "passed" : "none",
            pattern: pattern.name,
            ...(recogniser.country === undefined ? {} : { country: recogniser.country }),
            ...(context === undefined ? {} : { contextWord: context, contextDelta: raised - score }),
          },
          rank: [
            evidenceClass(verdict === true, telling || hinted, context !== undefined),
            hinted ? 1 : 0,
            end - start,
            verdict === true ? 0 : pattern.score,
            recogniser.prior ?? DEFAULT_PRIOR,
          ],
        });
      }
    }
  }
  return found;
}

/** From this prior on a check digit says enough by itself: the shape is not one that any number of its length has. */
const TELLING_PRIOR = 0.7;
const DEFAULT_PRIOR = 0.5;
/** One plain number in ten has a right check digit by chance: in a text, without context or a hint, it says nothing. */
const CHANCE_SCORE = 0.25;

/**
 * Check digit with context, then a telling check digit, then context, then a check digit that one number in ten passes by chance, then the bare shape.
 */
function evidenceClass(checked: boolean, telling: boolean, inContext: boolean): number {
  if (checked && inContext) return 4;
  if (checked && telling) return 3;
  if (inContext) return 2;
  return checked ? 1 : 0;
}

/** A match never ends in the punctuation of its sentence. */
function trimmed(match: string): string {
  return match.replace(/[\s.,;]+$/, "").replace(/([^:]):$/, "$1");
}

function hasNeeded({ needs }: Recogniser, text: string): boolean {
  if (needs === undefined) return true;
  return typeof needs === "string" ? text.includes(needs) : needs(text);
}

function names(words: readonly string[], lowered: string, hints: readonly string[] = []): boolean {
  return foldedWords(words).some((word) => lowered.includes(word) || hints.some((hint) => hint.includes(word)));
}

function isPlainNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

function isMostlyDigits(text: string): boolean {
  return text.replace(/\D/g, "").length * 2 >= text.length;
}

function countDigits(text: string): number {
  let n = 0;
  for (let i = 0; i < text.length && n < 64; i++) {
    const c = text.charCodeAt(i);
    if (c >= 48 && c <= 57) n++;
  }
  return n;
}

/** Greedy choice by evidence over an interval list kept sorted by start. */
function resolveOverlaps(found: Candidate[]): Finding[] {
  const taken: Finding[] = [];
  for (const { finding } of found.sort(byEvidence)) {
    const at = lowerBound(taken, finding.start);
    const before = taken[at - 1];
    const after = taken[at];
    if ((before !== undefined && before.end > finding.start) || (after !== undefined && after.start < finding.end)) continue;
    taken.splice(at, 0, finding);
  }
  return taken;
}

function byEvidence(a: Candidate, b: Candidate): number {
  // A whole address outranks what is found inside it (a card number in a web address is still found by its own check digit).
  for (let i = 0; i < a.rank.length; i++) {
    const difference = (b.rank[i] ?? 0) - (a.rank[i] ?? 0);
    if (difference !== 0) return difference;
  }
  const [one, other] = [a.finding, b.finding];
  return one.start - other.start || (one.entity < other.entity ? -1 : one.entity > other.entity ? 1 : 0);
}

function lowerBound(taken: readonly Finding[], start: number): number {
  let low = 0;
  let high = taken.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((taken[middle]?.start ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}
