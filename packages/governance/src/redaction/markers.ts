import { checkArgument, utf8Decode } from "@seneschal/kernel";
import { fromBase64url } from "../base64.ts";
import { credentials } from "../classification/recognisers/credentials.ts";
import { recognise } from "../classification/search/recognise.ts";
import type { TierPolicy } from "../classification/tiers.ts";
import { partitionPoint } from "../partition-point.ts";
import { PLACEHOLDER } from "./placeholder.ts";
import type { RedactionKeys } from "./redaction-keys.ts";
import { isKnownEntity } from "./rules.ts";

/** What stands in a text in place of a value: `<PERSON>`, `<PERSON token:...>`, `<DATE_OF_BIRTH 1985>`. Offsets are UTF-16 code units. */
export interface Marker {
  readonly start: number;
  readonly end: number;
  readonly entity: string;
  readonly form: "plain" | "hash" | "token" | "sealed" | "general";
  readonly kept: string;
}

/** The entities that are known: those of the tiers, and those that something finds. */
export interface KnownEntities {
  readonly policy: Pick<TierPolicy, "entities">;
  readonly recognisers: readonly { readonly entity: string }[];
}

const MARKER = /<([A-Z][A-Z0-9_]{1,63})(?: (?:(hash|token|sealed):([A-Za-z0-9_-]{20,800000})|([0-9][0-9./-]{1,19})))?>/g;
/** What {@link generalised} makes: a year, ten years of age, a network. */
const GENERAL = /^(?:[12]\d{3}|\d{1,2}0-\d{1,2}9|0-9|\d{1,3}\.\d{1,3}\.\d{1,3}\.0\/24)$/;

/**
 * The markers of a text that are what they say: of entities that are known, or made by this key where a value is kept. Anything else that looks like one is text:
 * nobody hides a value behind a marker of his own.
 */
export function markersIn(
  text: string,
  known: KnownEntities,
  keys: Pick<RedactionKeys, "isHash" | "open"> | undefined,
): Marker[] {
  const found: Marker[] = [];
  if (!text.includes("<")) return found;
  for (const match of text.matchAll(MARKER)) {
    const [whole, entity = "", form, kept = "", general] = match;
    const at = { start: match.index, end: match.index + whole.length, entity };
    if (form !== undefined) {
      if (form === "hash" ? keys?.isHash(entity, kept) === true : keys?.open(form as "token", entity, kept) !== undefined)
        found.push({ ...at, form: form as Marker["form"], kept });
    } else if ((general === undefined || GENERAL.test(general)) && isKnownEntity(known.policy, entity, known.recognisers))
      found.push({ ...at, form: general === undefined ? "plain" : "general", kept: general ?? "" });
  }
  return found;
}

/** Bytes of what a marker keeps: a hash with its check, and at least a nonce and a tag. */
const HASHED = 18;
const SEALED = 28;

/**
 * Knows the markers of every key by their form alone, opens none and makes none: for who reads what others redacted. What is a text in base64, or has the form of a credential, no key made.
 */
export const markerForms: RedactionKeys = {
  keep() {
    throw new TypeError("forms of markers keep nothing");
  },
  open: (_, __, kept) => (isOpaque(kept, (length) => length >= SEALED) ? "" : undefined),
  isHash: (_, kept) => isOpaque(kept, (length) => length === HASHED),
};

function isOpaque(kept: string, isLong: (length: number) => boolean): boolean {
  checkArgument("kept", kept, "string");
  const bytes = fromBase64url(kept);
  if (bytes === undefined || !isLong(bytes.length) || recognise(kept, credentials).length > 0) return false;
  try {
    return /[^\P{Cc}\t\n\r]/u.test(utf8Decode(bytes));
  } catch {
    return true;
  }
}

/** Offsets of a text, ends exclusive. */
export type Span = readonly [start: number, end: number];

const NONE: ReadonlySet<string> = new Set();

/** What stands in place of values that were taken out: markers and placeholders, ascending. */
export function markedSpans(
  text: string,
  known: KnownEntities,
  keys: Pick<RedactionKeys, "isHash" | "open"> | undefined,
  placeholders: ReadonlySet<string> = NONE,
): readonly Span[] {
  const spans: Span[] = markersIn(text, known, keys).map(({ start, end }) => [start, end]);
  if (placeholders.size === 0) return spans;
  for (const { 0: name, index } of text.matchAll(PLACEHOLDER))
    if (placeholders.has(name)) spans.push([index, index + name.length]);
  return spans.sort((a, b) => a[0] - b[0]);
}

/** The same with what masks have hidden: what a search must not touch again. */
export function hiddenSpans(text: string, marked: readonly Span[]): readonly Span[] {
  if (!text.includes("*")) return marked;
  const spans: Span[] = [...marked];
  for (const { 0: stars, index } of text.matchAll(/\*+/g))
    for (const span of without(index, index + stars.length, marked)) spans.push(span);
  return spans.sort((a, b) => a[0] - b[0]);
}

/** A span less others, which are ascending. */
export function without(start: number, end: number, spans: readonly Span[]): Span[] {
  const left: Span[] = [];
  let from = start;
  for (let i = partitionPoint(spans, ([, until]) => until <= start); i < spans.length && (spans[i]?.[0] ?? end) < end; i++) {
    const [a, b] = spans[i] as Span;
    if (a > from) left.push([from, a]);
    from = Math.max(from, b);
  }
  if (from < end) left.push([from, end]);
  return left;
}

/** A stretch of a text without `spans`: what it still shows. */
export function outsideOf(text: string, spans: readonly Span[], start = 0, end = text.length): string {
  if (spans.length === 0) return text.slice(start, end);
  return without(start, end, spans)
    .map(([from, to]) => text.slice(from, to))
    .join(" ");
}

/** Whether a letter or digit is in a text, or what carries one unseen, as tags and runs of variation selectors do: nothing else of a value says anything. */
export function saysSomething(text: string): boolean {
  return /[\p{L}\p{N}\u{e0020}-\u{e007e}]|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{4}/u.test(text);
}

/** Whether a mask made this of a whole value: letters and digits are left at its end alone, at most four characters and less than half of it. */
export function isMasked(text: string): boolean {
  if (!text.includes("*")) return false;
  const [, left] = /^[^\p{L}\p{N}]*\*[^\p{L}\p{N}*]*([\p{L}\p{N}].{0,3})?$/su.exec(text) ?? [text, "".padEnd(text.length)];
  return left === undefined || 2 * [...left].length < [...text].length;
}

/** What a text shows beside markers of any key; nothing where a mask hid a whole value. */
export function shownOf(text: string, known: KnownEntities): string {
  if (!/[<*]/.test(text)) return text;
  const shown = outsideOf(text, markedSpans(text, known, markerForms));
  return isMasked(shown) ? "" : shown;
}

/** A text without the markers in it, of whatever key: what stands around them is all that it says. */
export function withoutMarkers(text: string, known: KnownEntities): string {
  return text.includes("<") ? outsideOf(text, markedSpans(text, known, markerForms)) : text;
}

/** A coarser value that still says something: the year of a date, ten years of age, the network of an address. `undefined` where there is none. */
export function generalised(entity: string, value: string): string | undefined {
  if (entity === "AGE") {
    const age = /\d{1,3}/.exec(value)?.[0];
    const decade = age === undefined ? undefined : Math.floor(Number(age) / 10) * 10;
    return decade === undefined ? undefined : `${decade}-${decade + 9}`;
  }
  if (entity === "IP_ADDRESS") {
    const network = /^(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/.exec(value)?.[1];
    return network === undefined ? undefined : `${network}.0/24`;
  }
  if (/^DATE/.test(entity)) return /(?<!\d)[12]\d{3}(?!\d)/.exec(value)?.[0];
  return undefined;
}
