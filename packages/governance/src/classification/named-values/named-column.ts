import type { Surroundings } from "../lexicon.ts";

/** Offsets of a text, ends exclusive. */
export type Stretch = readonly [start: number, end: number];

/** Names around a name, the innermost first. */
export interface Around {
  readonly name: string;
  readonly outer: Around | undefined;
}

/** Names further out say nothing. */
const MOST_AROUND = 32;

/** The names around a name from the innermost on, as far as they say something. */
export function* outward(around: Around | undefined): Generator<Around> {
  for (let at = around, i = 0; at !== undefined && i < MOST_AROUND; at = at.outer, i++) yield at;
}

/** The values of a text that stand under one name there. */
export interface NamedColumn {
  readonly name: string;
  /** What the name belongs to, and the names beside it. */
  readonly beside: Surroundings;
  /** Names of what it stands in. */
  readonly around?: Around | undefined;
  readonly values: readonly Stretch[];
  /** What values say together that go over several stretches, with and without a blank where they are cut. */
  readonly joined?: readonly (readonly string[])[];
}
