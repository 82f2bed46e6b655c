import { RE2JS } from "re2js";
import type { Matcher } from "./recogniser.ts";

/** Longest run that an open repetition (`*`, `+`, `{n,}`) stands for: identifiers are shorter. */
const LONGEST = 255;

/**
 * A pattern of a stranger, run by RE2: one search is linear in the text whatever the pattern says. Open repetitions end at 255, so that all
 * searches together are linear too (`y(.*z)?` would look to the end of the text from every `y`). `undefined` when it is no RE2 expression (no back references, no
 * lookaround), when its bounds multiply beyond what RE2 takes, or when it matches the empty text.
 */
export function boundedPattern(source: string): Matcher | undefined {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(withBounds(source));
    if (compiled.matches("")) return undefined;
  } catch {
    return undefined;
  }
  let text = "";
  let matcher = compiled.matcher("");
  return {
    lastIndex: 0,
    exec(input) {
      if (input !== text) {
        text = input;
        matcher = compiled.matcher(input);
      }
      if (this.lastIndex > input.length || !matcher.find(this.lastIndex)) {
        this.lastIndex = 0;
        return null;
      }
      const start = matcher.start();
      const found = matcher.group() ?? "";
      this.lastIndex = start + found.length;
      return { 0: found, index: start };
    },
  };
}

/** The same pattern with an end to every repetition; escapes, quotations and classes are left as they are. */
function withBounds(source: string): string {
  return source.replace(
    /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?\w{1,16}:\]|[^\]\\])*\]|\{(\d{1,4}),\}|[*+]/g,
    (token, least: string | undefined) => {
      if (least !== undefined) return `{${least},${Math.max(Number(least), LONGEST)}}`;
      if (token === "*") return `{0,${LONGEST}}`;
      return token === "+" ? `{1,${LONGEST}}` : token;
    },
  );
}
