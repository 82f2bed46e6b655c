import { hiddenSpans, markedSpans, markerForms, outsideOf, saysSomething } from "../redaction/markers.ts";
import { type RecogniseOptions, recognise } from "./recognise.ts";
import type { Finding, Recogniser } from "./recogniser.ts";
import type { TierPolicy } from "./tiers.ts";

/** What {@link recognise} finds in what a text shows: a finding that markers (of whatever key) or masks hide is none, and of one that they hide in part the rest is searched alone. */
export function recogniseShown(
  text: string,
  recognisers: readonly Recogniser[],
  policy: Pick<TierPolicy, "entities">,
  options: RecogniseOptions = {},
): readonly Finding[] {
  const found = recognise(text, recognisers, options);
  if (found.length === 0 || !/[<*]/.test(text)) return found;
  const hidden = hiddenSpans(text, markedSpans(text, { policy, recognisers }, markerForms));
  if (hidden.length === 0) return found;
  return found.filter(({ entity, start, end }) => {
    const shown = outsideOf(text, hidden, start, end);
    if (!saysSomething(shown)) return false;
    return shown === text.slice(start, end) || recognise(shown, recognisers, options).some((each) => each.entity === entity);
  });
}
