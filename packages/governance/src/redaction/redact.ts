import { checkArgument, checkOptions } from "@seneschal/kernel";
import { isBirthDate } from "../classification/birth-date.ts";
import { entitiesOf } from "../classification/evidence.ts";
import { type Narrowed, narrowingOf } from "../classification/search/narrowed.ts";
import { recognise } from "../classification/search/recognise.ts";
import type { Finding, Recogniser } from "../classification/search/recogniser.ts";
import { policyOf, type TierPolicy } from "../classification/tiers.ts";
import { governanceError } from "../errors.ts";
import { partitionPoint } from "../partition-point.ts";
import { isWordAt, type KnownValues, knownNumbers, REPEATED_FROM } from "./known-values.ts";
import {
  generalised,
  hiddenSpans,
  isMasked,
  markedSpans,
  markerForms,
  markersIn,
  outsideOf,
  type Span,
  saysSomething,
  without,
} from "./markers.ts";
import type { RedactionKeys } from "./redaction-keys.ts";
import { checkRedactionRules, type RedactionOperator, type RedactionRule, redactionRuleFor } from "./rules.ts";
import { StandingValues } from "./standing-values.ts";

export interface RedactionOptions {
  readonly policy: TierPolicy;
  readonly recognisers: readonly Recogniser[];
  readonly rules: readonly RedactionRule[];
  /** Needed by `hash`, `tokenise` and `encrypt`. */
  readonly keys?: RedactionKeys;
  /** Names of the column or of the JSON members that the text stands under. */
  readonly hints?: readonly string[];
  /** The text is a value of this entity as a whole, by the name of its column or member. */
  readonly whole?: string;
  /** Table, file or data set that a table is of: context for its columns. */
  readonly about?: string;
  readonly country?: string;
  /** Texts that stand for values which were taken out before: they are left as they are. */
  readonly placeholders?: ReadonlySet<string>;
}

/** What a text is searched for. */
export interface SearchOptions extends RedactionOptions {
  /** Values that are redacted wherever they stand, since they were found elsewhere. */
  readonly known?: KnownValues;
  /** Names that it is searched under once more, in place of `hints`. */
  readonly otherHints?: readonly string[];
}

/** What was done to one value; offsets are UTF-16 code units of the given text and of the redacted one, ends exclusive. */
export interface Redaction {
  readonly entity: string;
  readonly tier: string;
  readonly operator: RedactionOperator;
  readonly start: number;
  readonly end: number;
  readonly redactedStart: number;
  readonly redactedEnd: number;
}

export interface Redacted {
  readonly text: string;
  readonly redactions: readonly Redaction[];
  /** What the given text tries to do to a model, where that was asked for. */
  readonly injections?: readonly string[];
}

/** A stretch of the given text and what stands in its place. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly entity?: string;
  readonly operator?: RedactionOperator;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly entity: string;
  readonly rule: RedactionRule;
}

const ROUNDS = 40;

/**
 * Redacts a text: every value that is found is treated by its rule, and so is every further place where it stands. It is searched again until nothing more is found, so that redacting a redacted text
 * changes nothing. Throws `validation_failed` for a text that is no well-formed Unicode, for a rule that would do nothing, and for an operator that needs keys where there are none.
 *
 * @example
 * ```ts
 * import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, redact } from "@seneschal/governance";
 * const { text } = redact("write to ada@example.org", { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [] });
 * console.log(text); // write to <EMAIL_ADDRESS>
 * ```
 */
export function redact(text: string, options: RedactionOptions): Redacted {
  checkRedaction(text, options);
  return joined(redactedPieces(text, options), options.policy);
}

/** Throws a TypeError that names the option. */
export function checkRedactionOptions(options: RedactionOptions): void {
  checkOptions("options", options, {
    policy: "object",
    recognisers: "array",
    rules: "array",
    keys: "object?",
    hints: "array?",
    whole: "string?",
    about: "string?",
    country: "string?",
    placeholders: "object?",
  });
}

/** What every way to redact asks of its arguments, once for a text or a file. */
export function checkRedaction(text: string, options: RedactionOptions): void {
  checkRedactionOptions(options);
  checkArgument("text", text, "string");
  checkRedactionRules(options.rules, options.policy, options.recognisers);
}

/** A text that comes in parts, by the offsets at which parts but the first begin, ascending. */
export interface Parts {
  /** Nothing is redacted as one over these: what reaches over them is a value on either side, so that each part keeps its own. */
  readonly cuts: readonly number[];
  /** Some of the cuts: what stands between them is searched as a paragraph of its own too, as who reads it alone would. */
  readonly alone: readonly number[];
}

const WHOLE: Parts = { cuts: [], alone: [] };

/** The pieces of a redacted text. `source` is what a stretch is kept as where it can be restored: the text itself, or how it is written in a file. */
export function redactedPieces(
  text: string,
  options: SearchOptions,
  source: (start: number, end: number) => string = (start, end) => text.slice(start, end),
  { cuts, alone }: Parts = WHOLE,
): readonly Piece[] {
  if (/\p{Surrogate}/u.test(text)) throw governanceError("validation_failed", "text: not well-formed Unicode", { field: "text" });
  let pieces: readonly Piece[] = [0, ...cuts].map((start, i) => {
    const end = cuts[i] ?? text.length;
    return { start, end, text: text.slice(start, end) };
  });
  for (let round = 0; round < ROUNDS; round++) {
    const current = pieces.map((piece) => piece.text).join("");
    const edits = editsOf(current, options, round === 0, alone.length === 0 ? [] : placesOf(alone, pieces));
    if (edits.length === 0) return pieces;
    const next = applied(pieces, edits, options, source);
    if (next.map((piece) => piece.text).join("") === current) return pieces;
    pieces = next;
  }
  throw governanceError("classification_failed", "the text could not be redacted");
}

/** The text of pieces, and what was done. */
export function joined(pieces: readonly Piece[], policy: TierPolicy): Redacted {
  const redactions: Redaction[] = [];
  let text = "";
  for (const { start, end, text: written, entity, operator } of pieces) {
    if (entity !== undefined && operator !== undefined)
      redactions.push({
        entity,
        tier: policyOf(policy, entity).tier,
        operator,
        start,
        end,
        redactedStart: text.length,
        redactedEnd: text.length + written.length,
      });
    text += written;
  }
  return { text, redactions };
}

/** Where offsets of the given text are in the text of pieces, of which none reaches over one of them. */
function placesOf(offsets: readonly number[], pieces: readonly Piece[]): readonly number[] {
  const places: number[] = [];
  let at = 0;
  for (const piece of pieces) {
    while (places.length < offsets.length && (offsets[places.length] ?? 0) <= piece.start) places.push(at);
    at += piece.text.length;
  }
  while (places.length < offsets.length) places.push(at);
  return places;
}

/** What is to be done to a text: values found, in it and in what stands between `borders` alone, and where they stand again, without what is redacted already. */
function editsOf(text: string, options: SearchOptions, first: boolean, borders: readonly number[]): readonly Edit[] {
  const { policy, recognisers, rules, keys, hints = [], country, whole } = options;
  const marked = markedSpans(text, options, keys, options.placeholders);
  const done = hiddenSpans(text, marked);
  const found: Edit[] = [];
  const narrowed = narrowingOf(recognisers);
  const add = (entity: string, start: number, end: number, others: readonly string[] = [], hidden = done): void => {
    const rule = redactionRuleFor(policy, rules, entity, ...others);
    if (rule.operator === "keep") return;
    if (narrowed !== undefined && !isAsked(narrowed, [entity, ...others], text.slice(start, end))) return;
    for (const [from, to] of without(start, end, hidden))
      if (saysSomething(text.slice(from, to))) found.push({ start: from, end: to, entity, rule });
  };
  // A star is no mask's where more is left than a mask leaves.
  if (whole !== undefined && first && text !== "" && !isMasked(outsideOf(text, marked))) {
    add(whole, 0, text.length, [], marked);
    if (found.length > 0) return marked.length === 0 ? found : found.map(partOf);
  }
  const search = (searched: string, placed: (at: number) => number, under = hints): void => {
    for (const finding of recognise(searched, recognisers, { hints: under, ...(country === undefined ? {} : { country }) }))
      add(entityOf(finding), placed(finding.start), placed(finding.end), entitiesOf(finding).slice(1));
  };
  search(text, (at) => at);
  if (borders.length > 0) search(...paragraphs(text, borders));
  const { known, otherHints } = options;
  if (otherHints !== undefined) search(text, (at) => at, otherHints);
  if (known !== undefined) for (const { start, end, entity } of knownNumbers(text, known)) add(entity, start, end);
  const edits = borders.length === 0 && known === undefined && otherHints === undefined ? found : apart(found);
  const ruleOf = (entity: string): RedactionRule => redactionRuleFor(policy, rules, entity);
  return withRepeated(text, edits, { done, marked }, known, ruleOf);
}

/** Whether a value that may be these is among what a caller asks for. */
function isAsked({ entities, keeps }: Narrowed, [entity = "", ...others]: readonly string[], value: string): boolean {
  return keeps({ entity, score: 1 }, value) && [entity, ...others].some((each) => entities?.has(each) !== false);
}

const BETWEEN = "\n\n";

/** A text with its parts as paragraphs, in which no part takes a word of another for its own, and where a place in it is in the text. */
function paragraphs(text: string, borders: readonly number[]): readonly [string, (at: number) => number] {
  const starts = [0, ...borders];
  const place = (at: number): number => {
    const part = partitionPoint(borders, (border, i) => border + (i + 1) * BETWEEN.length <= at);
    return Math.min(at - part * BETWEEN.length, borders[part] ?? text.length);
  };
  return [starts.map((start, i) => text.slice(start, starts[i + 1])).join(BETWEEN), place];
}

/** Edits of which none begins before the one before it ends. */
function apart(edits: readonly Edit[]): readonly Edit[] {
  const out: Edit[] = [];
  let from = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (edit.end <= from) continue;
    out.push(edit.start >= from ? edit : Object.assign({}, edit, { start: from }));
    from = edit.end;
  }
  return out;
}

function entityOf(finding: Finding): string {
  return isBirthDate(finding) ? "DATE_OF_BIRTH" : finding.entity;
}

/** Adds every other whole-word place of a value that was found, here or elsewhere. By the first letters of the values, so that the work grows with the text and not with their number. */
function withRepeated(
  text: string,
  found: readonly Edit[],
  { done, marked }: { readonly done: readonly Span[]; readonly marked: readonly Span[] },
  known: KnownValues | undefined,
  ruleOf: (entity: string) => RedactionRule,
): readonly Edit[] {
  const edits = [...found].sort((a, b) => a.start - b.start);
  const here = new StandingValues<Edit>(REPEATED_FROM);
  for (const edit of edits) here.set(text.slice(edit.start, edit.end), edit);
  if (here.isEmpty && known === undefined) return edits;
  const more: Edit[] = [];
  let next = 0;
  for (let at = 0; at + REPEATED_FROM <= text.length; at++) {
    while (next < edits.length && (edits[next]?.end ?? 0) <= at) next++;
    const edit = edits[next];
    if (edit !== undefined && edit.start <= at) {
      at = edit.end - 1;
      continue;
    }
    const [standing, elsewhere] = [here.standingAt(text, at), known?.texts.standingAt(text, at) ?? []];
    if ((standing.length === 0 && elsewhere.length === 0) || isWordAt(text, at - 1)) continue;
    const stands = (value: string): boolean => {
      const end = at + value.length;
      if (isWordAt(text, end) || (edit !== undefined && end > edit.start)) return false;
      // Stars of a value are its own.
      const [left] = without(at, end, value.includes("*") ? marked : done);
      return left?.[0] === at && left[1] === end;
    };
    const repeated =
      standing.find(([value]) => stands(value)) ??
      elsewhere
        .map(([value, entity]) => [value, { entity, rule: ruleOf(entity) }] as const)
        .find(([value, { rule }]) => rule.operator !== "keep" && stands(value));
    if (repeated === undefined) continue;
    const [value, { entity, rule }] = repeated;
    more.push({ start: at, end: at + value.length, entity, rule });
    at += value.length - 1;
  }
  return more.length === 0 ? edits : [...edits, ...more].sort((a, b) => a.start - b.start);
}

/** Pieces after edits of their joined text. An edit that reaches over a border is one on either side. */
function applied(
  pieces: readonly Piece[],
  edits: readonly Edit[],
  options: RedactionOptions,
  source: (start: number, end: number) => string,
): readonly Piece[] {
  const out: Piece[] = [];
  let at = 0;
  let next = 0;
  for (const piece of pieces) {
    const end = at + piece.text.length;
    let from = at;
    let rewritten = "";
    while (next < edits.length && (edits[next]?.start ?? end) < end) {
      const edit = edits[next] as Edit;
      const start = Math.max(edit.start, from);
      const stop = Math.min(edit.end, end);
      const value = piece.text.slice(start - at, stop - at);
      if (piece.entity !== undefined) {
        // Only what a mask left of a value can be found again.
        rewritten += piece.text.slice(from - at, start - at) + "*".repeat(value.length);
      } else {
        const [a, b] = [piece.start + start - at, piece.start + stop - at];
        if (start > from) out.push({ start: piece.start + from - at, end: a, text: piece.text.slice(from - at, start - at) });
        const whole = start === edit.start && stop === edit.end;
        if (stop > start && !whole && !saysSomething(value)) out.push({ start: a, end: b, text: value });
        else if (stop > start)
          out.push({
            start: a,
            end: b,
            text: written(whole ? edit : partOf(edit), value, source(a, b), options.keys),
            entity: edit.entity,
            operator: edit.rule.operator,
          });
      }
      from = stop;
      if (edit.end > end) break;
      next++;
    }
    const rest = piece.text.slice(from - at);
    if (piece.entity !== undefined) out.push(rewritten === "" ? piece : Object.assign({}, piece, { text: rewritten + rest }));
    else if (rest !== "") out.push({ start: piece.start + from - at, end: piece.end, text: rest });
    at = end;
  }
  return out;
}

/** Of a part of a value nothing may be left: each part would leave its own. */
function partOf(edit: Edit): Edit {
  const { operator } = edit.rule;
  if (operator === "mask") return Object.assign({}, edit, { rule: { operator } });
  return operator === "generalise" ? Object.assign({}, edit, { rule: { operator: "replace" } }) : edit;
}

function written({ entity, rule }: Edit, value: string, source: string, keys: RedactionKeys | undefined): string {
  const { operator, keepLast = 0 } = rule;
  switch (operator) {
    case "mask": {
      const characters = [...value];
      const kept = characters.length > 2 * keepLast ? Math.min(4, keepLast) : 0;
      return characters.map((c, i) => (i < characters.length - kept && /[\p{L}\p{N}\p{M}]/u.test(c) ? "*" : c)).join("");
    }
    case "drop":
      return "";
    case "generalise": {
      const coarser = generalised(entity, value);
      return coarser === undefined ? `<${entity}>` : `<${entity} ${coarser}>`;
    }
    case "hash":
    case "tokenise":
    case "encrypt": {
      if (keys === undefined) throw governanceError("validation_failed", `${operator} needs a key`);
      const form = operator === "hash" ? "hash" : operator === "tokenise" ? "token" : "sealed";
      return `<${entity} ${form}:${keys.keep(form, entity, form === "hash" ? value : source)}>`;
    }
    default:
      return `<${entity}>`;
  }
}

/** What was restored, how many values, and how many markers stay that have the form of one of another key. */
export interface Restored {
  readonly text: string;
  readonly count: number;
  readonly left: number;
}

/** A value that is not written in quotation marks, such as a number of JSON: they are taken away with its marker. */
export const BARE = "\u0000";

/** Puts the values back that `tokenise` and `encrypt` of this key took; every other marker stays. */
export function restore(text: string, policy: TierPolicy, keys: RedactionKeys): Restored {
  checkArgument("text", text, "string");
  checkArgument("policy", policy, "object");
  checkArgument("keys", keys, "object");
  let out = "";
  let at = 0;
  let count = 0;
  for (const { start, end, entity, form, kept } of markersIn(text, { policy, recognisers: [] }, keys)) {
    if (form !== "token" && form !== "sealed") continue;
    const value = keys.open(form, entity, kept) ?? "";
    const bare = value.startsWith(BARE) && text[start - 1] === '"' && text[end] === '"';
    out += text.slice(at, bare ? start - 1 : start) + (value.startsWith(BARE) ? value.slice(1) : value);
    at = bare ? end + 1 : end;
    count++;
  }
  const left = markersIn(text, { policy, recognisers: [] }, markerForms).filter(
    ({ form, entity, kept }) => (form === "token" || form === "sealed") && keys.open(form, entity, kept) === undefined,
  ).length;
  return { text: out + text.slice(at), count, left };
}
