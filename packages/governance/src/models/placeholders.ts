import { checkArgument } from "@seneschal/kernel";
import { governanceError } from "../errors.ts";
import { PLACEHOLDER } from "../redaction/placeholder.ts";

/** Longer than any of them. */
const LONGEST = 74;

/** Characters that come back in all answers to one request. */
const MOST_RESTORED = 16 << 20;

/**
 * The values that one request took out of its texts, each under a placeholder of its own: equal values of an entity have one. They live as long as the
 * request does, so that an answer gives back what its own caller sent and nothing else.
 */
export class Placeholders {
  readonly #values = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #numbers = new Map<string, number>();
  readonly #taken = new Set<string>();
  #restored = 0;

  /** `texts`: all that the caller sent. What looks like a placeholder there is the caller's own and stays what it is. */
  constructor(texts: Iterable<string>) {
    checkArgument("texts", texts, "iterable");
    for (const text of texts) for (const [taken] of text.matchAll(PLACEHOLDER)) this.#taken.add(taken);
  }

  /** The placeholder of a value. */
  of(entity: string, value: string): string {
    const key = `${entity}\n${value}`;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    let number = this.#numbers.get(entity) ?? 0;
    let name: string;
    do {
      number++;
      name = `<${entity}_${number}>`;
    } while (this.#taken.has(name));
    this.#numbers.set(entity, number);
    this.#names.set(key, name);
    this.#values.set(name, value);
    return name;
  }

  /** Those that were given out and stand in a text. */
  namesIn(text: string): readonly string[] {
    if (this.#values.size === 0) return [];
    const names = new Set<string>();
    for (const [name] of text.matchAll(PLACEHOLDER)) if (this.#values.has(name)) names.add(name);
    return [...names];
  }

  /**
   * Puts values back, once: a value that looks like a placeholder is not looked up again. Inside of JSON texts (`json`) they are written so that the text stays JSON. Throws `upstream_failed` when an answer
   * repeats values beyond all measure: what a short name stands for may be long.
   */
  restore(text: string, form: "text" | "json" = "text"): string {
    if (this.#values.size === 0) return text;
    return text.replace(PLACEHOLDER, (name) => {
      const value = this.#values.get(name);
      if (value === undefined) return name;
      this.#restored += value.length;
      if (this.#restored > MOST_RESTORED) throw governanceError("upstream_failed", "the model's answer is too long");
      return form === "text" || isInsideOfJson(value) ? value : JSON.stringify(value).slice(1, -1);
    });
  }

  /** Where the part of a text ends that no placeholder still to come can reach back into: what stands behind it is held back, at most 74 characters. */
  settledUntil(text: string): number {
    if (this.#values.size === 0) return text.length;
    const open = text.lastIndexOf("<");
    if (open < 0 || text.length - open > LONGEST) return text.length;
    return /^<[A-Z0-9_]*$/.test(text.slice(open)) ? open : text.length;
  }
}

/** As it is, it may stand between the quotation marks of JSON. */
function isInsideOfJson(value: string): boolean {
  try {
    return typeof JSON.parse(`"${value}"`) === "string";
  } catch {
    return false;
  }
}
