import { type CharacterBits, requiredCharacters } from "./character-bits.ts";
import { foldedWords } from "./context.ts";
import { narrowingOf } from "./narrowed.ts";
import { type ParsedPattern, parsePattern } from "./parse-pattern.ts";
import { type PatternDigits, patternDigits } from "./pattern-digits.ts";
import type { Pattern, Recogniser } from "./recogniser.ts";

const DEFAULT_PRIOR = 0.5;

/** A recogniser with every field there: objects of one shape are read several times as fast as those that have what they need. */
export interface PlannedRecogniser
  extends Omit<
    Required<Recogniser>,
    "patterns" | "country" | "languages" | "spans" | "byName" | "fit" | "validate" | "needs" | "onlyKnown" | "unless"
  > {
  readonly patterns: readonly SearchedPattern[];
  /** Place in the list: decides between equals. */
  readonly order: number;
  readonly country: string | undefined;
  readonly fit: Recogniser["fit"] | undefined;
  readonly validate: Recogniser["validate"] | undefined;
  readonly unless: Recogniser["unless"] | undefined;
  readonly needsText: string;
  readonly needsTest: ((folded: string) => boolean) | undefined;
}

/** What the matches of a pattern are known to be like. */
interface PatternFacts {
  readonly digits: PatternDigits;
  readonly required: CharacterBits;
}

interface SearchedPattern extends Pattern, PatternFacts {}

/** Recognisers in the order in which a search asks them. */
export interface SearchPlan {
  readonly always: readonly PlannedRecogniser[];
  /** Those that are looked for only under a hint or beside their words, by these words. */
  readonly known: readonly { readonly words: readonly string[]; readonly recognisers: readonly PlannedRecogniser[] }[];
  /** Those that are told what there is. */
  readonly told: readonly Recogniser[];
  /** Those that are looked for under names. */
  readonly named: ReadonlySet<string>;
}

const searchPlans = new WeakMap<readonly Recogniser[], SearchPlan>();

/** The search plan of a list; made once for each list. */
export function searchPlanOf(given: readonly Recogniser[]): SearchPlan {
  const recognisers = narrowingOf(given)?.of ?? given;
  let searchPlan = searchPlans.get(recognisers);
  if (searchPlan === undefined) {
    searchPlan = make(recognisers);
    searchPlans.set(recognisers, searchPlan);
  }
  return searchPlan;
}

function make(recognisers: readonly Recogniser[]): SearchPlan {
  const always: PlannedRecogniser[] = [];
  const known = new Map<readonly string[], PlannedRecogniser[]>();
  const told = recognisers.filter(({ spans }) => spans !== undefined);
  const named = new Set(recognisers.filter(({ byName }) => byName).map(({ entity }) => entity));
  for (const [order, recogniser] of recognisers.entries()) {
    if (recogniser.patterns.length === 0) continue;
    const { entity, country, fit, validate, unless, context, needs = "", prior = DEFAULT_PRIOR } = recogniser;
    const patterns = recogniser.patterns.map((pattern) => searched(entity, pattern));
    const digits = Math.max(recogniser.digits ?? 0, Math.min(...patterns.map((pattern) => pattern.digits.least)));
    const needsText = typeof needs === "string" ? needs : "";
    const needsTest = typeof needs === "string" ? undefined : needs;
    const planned = { order, entity, country, patterns, fit, validate, unless, context, digits, needsText, needsTest, prior };
    if (recogniser.onlyKnown !== true) always.push(planned);
    else known.set(context, [...(known.get(context) ?? []), planned]);
  }
  return { always, known: [...known].map(([words, recognisers]) => ({ words: foldedWords(words), recognisers })), told, named };
}

/** By pattern: lists share most of theirs, and reading them takes the longest of making a plan. */
const factsByPattern = new WeakMap<RegExp, PatternFacts>();
const factsOf = (pattern: ParsedPattern | undefined): PatternFacts => ({
  digits: patternDigits(pattern),
  required: requiredCharacters(pattern),
});
const UNREAD = factsOf(undefined);

function searched(entity: string, { name, regex, score }: Pattern): SearchedPattern {
  if (!(regex instanceof RegExp)) return { name, regex, score, digits: UNREAD.digits, required: UNREAD.required };
  // Without `g` it would find the first match again and again, with `y` none that does not begin where the one before ended.
  if (!regex.global || regex.sticky)
    throw new TypeError(
      `recognisers: the pattern ${JSON.stringify(name)} of ${entity} needs the flag g, without y, not "${regex.flags}"`,
    );
  const facts = factsByPattern.get(regex) ?? factsOf(parsePattern(regex));
  factsByPattern.set(regex, facts);
  return { name, regex, score, digits: facts.digits, required: facts.required };
}
