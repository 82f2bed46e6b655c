import { type CompileOptions, compile, type EvaluateOptions, type Result, type Source } from "@seneschal/rego";
import { expect } from "vitest";
import * as onLibraries from "../src/builtins/on-libraries.ts";
import * as plain from "../src/builtins/plain.ts";
import { compileAhead } from "../src/engine/compile-to-javascript.ts";
import { type LoadedPolicy, loadModule } from "../src/plan/load-module.ts";

/** The policy that a module for these entrypoints loads, with no builtins but those of the groups that the module imports. */
export function ahead(sources: readonly Source[], entrypoints: readonly string[], options: CompileOptions = {}): LoadedPolicy {
  const { content, plainGroups, libraryGroups } = compileAhead(sources, { ...options, entrypoints });
  const groups: Readonly<Record<string, unknown>> = { ...plain, ...onLibraries };
  const builtins = [...plainGroups, ...libraryGroups].flatMap((name) => groups[name] as typeof plain.coreBuiltins);
  return loadModule(content, builtins, options.builtins === undefined ? {} : { builtins: options.builtins });
}

/** The answer of a policy, which is that of the same policy compiled ahead. */
export function bothWays(
  sources: readonly Source[],
  entrypoint: string,
  input?: unknown,
  options: EvaluateOptions = {},
  how: CompileOptions = {},
): Result {
  const printed: string[] = [];
  const heard = (line: string): void => {
    printed.push(line);
    options.print?.(line);
  };
  const result = compile(sources, how).evaluate(entrypoint, input, { ...options, print: heard });
  // A hand of a clock moves on between the two.
  if (options.clock !== undefined) return result;
  const again: string[] = [];
  const answer = ahead(sources, [entrypoint], how).evaluate(entrypoint, input, {
    ...options,
    print: (line) => void again.push(line),
  });
  expect({ answer, printed: again }, "compiled ahead").toEqual({ answer: result, printed });
  return result;
}
