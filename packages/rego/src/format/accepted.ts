import { deprecatedBuiltins } from "../builtins/deprecated.ts";
import { check } from "../engine/compile.ts";
import { MAX_PROBLEMS, type Problem } from "../errors.ts";
import type { Source } from "../syntax/ast.ts";

const DEPRECATED = deprecatedBuiltins.map(({ name }) => name);

/**
 * Why v1 would refuse a v0 source that was written as v1: what is wrong of the text and was not of the source. Calls of builtins that v1 has no
 * more are named where they stand in the source, everything else where it stands in the text.
 */
export function refusedByV1(source: Source, text: string): readonly Problem[] {
  const before = check([source]);
  const calls = newProblems(before, check([source], { deny: DEPRECATED })).map((problem) => {
    const name = DEPRECATED.find((one) => problem.message.endsWith(` ${one}`));
    return name === undefined
      ? problem
      : { ...problem, code: "rego_type_error" as const, message: `deprecated built-in function calls in expression: ${name}` };
  });
  if (calls.length > 0) return calls;
  // Of a list that is cut nobody knows what it left out: such a source is a part of something that is not here, as tests of another file are.
  if (before.length >= MAX_PROBLEMS) return [];
  const after = check([{ name: source.name, source: text, version: "v1" }]);
  return newProblems(before, after).map((problem) => ({ ...problem, message: `as v1: ${problem.message}` }));
}

/** Those of `after` that `before` has not, or not as often; wherever they stand. */
function newProblems(before: readonly Problem[], after: readonly Problem[]): readonly Problem[] {
  const left = new Map<string, number>();
  const keyOf = ({ code, message }: Problem): string => `${code} ${message}`;
  for (const problem of before) left.set(keyOf(problem), (left.get(keyOf(problem)) ?? 0) + 1);
  return after.filter((problem) => {
    const n = left.get(keyOf(problem)) ?? 0;
    if (n > 0) left.set(keyOf(problem), n - 1);
    return n === 0;
  });
}
