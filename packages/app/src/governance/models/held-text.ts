import { governanceError, type RedactionRule } from "@seneschal/governance";
import type { CompletionFacts } from "./completion-facts.ts";
import { search, type TextGuard } from "./text-guard.ts";

/** A text that goes on without a place to cut is not waited for beyond this. */
const LONGEST = 65_536;
const PLACEHOLDER = /<[A-Z][A-Z0-9_]{1,63}_[1-9][0-9]{0,6}>/g;

/**
 * One text of a stream. A piece is let go when at least `holdBack` characters behind it are there and it was read together with them and with as many before it; it ends between words and outside of
 * everything that was found. A placeholder that is not whole yet waits for its rest.
 */
export class HeldText {
  /** Read and let go: what the next piece is read with. */
  #before = "";
  #pending = "";
  /** Hidden, not yet given back. */
  #safe = "";

  readonly #guard: TextGuard;
  readonly #rules: readonly RedactionRule[];
  readonly #facts: CompletionFacts;
  readonly #form: "text" | "json";
  readonly #holdBack: number;

  constructor(
    guard: TextGuard,
    rules: readonly RedactionRule[],
    facts: CompletionFacts,
    form: "text" | "json",
    holdBack: number,
  ) {
    this.#guard = guard;
    this.#rules = rules;
    this.#facts = facts;
    this.#form = form;
    this.#holdBack = holdBack;
  }

  /** What may be shown now. */
  async push(text: string): Promise<string> {
    this.#pending += text;
    return this.#pending.length < 2 * this.#holdBack ? "" : this.#advance(false);
  }

  /** What is left. */
  async end(): Promise<string> {
    return this.#pending === "" && this.#safe === "" ? "" : this.#advance(true);
  }

  async #advance(last: boolean): Promise<string> {
    const guard = this.#guard;
    const from = this.#before.length;
    // Half of a character waits for the other.
    const whole = this.#before + this.#pending;
    const half = !last && /[\ud800-\udbff]$/.test(whole);
    const text = half ? whole.slice(0, -1) : whole;
    const { text: redacted, redactions, injections = [] } = await search(guard, text, false, this.#rules, true);
    const spans = [
      ...redactions,
      ...[...text.matchAll(PLACEHOLDER)].map(({ 0: name, index }) => ({ start: index, end: index + name.length })),
    ];
    const to = last ? text.length : cutOf(text, from, this.#holdBack, spans);
    let safe = "";
    let at = from;
    const entities = new Set<string>();
    for (const { entity, start, end, redactedStart, redactedEnd } of redactions) {
      if (end <= from || start >= to) continue;
      entities.add(entity);
      safe += text.slice(at, Math.max(at, start)) + redacted.slice(redactedStart, redactedEnd);
      at = end;
    }
    safe += text.slice(at, Math.max(at, to));
    const read = text.slice(from, to);
    if (to > from) await this.#facts.add(read, safe, entities, injections);
    this.#pending = whole.slice(to);
    this.#before = text.slice(Math.max(0, to - this.#holdBack), to).replace(/^[\udc00-\udfff]/, "");
    if (this.#pending.length > LONGEST) throw governanceError("upstream_failed", "the model's answer cannot be cut anywhere");
    this.#safe += safe;
    const settled = last ? this.#safe.length : guard.placeholders.settledUntil(this.#safe);
    const shown = guard.placeholders.restore(this.#safe.slice(0, settled), this.#form);
    this.#safe = this.#safe.slice(settled);
    return shown;
  }
}

/** The end of what may go: behind a blank where there is one, and never inside of what was found. */
function cutOf(
  text: string,
  from: number,
  holdBack: number,
  spans: readonly { readonly start: number; readonly end: number }[],
): number {
  const latest = text.length - holdBack;
  const blank = text.slice(from, latest).search(/\s\S*$/);
  let cut = blank >= 0 ? from + blank + 1 : latest;
  for (let moved = true; moved; ) {
    moved = false;
    for (const { start, end } of spans)
      if (start < cut && end > cut) {
        cut = start;
        moved = true;
      }
  }
  if (/[\udc00-\udfff]/.test(text[cut] ?? "")) cut--;
  return Math.max(from, cut);
}
