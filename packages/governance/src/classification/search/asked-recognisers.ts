import type { EntitySpan } from "@seneschal/kernel/ports";
import type { Recogniser } from "./recogniser.ts";

/** What an `EntityRecogniser` may find, and what it said of the texts it was asked about so far: plain data, so that it can be sent. */
export interface Recognised {
  readonly entities: readonly string[];
  /** By the text, folded as it is searched. */
  readonly said: ReadonlyMap<string, readonly EntitySpan[]>;
}

/** Nothing else can hold a name. */
const LETTER = /\p{L}/u;

/** Recognisers that find what was said of each text. Texts of which nothing was said yet are noted in `unheard`; those without a letter are not asked about. */
export function askedRecognisers({ entities, said }: Recognised, unheard: Set<string>): readonly Recogniser[] {
  return entities.map((entity) => ({
    entity,
    patterns: [],
    context: [],
    spans(folded) {
      if (!LETTER.test(folded)) return [];
      const spans = said.get(folded);
      if (spans === undefined) unheard.add(folded);
      return spans?.filter((span) => span.entity === entity) ?? [];
    },
  }));
}
