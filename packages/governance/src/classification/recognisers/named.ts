import { LEXICON } from "../lexicon.ts";
import type { Recogniser } from "../search/recogniser.ts";

/** Whatever a name can say of the values that stand under it. */
export const named: readonly Recogniser[] = [...new Set(LEXICON.map(({ entity }) => entity))].map((entity) => ({
  entity,
  patterns: [],
  byName: true,
  context: [],
}));
