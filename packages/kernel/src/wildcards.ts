import { checkArgument } from "./argument.ts";

/**
 * Where in a pattern of `*` (any text) and `?` (any character) one may stand having read all of a text; its length is among them when the
 * pattern fits. Takes time by the product of the lengths, whatever the pattern is.
 *
 * @example
 * ```ts
 * import { wildcardEnds } from "@seneschal/kernel";
 * console.log(wildcardEnds("sales.*", "sales.orders").has("sales.*".length)); // true
 * ```
 */
export function wildcardEnds(pattern: string, text: string): ReadonlySet<number> {
  checkArgument("pattern", pattern, "string");
  checkArgument("text", text, "string");
  // A star may be over as soon as it begins.
  const settle = (at: Iterable<number>) => {
    const all = new Set<number>();
    for (const start of at) {
      let i = start;
      all.add(i);
      while (pattern[i] === "*") all.add(++i);
    }
    return all;
  };
  let ends = settle([0]);
  for (const character of text)
    ends = settle(
      [...ends].flatMap((at) => {
        const symbol = pattern[at];
        if (symbol === "*") return [at];
        return symbol !== undefined && (symbol === "?" || symbol === character) ? [at + 1] : [];
      }),
    );
  return ends;
}
