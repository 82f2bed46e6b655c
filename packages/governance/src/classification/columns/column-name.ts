import { checkArgument } from "@seneschal/kernel";
import { recogniseShown } from "../search/recognise-shown.ts";
import type { Finding, Recogniser } from "../search/recogniser.ts";
import { DEFAULT_TIER_POLICY, type TierPolicy } from "../tiers.ts";

/** A word of letters alone is a name: it is no value that has a shape. */
const PLAIN = /^[\p{L}_$][\p{L}_$-]{0,15}$/u;
const MOST = 1024;

/** The name of a column, or of a nested one the names of its members from the outermost on. */
export type ColumnPath = string | readonly string[];

/** Values in what stands where a name should: the first row of a CSV without names, the keys of a map by address. */
export function valuesInName(
  name: ColumnPath,
  recognisers: readonly Recogniser[],
  policy: Pick<TierPolicy, "entities"> = DEFAULT_TIER_POLICY,
): readonly Finding[] {
  return [name].flat().flatMap((part) => (PLAIN.test(part) ? [] : recogniseShown(part, recognisers, policy)));
}

/**
 * What a column is called to people: its name (of a nested one the names of its members, dotted) with each value that is found in it as `<ENTITY>`, control characters and lone surrogates as U+FFFD, at most 1024
 * characters, and `(no name)` where there is none. A name in which nothing is found is kept.
 *
 * @example
 * ```ts
 * import { columnName, DEFAULT_RECOGNISERS } from "@seneschal/governance";
 * console.log(columnName("total of ada@example.org", DEFAULT_RECOGNISERS)); // total of <EMAIL_ADDRESS>
 * ```
 */
export function columnName(name: ColumnPath, recognisers: readonly Recogniser[]): string {
  checkArgument("name", name, typeof name === "string" ? "string" : "array");
  checkArgument("recognisers", recognisers, "array");
  const kept = [name]
    .flat()
    .map((part) => withoutValues(part, recognisers))
    .join(".");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced
  const told = kept.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\p{Surrogate}]/gu, "\ufffd");
  return told.length > MOST ? told.slice(0, MOST).replace(/\p{Surrogate}$/u, "") : told || "(no name)";
}

function withoutValues(name: string, recognisers: readonly Recogniser[]): string {
  let kept = "";
  let at = 0;
  for (const { entity, start, end } of valuesInName(name, recognisers)) {
    kept += `${name.slice(at, start)}<${entity}>`;
    at = end;
  }
  return kept + name.slice(at);
}
