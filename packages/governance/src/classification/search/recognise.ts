import { checkArgument, checkOptions } from "@seneschal/kernel";
import type { EntitySpan } from "@seneschal/kernel/ports";
import { partitionPoint } from "../../partition-point.ts";
import { namedValues } from "../named-values/index.ts";
import { CharacterBits } from "./character-bits.ts";
import { contextOf, isPartOfRow, isQuantity, namesThing } from "./context.ts";
import { type DecodedText, decodedText } from "./decoded-text.ts";
import { EncodedRuns } from "./encoded-texts.ts";
import { narrowingOf } from "./narrowed.ts";
import { type Normalised, normalise } from "./normalise.ts";
import { oddsOf, type Reading, TOLD_FROM } from "./odds.ts";
import type { Alternative, Finding, Recogniser } from "./recogniser.ts";
import { type PlannedRecogniser, searchPlanOf } from "./search-plan.ts";
import { TextDigits } from "./text-digits.ts";
import { overlapping, withSpans, withWhole } from "./with-spans.ts";

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
  /** Place of its recogniser in the list. */
  readonly order: number;
  readonly reading: Reading;
}

/**
 * Finds entities in a text. Every pattern is bounded and every match is judged in constant time, so the work is linear in the
 * text. Where matches overlap the best evidence wins: check digit and context, then the hinted country, longer span, base score, and at last how
 * common the entity is. A value that can be read in several ways is called by the
 * likeliest, with the odds of it and of the others. Findings are in text
 * order and do not overlap.
 *
 * @throws TypeError a pattern is a regular expression without the flag `g`, or with `y`
 *
 * @example
 * ```ts
 * import { DEFAULT_RECOGNISERS, recognise } from "@seneschal/governance";
 * const found = recognise("card 4111 1111 1111 1111", DEFAULT_RECOGNISERS);
 * console.log(found[0]?.entity, found[0]?.validator); // CREDIT_CARD passed
 * ```
 */
export function recognise(text: string, recognisers: readonly Recogniser[], options: RecogniseOptions = {}): Finding[] {
  return recogniseEncoded(new EncodedRuns(text), recognisers, options);
}

/** The same for a text of which is known what it holds in encodings. */
export function recogniseEncoded(encoded: EncodedRuns, recognisers: readonly Recogniser[], given: RecogniseOptions): Finding[] {
  const { text } = encoded;
  checkSearch(text, recognisers, given);
  const narrowed = narrowingOf(recognisers);
  if (narrowed === undefined) return allOf(encoded, recognisers, given);
  const found = allOf(
    encoded,
    recognisers,
    narrowed.entities === undefined ? given : { ...given, entities: searchedFor(narrowed.entities, given) },
  );
  return found.filter((finding) => narrowed.keeps(finding, text.slice(finding.start, finding.end)));
}

/** What is looked for to find some entities: a date of birth is a date beside its word. */
function searchedFor(entities: ReadonlySet<string>, { entities: asked }: RecogniseOptions): ReadonlySet<string> {
  const all = entities.has("DATE_OF_BIRTH") ? new Set([...entities, "DATE_TIME"]) : entities;
  return asked === undefined ? all : new Set([...all].filter((entity) => asked.has(entity)));
}

function allOf(encoded: EncodedRuns, recognisers: readonly Recogniser[], options: RecogniseOptions): Finding[] {
  const { text } = encoded;
  const found = foundIn(text, normalise(text), recognisers, options);
  const decoded = decodedText(text, encoded);
  return decoded === undefined ? found : withWhole(text, found, foundDecoded(decoded, recognisers, options, found));
}

/** What stands in a text, where its offsets say. `keeps`: which matches have evidence enough. */
function foundIn(
  text: string,
  folded: Normalised,
  recognisers: readonly Recogniser[],
  options: RecogniseOptions,
  keeps = (_: Candidate) => true,
): Finding[] {
  const found = withSpans(
    text,
    resolveOverlaps(search(folded, recognisers, options).filter(keeps)),
    spansIn(folded, recognisers, options),
  );
  return withWhole(text, found, underNames(text, recognisers, options), true);
}

/** How sure it is that a value is what its name says. */
const NAMED_SCORE = 0.75;

/** What the names say that values of the text stand under, in their order. */
function underNames(text: string, recognisers: readonly Recogniser[], { entities }: RecogniseOptions): readonly Finding[] {
  const { named } = searchPlanOf(recognisers);
  if (named.size === 0) return [];
  return namedValues(text)
    .filter(({ entity }) => named.has(entity) && entities?.has(entity) !== false)
    .map(({ entity, term, start, end }) => ({
      entity,
      start,
      end,
      score: NAMED_SCORE,
      validator: "none",
      pattern: "value under its name",
      contextWord: term,
    }));
}

/** What stands in a text once it is written out, by the offsets of the original. Values that decoding did not touch were judged before. */
function foundDecoded(
  decoded: DecodedText,
  recognisers: readonly Recogniser[],
  options: RecogniseOptions,
  before: readonly Finding[],
): readonly Finding[] {
  const { text } = decoded;
  // As it is: its values may stand in one stretch of the original and not overlap.
  const itself: Normalised = { text, start: (index) => index, end: (index) => index };
  const keeps = ({ finding: { start, end }, rank }: Candidate): boolean =>
    (rank[0] ?? 0) >= IN_CONTEXT || !decoded.joined(decoded.start(start), decoded.end(end)) || !/\d/.test(text.slice(start, end));
  return foundIn(text, itself, recognisers, options, keeps)
    .map((finding) => Object.assign({}, finding, { start: decoded.start(finding.start), end: decoded.end(finding.end) }))
    .filter(({ start, end }) => decoded.touched(start, end) || overlapping(before, start, end).length === 0);
}

/** Every match with enough evidence, overlapping ones too. */
export function candidates(text: string, recognisers: readonly Recogniser[], options: RecogniseOptions = {}): Finding[] {
  checkSearch(text, recognisers, options);
  return search(normalise(text), recognisers, options).map(({ finding }) => finding);
}

function checkSearch(text: string, recognisers: readonly Recogniser[], options: RecogniseOptions): void {
  checkOptions("options", options, {
    entities: "object?",
    country: "string?",
    minScore: "number?",
    strict: "boolean?",
    hints: "array?",
  });
  checkArgument("text", text, "string");
  checkArgument("recognisers", recognisers, "array");
}

function search(folded: Normalised, recognisers: readonly Recogniser[], options: RecogniseOptions): Candidate[] {
  const digits = new TextDigits(folded.text);
  const characters = new CharacterBits();
  characters.addText(folded.text);
  const found: Candidate[] = [];
  /** Of numbers whose check digit says nothing by itself. */
  const byChanceAlone: Candidate[] = [];
  const { entities, country, minScore = REPORTED_FROM, strict = false, hints = [] } = options;
  const lowered = folded.text.toLowerCase();
  // Many recognisers look at the same digits.
  const things = new Map<number, boolean>();
  let holdsUuid: boolean | undefined;
  const isInUuid = (start: number, end: number): boolean => {
    if (end - start > SHORT_FORMAT) return false;
    holdsUuid ??= folded.text.search(UUID) >= 0;
    return holdsUuid && isPartOfUuid(folded.text, start, end);
  };
  const isThing = (index: number): boolean => {
    const answer = things.get(index) ?? namesThing(lowered, index);
    things.set(index, answer);
    return answer;
  };
  const look = (recogniser: PlannedRecogniser): void => {
    if (digits.count < recogniser.digits || (entities !== undefined && !entities.has(recogniser.entity))) return;
    if (recogniser.needsText !== "" && !folded.text.includes(recogniser.needsText)) return;
    if (recogniser.needsTest !== undefined && !recogniser.needsTest(folded.text)) return;
    if (recogniser.unless !== undefined && hints.some((hint) => recogniser.unless?.test(hint))) return;
    const hinted = country !== undefined && recogniser.country === country;
    for (const pattern of recogniser.patterns) {
      if (!digits.mayHold(pattern.digits) || !characters.includes(pattern.required)) continue;
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
        if (verdict === false || (strict && verdict === undefined && recogniser.validate !== undefined)) continue;
        const { index } = match;
        if (isInUuid(index, index + value.length)) continue;
        const telling = verdict === true && recogniser.prior >= TELLING_PRIOR;
        if (
          !telling &&
          isMostlyDigits(value) &&
          (isThing(index) || (isPlainNumber(value) && isQuantity(lowered, index + value.length)))
        )
          continue;
        const context = contextOf(lowered, index, index + value.length, recogniser.context, hints);
        if (!telling && context === undefined && isPartOfRow(folded.text, index, index + value.length)) continue;
        const alone = value.length === folded.text.length;
        const byChance = verdict === true && !telling && !alone && isPlainNumber(value);
        let score = byChance ? CHANCE_SCORE : verdict === true ? 1 : pattern.score;
        if (byChance && (hinted || context !== undefined)) score = 1;
        else if (hinted && score > 0) score = Math.min(1, score + COUNTRY_DELTA);
        const raised = context === undefined ? score : Math.min(1, Math.max(score + CONTEXT_DELTA, CONTEXT_FLOOR));
        const unheard = byChance && raised < minScore;
        if (raised < minScore && !unheard) continue;
        const start = folded.start(index);
        const end = folded.end(index + value.length);
        const form = verdict === true ? 0 : pattern.score;
        (unheard ? byChanceAlone : found).push({
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
            form,
            recogniser.prior,
          ],
          order: recogniser.order,
          reading: { prior: recogniser.prior, form },
        });
      }
    }
  };
  const { always, known } = searchPlanOf(recognisers);
  for (const recogniser of always) look(recogniser);
  for (const { words, recognisers } of known) {
    const named = names(words, lowered, hints);
    if (!named && country === undefined) continue;
    for (const recogniser of recognisers) if (named || recogniser.country === country) look(recogniser);
  }
  return byChanceAlone.length === 0 ? found : withChecked(found, byChanceAlone);
}

/** A number that is told for its bare shape is rather one of those whose check digit it has. */
function withChecked(found: Candidate[], checked: readonly Candidate[]): Candidate[] {
  const at = new Map<string, Candidate[]>();
  for (const each of checked) {
    const place = `${each.finding.start}-${each.finding.end}`;
    at.set(place, [...(at.get(place) ?? []), each]);
  }
  return found.flatMap((bare) => {
    const { finding, rank } = bare;
    const rather = rank[0] === 0 && rank[1] === 0 ? at.get(`${finding.start}-${finding.end}`) : undefined;
    return rather?.map((each) => ({ ...each, finding: { ...each.finding, score: finding.score } })) ?? [bare];
  });
}

const UUID = /(?<![\da-z])[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\da-z])/gi;
const UUID_LENGTH = 36;
/** Longer values, cards above all, are looked at wherever they stand. */
const SHORT_FORMAT = 10;

/** Whether a short value is a piece of a UUID (RFC 9562): one in four hundred of them begins like a plate or a tax number. */
function isPartOfUuid(text: string, start: number, end: number): boolean {
  const from = Math.max(0, start - UUID_LENGTH);
  for (const { index } of text.slice(from, end + UUID_LENGTH).matchAll(UUID)) {
    if (from + index <= start && end <= from + index + UUID_LENGTH) return true;
  }
  return false;
}

/** What recognisers are told of a text, where it stands there. */
function spansIn(
  folded: Normalised,
  recognisers: readonly Recogniser[],
  { entities, minScore = REPORTED_FROM }: RecogniseOptions,
): readonly EntitySpan[] {
  return searchPlanOf(recognisers).told.flatMap(({ entity, spans }) =>
    entities?.has(entity) === false
      ? []
      : (spans?.(folded.text) ?? []).flatMap(({ start, end, score }) => {
          const within = folded.text.slice(start, end);
          const from = end - within.trimStart().length;
          const to = start + within.trimEnd().length;
          return from < to && score >= minScore ? [{ entity, start: folded.start(from), end: folded.end(to), score }] : [];
        }),
  );
}

/** From this prior on a check digit says enough by itself: the shape is not one that any number of its length has. */
const TELLING_PRIOR = 0.7;
/** One plain number in ten has a right check digit by chance: in a text, without context or a hint, it says nothing. */
const CHANCE_SCORE = 0.25;

/** From this class of evidence on something else than the form of a value speaks for it: its context, or a check digit that tells. */
const IN_CONTEXT = 2;

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

/** True when one of the words stands in the text or in a hint. */
function names(words: readonly string[], lowered: string, hints: readonly string[]): boolean {
  for (const word of words) {
    if (lowered.includes(word)) return true;
    for (const hint of hints) if (hint.includes(word)) return true;
  }
  return false;
}

function isPlainNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

function isMostlyDigits(text: string): boolean {
  return text.replace(/\D/g, "").length * 2 >= text.length;
}

/** Greedy choice by evidence over an interval list kept sorted by start; then what else the chosen values may be. */
function resolveOverlaps(found: Candidate[]): Finding[] {
  const taken: Candidate[] = [];
  for (const candidate of found.sort(byEvidence)) {
    const { finding } = candidate;
    const at = partitionPoint(taken, (other) => other.finding.start < finding.start);
    const before = taken[at - 1]?.finding;
    const after = taken[at]?.finding;
    if ((before !== undefined && before.end > finding.start) || (after !== undefined && after.start < finding.end)) continue;
    taken.splice(at, 0, candidate);
  }
  return taken.length === found.length ? taken.map(({ finding }) => finding) : readInAllWays(taken, found);
}

/**
 * The chosen candidates, with the odds of what check digit, context and country do not tell apart from them: other readings of exactly the same stretch with
 * the same class of evidence. `found` is in the order of the evidence.
 */
function readInAllWays(taken: readonly Candidate[], found: readonly Candidate[]): Finding[] {
  const readings = new Map<number, Candidate[]>();
  for (const candidate of taken) readings.set(candidate.finding.start, [candidate]);
  for (const candidate of found) {
    const same = readings.get(candidate.finding.start);
    const first = same?.[0];
    if (same === undefined || first?.finding.end !== candidate.finding.end) continue;
    if (first.rank[0] !== candidate.rank[0] || first.rank[1] !== candidate.rank[1]) continue;
    // A form that says nothing (any text beside a word) is no reading beside one that does.
    if (candidate.finding.validator === "none" && candidate.reading.form === 0) continue;
    if (!same.some(({ finding }) => finding.entity === candidate.finding.entity)) same.push(candidate);
  }
  return taken.map(({ finding }) => {
    const same = readings.get(finding.start) ?? [];
    if (same.length < 2) return finding;
    const odds = oddsOf(same.map(({ reading }) => reading));
    const told = same
      .map(({ finding: each }, i) => ({ each, probability: rounded(odds[i] ?? 0) }))
      .sort((a, b) => b.probability - a.probability);
    const likeliest = told[0]?.each ?? finding;
    const alternatives = told.slice(1).flatMap(({ each: { entity, country }, probability }): Alternative[] => {
      return probability < TOLD_FROM ? [] : [{ entity, ...(country === undefined ? {} : { country }), probability }];
    });
    if (alternatives.length === 0) return likeliest;
    return Object.assign({}, likeliest, { probability: told[0]?.probability ?? 1, alternatives });
  });
}

function rounded(probability: number): number {
  return Math.round(probability * 100) / 100;
}

function byEvidence(a: Candidate, b: Candidate): number {
  // A whole address outranks what is found inside it (a card number in a web address is still found by its own check digit).
  for (let i = 0; i < a.rank.length; i++) {
    const difference = (b.rank[i] ?? 0) - (a.rank[i] ?? 0);
    if (difference !== 0) return difference;
  }
  const [one, other] = [a.finding, b.finding];
  return one.start - other.start || (one.entity < other.entity ? -1 : one.entity > other.entity ? 1 : a.order - b.order);
}
