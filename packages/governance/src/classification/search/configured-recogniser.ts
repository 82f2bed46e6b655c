import { checkArgument } from "@seneschal/kernel";
import { boundedPattern } from "./bounded-pattern.ts";
import type { Recogniser } from "./recogniser.ts";

/** A recogniser as a configuration writes it: plain data. */
export interface ConfiguredRecogniser {
  readonly entity: string;
  /** An RE2 expression, see {@link boundedPattern}. */
  readonly pattern: string;
  /** 0..1, see `Pattern`. */
  readonly score: number;
  /** Words that make it surer; default none. */
  readonly context?: readonly string[];
  readonly country?: string | undefined;
}

/** The recogniser that a configuration means; `undefined` when its pattern is not one for {@link boundedPattern}. */
export function configuredRecogniser(recogniser: ConfiguredRecogniser): Recogniser | undefined {
  checkArgument("recogniser", recogniser, "object");
  const { entity, pattern, score, context = [], country } = recogniser;
  const regex = boundedPattern(pattern);
  if (regex === undefined) return undefined;
  return {
    entity,
    patterns: [{ name: "configured", regex, score }],
    context: context.map((word) => word.toLowerCase()),
    ...(country === undefined ? {} : { country }),
  };
}
