import { checkArgument } from "@seneschal/kernel";
import { type Timestamp, timestamp } from "./time.ts";

/** So many different cards of one person are kept as evidence: the first ones. */
export const maxSeenCards = 16;

/** A card that another organisation has stated of a person, as it was first seen. `Statement` is what proves that it was stated. */
export interface SeenCard<Statement> {
  readonly fingerprint: string;
  readonly first_at: Timestamp;
  readonly statement: Statement;
}

/** What a statement comes to. */
export interface CardSight<Statement> {
  /** What is kept from now on; absent: this card was seen before. */
  readonly keep?: readonly SeenCard<Statement>[];
  /** Of one that is new: a first card is news, another one is what the two statements prove. */
  readonly result?: "success" | "denied";
  /** A different card of the same person that was stated before, or `null`. */
  readonly other: SeenCard<Statement> | null;
}

/**
 * Judges a card that is stated of a person by those that were stated before, each fingerprint once, in the order in which they came.
 *
 * @example
 * ```ts
 * import { seeCard } from "@seneschal/core/keys";
 * const first = seeCard([], { fingerprint: "aa", statement: "signed" }, 0);
 * const second = seeCard(first.keep ?? [], { fingerprint: "bb", statement: "signed too" }, 1000);
 * console.log(first.result, second.result, second.other?.fingerprint); // success denied aa
 * ```
 */
export function seeCard<Statement>(
  known: readonly SeenCard<Statement>[],
  shown: Pick<SeenCard<Statement>, "fingerprint" | "statement">,
  now: number,
): CardSight<Statement> {
  checkArgument("known", known, "array");
  checkArgument("shown", shown, "object");
  checkArgument("now", now, "number");
  const { fingerprint, statement } = shown;
  const other = known.find((one) => one.fingerprint !== fingerprint) ?? null;
  if (known.some((one) => one.fingerprint === fingerprint)) return { other };
  const newest = { fingerprint, first_at: timestamp(now), statement };
  return {
    keep: known.length < maxSeenCards ? [...known, newest] : known,
    result: known.length === 0 ? "success" : "denied",
    other,
  };
}
