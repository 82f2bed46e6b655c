import type { TierPolicy } from "../classification/tiers.ts";
import type { RedactionKeys } from "./redaction-keys.ts";

/** What stands in a text in place of a value: `<PERSON>`, `<PERSON token:...>`, `<DATE_OF_BIRTH 1985>`. Offsets are UTF-16 code units. */
export interface Marker {
  readonly start: number;
  readonly end: number;
  readonly entity: string;
  readonly form: "plain" | "hash" | "token" | "sealed" | "general";
  readonly kept: string;
}

const MARKER = /<([A-Z][A-Z0-9_]{1,63})(?: (?:(hash|token|sealed):([A-Za-z0-9_-]{20,800000})|([0-9][0-9./-]{1,19})))?>/g;
/** What {@link generalised} makes: a year, ten years of age, a network. */
const GENERAL = /^(?:[12]\d{3}|\d{1,2}0-\d{1,2}9|0-9|\d{1,3}\.\d{1,3}\.\d{1,3}\.0\/24)$/;

/**
 * The markers of a text that are what they say: of entities that the policy knows, and made by this key where a value is kept. Anything else that looks like one is text:
 * nobody hides a value behind a marker of his own.
 */
export function markersIn(text: string, policy: TierPolicy, keys: RedactionKeys | undefined): Marker[] {
  const found: Marker[] = [];
  if (!text.includes("<")) return found;
  for (const match of text.matchAll(MARKER)) {
    const [whole, entity = "", form, kept = "", general] = match;
    if (policy.entities[entity] === undefined) continue;
    const at = { start: match.index, end: match.index + whole.length, entity };
    if (general !== undefined) {
      if (GENERAL.test(general)) found.push({ ...at, form: "general", kept: general });
    } else if (form === undefined) found.push({ ...at, form: "plain", kept: "" });
    else if (form === "hash" ? keys?.isHash(entity, kept) === true : keys?.open(form as "token", entity, kept) !== undefined)
      found.push({ ...at, form: form as Marker["form"], kept });
  }
  return found;
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
