import {
  countsAcross,
  type Found,
  governanceError,
  hidden,
  type RedactionRule,
  readTogether,
  type Said,
} from "@seneschal/governance";
import { EVERYTHING, search, type TextGuard } from "./text-guard.ts";

/** A text of a talk, to be hidden in. */
export interface TalkText extends Said {
  text: string;
}

/** What was found in texts that are read as one. */
export interface GuardedTalk {
  readonly hidden: ReadonlySet<string>;
  /** What is still there, as the rules let it stay. */
  readonly left: ReadonlySet<string>;
}

/** With what a model, or who reads its answer, may put two messages together. */
const JOINTS = ["", "\n"];
const ROUNDS = 100;

/**
 * Hides, in the texts themselves, what several messages of a talk hold together: values that were cut over messages, and those that one message announces and another one tells. The value stands in the first message that had
 * something of it, and the others lose their part. Throws `classification_failed` where that has no end.
 */
export async function guardTalk(
  guard: TextGuard,
  talk: readonly TalkText[],
  rules: readonly RedactionRule[],
): Promise<GuardedTalk> {
  const taken = new Set<string>();
  const left = new Set<string>();
  /** What was read and needs no hiding. */
  const clean = new Set<string>();
  const hideOnce = async (): Promise<boolean> => {
    for (const stretches of readTogether(talk))
      for (const joint of JOINTS) {
        const parts = stretches.flatMap(({ place, start, end }, i) => [
          ...(i === 0 ? [] : [joint]),
          talk[place]?.text.slice(start, end) ?? "",
        ]);
        const whole = parts.join("");
        if (clean.has(whole)) continue;
        const counts = ({ start, end }: { readonly start: number; readonly end: number }): boolean =>
          countsAcross(parts, start, end);
        const all = (await search(guard, whole, false, EVERYTHING, false)).redactions.filter(counts);
        const ruled = all.length === 0 ? undefined : await search(guard, whole, false, rules, false);
        const found = ruled?.redactions
          .filter(counts)
          .map(({ entity, start, end, redactedStart, redactedEnd, operator }): Found => {
            const back = operator === "tokenise" || operator === "encrypt";
            return { entity, start, end, ...(back ? {} : { written: ruled.text.slice(redactedStart, redactedEnd) }) };
          });
        if (found === undefined || found.length === 0) {
          for (const { entity } of all) left.add(entity);
          clean.add(whole);
          continue;
        }
        for (const { entity } of found) taken.add(entity);
        const now = hidden(parts, found, guard.placeholders);
        for (const [i, { place, start, end }] of stretches.entries()) {
          const said = talk[place];
          if (said !== undefined) said.text = said.text.slice(0, start) + (now[2 * i] ?? "") + said.text.slice(end);
        }
        return true;
      }
    return false;
  };
  for (let round = 0; round < ROUNDS; round++) if (!(await hideOnce())) return { hidden: taken, left };
  throw governanceError("classification_failed", "a talk could not be redacted");
}
