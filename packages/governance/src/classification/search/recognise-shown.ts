import { hiddenSpans, markedSpans, markerForms, outsideOf, saysSomething } from "../../redaction/markers.ts";
import type { TierPolicy } from "../tiers.ts";
import { EncodedRuns } from "./encoded-texts.ts";
import { type RecogniseOptions, recognise, recogniseEncoded } from "./recognise.ts";
import type { Finding, Recogniser } from "./recogniser.ts";

/**
 * What {@link recognise} finds in what a text shows: a finding that markers (of whatever key) or masks hide is none, and of one that markers hide in part the rest is searched alone. Stars that hide only a part may be
 * the value's own.
 */
export function recogniseShown(
  text: string,
  recognisers: readonly Recogniser[],
  policy: Pick<TierPolicy, "entities">,
  options: RecogniseOptions = {},
  encoded = new EncodedRuns(text),
): readonly Finding[] {
  const found = recogniseEncoded(encoded, recognisers, options);
  if (found.length === 0 || !/[<*]/.test(text)) return found;
  const marked = markedSpans(text, { policy, recognisers }, markerForms);
  const hidden = hiddenSpans(text, marked);
  if (hidden.length === 0) return found;
  return found.filter(({ entity, start, end }) => {
    if (!saysSomething(outsideOf(text, hidden, start, end))) return false;
    const shown = outsideOf(text, marked, start, end);
    return shown === text.slice(start, end) || recognise(shown, recognisers, options).some((each) => each.entity === entity);
  });
}
