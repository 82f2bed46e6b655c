import type { Matcher, Recogniser } from "../search/recogniser.ts";
import { organisationsIn } from "./organisations.ts";
import { isFamilyName, isGivenName, type ProseSpan, personsIn } from "./persons.ts";
import { placesIn } from "./places.ts";
import { scriptSpansIn } from "./scripts.ts";
import { subjectsIn } from "./subjects.ts";
import { userNamesIn } from "./user-names.ts";
import { wordsIn } from "./words.ts";

/** The last text that was read: every recogniser below looks at the same text in turn. */
let last: { readonly text: string; readonly spans: ReadonlyMap<string, readonly ProseSpan[]> } = { text: "", spans: new Map() };
const NOTHING: readonly ProseSpan[] = [];

function read(text: string): ReadonlyMap<string, readonly ProseSpan[]> {
  if (text === last.text) return last.spans;
  const spans = new Map<string, ProseSpan[]>();
  if (/\p{L}{2}/u.test(text)) {
    const words = wordsIn(text);
    const persons = personsIn(text, words);
    const users = userNamesIn(text, isGivenName, isFamilyName);
    for (const span of [
      ...persons,
      ...users,
      ...placesIn(text, words),
      ...organisationsIn(text, words),
      ...subjectsIn(text, words, persons),
      ...scriptSpansIn(text),
    ]) {
      const same = spans.get(span.entity);
      if (same === undefined) spans.set(span.entity, [span]);
      else same.push(span);
    }
    // They come rule by rule; a search asks for them in the order of the text, the longer before the shorter.
    for (const same of spans.values()) same.sort((a, b) => a.start - b.start || b.end - a.end);
  }
  last = { text, spans };
  return spans;
}

/** What the reading of the prose found of one entity, in the manner of a regular expression. Takes time linear in the text for all matches together. */
function matcher(entity: string): Matcher {
  let next = 0;
  /** The spans that were looked through last, and how many of them begin before `next`. */
  let spans = NOTHING;
  let passed = 0;
  return {
    get lastIndex() {
      return next;
    },
    set lastIndex(value) {
      if (value < next) passed = 0;
      next = value;
    },
    exec(text) {
      const own = read(text).get(entity) ?? NOTHING;
      if (own !== spans) [spans, passed] = [own, 0];
      while (passed < spans.length && (spans[passed]?.start ?? 0) < next) passed++;
      const found = spans[passed];
      next = found?.end ?? 0;
      if (found === undefined) {
        [spans, passed] = [NOTHING, 0];
        return null;
      }
      return { 0: text.slice(found.start, found.end), index: found.start };
    },
  };
}

const reads = (entity: string, name: string, score: number, prior: number): Recogniser => ({
  entity,
  patterns: [{ name, regex: matcher(entity), score }],
  context: [],
  prior,
});

/** Names of people, places and companies, and categories of personal data, found in sentences by words and what stands around them. */
export const prose: readonly Recogniser[] = [
  reads("PERSON", "name in a sentence", 0.6, 0.4),
  reads("USERNAME", "who logs in", 0.6, 0.4),
  reads("LOCATION", "city or country", 0.5, 0.2),
  reads("ORGANIZATION", "form of law or institution", 0.5, 0.3),
  reads("HEALTH_DATA", "illness or drug of a person", 0.6, 0.1),
  reads("SALARY", "pay of a person", 0.6, 0.1),
  reads("RELIGION", "faith of a person", 0.6, 0.1),
  reads("UNION_MEMBERSHIP", "union and a person", 0.6, 0.1),
  reads("SEXUAL_ORIENTATION", "orientation of a person", 0.6, 0.1),
  reads("POLITICAL_OPINION", "party and a person", 0.6, 0.1),
  reads("BIOMETRIC_DATA", "biometrics of a person", 0.6, 0.1),
  reads("GENETIC_DATA", "genetics of a person", 0.6, 0.1),
  reads("ETHNICITY", "descent of a person", 0.6, 0.1),
  reads("CRIMINAL_RECORD", "record of a person", 0.6, 0.1),
];
