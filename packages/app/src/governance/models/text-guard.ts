import {
  DEFAULT_RECOGNISERS,
  type Found,
  governanceError,
  hidden,
  memberAt,
  type Placeholders,
  type PromptText,
  type Redacted,
  type RedactionRule,
  type Redactor,
} from "@seneschal/governance";

/** Searches and hides, on behalf of one request. */
export interface TextGuard {
  readonly redactor: Redactor;
  /** The redaction key of the caller's organisation: what it made before is left as it is. */
  readonly key: readonly number[];
  readonly owner: string;
  readonly placeholders: Placeholders;
}

/** Parts of a text after hiding, and what was in it. */
export interface Guarded {
  readonly parts: readonly string[];
  readonly entities: ReadonlySet<string>;
  readonly injections: readonly string[];
}

const ROUNDS = 8;
/** Hides whatever is found. */
export const EVERYTHING: readonly RedactionRule[] = [{ operator: "replace" }];

/**
 * Hides what the rules hide in a text, and searches again until nothing more is found. What `tokenise` and `encrypt` take is behind a placeholder of the request where values come back
 * (`restorable`), else behind a marker. Parts are searched each for itself and as the one text that a model makes of them.
 */
export async function guardText(
  guard: TextGuard,
  { path, parts, form }: Pick<PromptText, "path" | "parts" | "form">,
  rules: readonly RedactionRule[],
  restorable: boolean,
): Promise<Guarded> {
  const entities = new Set<string>();
  let injections: readonly string[] = [];
  let current = [...parts];
  for (let round = 0; round < ROUNDS; round++) {
    const found: Found[] = [];
    const take = (redacted: Redacted, offset: number): void => {
      for (const { entity, start, end, redactedStart, redactedEnd, operator } of redacted.redactions) {
        entities.add(entity);
        const back = restorable && (operator === "tokenise" || operator === "encrypt");
        const written = back ? {} : { written: redacted.text.slice(redactedStart, redactedEnd) };
        found.push({ entity, start: start + offset, end: end + offset, ...written });
      }
    };
    const whole = current.join("");
    const json = form === "json" || isJson(whole);
    const all = await search(guard, whole, json, rules, round === 0);
    if (round === 0) injections = all.injections ?? [];
    take(all, 0);
    if (current.length > 1) {
      let offset = 0;
      for (const part of current) {
        take(await search(guard, part, isJson(part), rules, false), offset);
        offset += part.length;
      }
    }
    if (found.length === 0) return { parts: current, entities, injections };
    current = hidden(current, found, guard.placeholders);
    // Nothing stands in the place of a number.
    if (form === "json" && !isJson(current.join(""))) {
      const field = `${path}${memberAt(whole, found, DEFAULT_RECOGNISERS) ?? ""}`;
      const reason = "holds a number that is to be hidden, and cannot hold anything in its place";
      throw governanceError("validation_failed", `${field}: ${reason}`, { field, reason });
    }
  }
  throw governanceError("classification_failed", "a text could not be redacted");
}

/** The entities that are still in a text. */
export async function entitiesLeft(guard: TextGuard, text: string): Promise<readonly string[]> {
  const { redactions } = await search(guard, text, isJson(text), EVERYTHING, false);
  return redactions.map(({ entity }) => entity);
}

/** What rules hide in a text, once. */
export async function search(
  { redactor, key, owner, placeholders }: TextGuard,
  text: string,
  json: boolean,
  rules: readonly RedactionRule[],
  injections: boolean,
): Promise<Redacted> {
  // Names alone that stand there: a request may have given out thousands, and this is said of each of its texts.
  const names = placeholders.namesIn(text);
  const format = json ? "json" : "text";
  return redactor.redact({ text, format, rules, key, injections, ...(names.length === 0 ? {} : { placeholders: names }) }, owner);
}

/** True for an object or a list as JSON writes it. */
export function isJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
