import { RE2JS } from "re2js";
import type { Matcher } from "./recogniser.ts";

/**
 * A pattern of a stranger, run by RE2: linear time whatever it says. `undefined` when it is not an RE2 expression (no back references, no
 * lookaround).
 */
export function boundedPattern(source: string): Matcher | undefined {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(source);
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
