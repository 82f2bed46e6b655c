import { checkArgument } from "@seneschal/kernel";
import type { EntityRecogniser, EntitySpan } from "@seneschal/kernel/ports";
import { governanceError } from "../../errors.ts";
import { askedRecognisers, type Recognised } from "./asked-recognisers.ts";
import type { Recogniser } from "./recogniser.ts";

/** Texts of which a recogniser has to say something before the work can be done. */
export interface Unheard {
  readonly unheard: readonly string[];
}

/** More than a redaction searches a text again. */
const ROUNDS = 64;

/**
 * Does what searches texts with what a recogniser said of them, or tells of which texts nothing was said yet. Without `recognised` nobody is asked. Work that takes its time is waited for.
 *
 * @example
 * ```ts
 * import { DEFAULT_RECOGNISERS, type Recogniser, recognise, withHeard } from "@seneschal/governance";
 * const work = (recognisers: readonly Recogniser[]) => recognise("Zork left", recognisers).map(({ entity }) => entity);
 * console.log(withHeard({ entities: ["PERSON"], said: new Map() }, DEFAULT_RECOGNISERS, work)); // { unheard: [ 'Zork left' ] }
 * const said = new Map([["Zork left", [{ entity: "PERSON", start: 0, end: 4, score: 0.9 }]]]);
 * console.log(withHeard({ entities: ["PERSON"], said }, DEFAULT_RECOGNISERS, work)); // [ 'PERSON' ]
 * ```
 */
export function withHeard<Done extends object>(
  recognised: Recognised | undefined,
  recognisers: readonly Recogniser[],
  work: (recognisers: readonly Recogniser[]) => Promise<Done>,
): Promise<Done | Unheard>;
export function withHeard<Done extends object>(
  recognised: Recognised | undefined,
  recognisers: readonly Recogniser[],
  work: (recognisers: readonly Recogniser[]) => Done,
): Done | Unheard;
export function withHeard<Done extends object>(
  recognised: Recognised | undefined,
  recognisers: readonly Recogniser[],
  work: (recognisers: readonly Recogniser[]) => Done | Promise<Done>,
): Done | Unheard | Promise<Done | Unheard> {
  checkArgument("recognisers", recognisers, "array");
  checkArgument("work", work, "function");
  if (recognised === undefined) return work(recognisers);
  const unheard = new Set<string>();
  const done = work([...recognisers, ...askedRecognisers(recognised, unheard)]);
  // Where tables have to be looked up first it is done again anyway.
  const judged = (each: Done): Done | Unheard => (unheard.size === 0 || "unknown" in each ? each : { unheard: [...unheard] });
  return done instanceof Promise ? done.then(judged) : judged(done);
}

/**
 * Asks `work`, and `recogniser` for what the work has to know, until it is done. Rejects as either does, and with `classification_failed` for spans that are not of their text: never as if
 * nothing had been found.
 */
export async function heard<Done extends object>(
  recogniser: EntityRecogniser | undefined,
  owner: string,
  work: (recognised: Recognised | undefined) => Promise<Done | Unheard>,
): Promise<Done> {
  checkArgument("owner", owner, "string");
  checkArgument("work", work, "function");
  const said = new Map<string, readonly EntitySpan[]>();
  const recognised = recogniser === undefined ? undefined : { entities: recogniser.entities, said };
  for (let round = 0; round < ROUNDS; round++) {
    const done = await work(recognised);
    if (!("unheard" in done)) return done;
    const texts = done.unheard.filter((text) => !said.has(text));
    if (recogniser === undefined || texts.length === 0) break;
    const answers = await recogniser.recognise(texts, owner);
    for (const [i, text] of texts.entries()) said.set(text, checked(text, answers[i], recogniser.entities));
  }
  throw governanceError("classification_failed", "the text could not be read with the recogniser");
}

function checked(text: string, spans: readonly EntitySpan[] | undefined, entities: readonly string[]): readonly EntitySpan[] {
  const fits = ({ entity, start, end, score }: EntitySpan): boolean =>
    entities.includes(entity) &&
    Number.isInteger(start) &&
    Number.isInteger(end) &&
    start >= 0 &&
    start < end &&
    end <= text.length &&
    score > 0 &&
    score <= 1;
  if (spans?.every(fits) === true) return spans;
  throw governanceError("classification_failed", "the recogniser's answer does not fit the text");
}
