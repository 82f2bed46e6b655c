import { checkArgument, checkOptions } from "@seneschal/kernel";
import { governanceError } from "../../errors.ts";
import type { Finding, Recogniser } from "./recogniser.ts";

/** What a caller is told of what a text holds, as Presidio's analyzer takes it: less than all of it. */
export interface Narrowing {
  /** These alone. */
  readonly entities?: readonly string[];
  /** Values, letter by letter, that are no findings. */
  readonly allowList?: readonly string[];
  /** Findings of a lower score are none, 0..1. */
  readonly scoreThreshold?: number;
  /** Entities that are told whatever the others say. */
  readonly always?: readonly string[];
}

/** A narrowing, looked up. */
export interface Narrowed {
  /** The list that was narrowed. */
  readonly of: readonly Recogniser[];
  readonly entities?: ReadonlySet<string>;
  readonly keeps: (finding: Pick<Finding, "entity" | "score">, value: string) => boolean;
}

const narrowings = new WeakMap<readonly Recogniser[], Narrowed>();

/**
 * Recognisers of which less is told, for {@link recognise}, `createClassifier` and `redact`: only some entities, no values of an allow list, nothing below a score. A classifier of them tells of names, too, only what is
 * among the entities; what it could not read, and what the catalogue says, counts as ever.
 *
 * Source: `entities`, `allow_list` (with `allow_list_match` "exact") and `score_threshold` of Presidio's `POST /analyze`.
 *
 * @throws CodedError `validation_failed`: a score that is none, naming the member
 *
 * @example
 * ```ts
 * import { DEFAULT_RECOGNISERS, narrowed, recognise } from "@seneschal/governance";
 * const recognisers = narrowed(DEFAULT_RECOGNISERS, { allowList: ["help@example.org"] });
 * console.log(recognise("help@example.org or ada@example.org", recognisers).map(({ start }) => start)); // [ 20 ]
 * ```
 */
export function narrowed(recognisers: readonly Recogniser[], narrowing: Narrowing): readonly Recogniser[] {
  checkArgument("recognisers", recognisers, "array");
  checkOptions("narrowing", narrowing, { entities: "array?", allowList: "array?", scoreThreshold: "number?", always: "array?" });
  const { entities, allowList = [], scoreThreshold = 0 } = narrowing;
  if (!(scoreThreshold >= 0 && scoreThreshold <= 1))
    throw governanceError("validation_failed", "scoreThreshold: expected a number from 0 to 1", { field: "scoreThreshold" });
  if (entities === undefined && allowList.length === 0 && scoreThreshold === 0) return recognisers;
  const allowed = new Set(allowList);
  const always = new Set(narrowing.always);
  const list = [...recognisers];
  narrowings.set(list, {
    of: recognisers,
    ...(entities === undefined ? {} : { entities: new Set([...entities, ...always]) }),
    keeps: ({ entity, score }, value) => always.has(entity) || (score >= scoreThreshold && !allowed.has(value)),
  });
  return list;
}

/** How a list was narrowed, if it was. */
export function narrowingOf(recognisers: readonly Recogniser[]): Narrowed | undefined {
  return narrowings.get(recognisers);
}
