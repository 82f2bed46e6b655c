import { checkArgument, checkOptions } from "../argument.ts";
import { type Problem, RegoCompileError } from "../errors.ts";
import type { Source } from "../syntax/ast.ts";
import { type CompileOptions, compileModules, OPTION_KINDS } from "./compile-modules.ts";
import { Policy } from "./policy.ts";

/**
 * Compiles Rego v1 modules to an immutable policy. Throws {@link RegoCompileError} with every problem found.
 *
 * @example
 * ```ts
 * import { compile } from "@seneschal/rego";
 * const policy = compile([{ name: "authz.rego", source: "package authz\n\nallow if input.user == data.owner\n" }]);
 * console.log(policy.evaluate("data.authz.allow", { user: "ada" }, { data: { owner: "ada" } })); // { kind: 'defined', value: true }
 * ```
 */
export function compile(sources: readonly Source[], options: CompileOptions = {}): Policy {
  checkCompile(sources, options);
  const { compiled, problems } = compileModules(sources, options);
  if (compiled === undefined) throw new RegoCompileError(problems);
  return new Policy(compiled, sources, options);
}

/** Every problem of the modules, none if they compile. Whatever the texts are, it does not throw. */
export function check(sources: readonly Source[], options: CompileOptions = {}): readonly Problem[] {
  checkCompile(sources, options);
  return compileModules(sources, options).problems;
}

/** For who calls without types. */
function checkCompile(sources: readonly Source[], options: CompileOptions): void {
  checkOptions("options", options, OPTION_KINDS);
  checkArgument("sources", sources, "array");
  const fits =
    Array.isArray(sources) && sources.every((source) => typeof source?.name === "string" && typeof source.source === "string");
  if (!fits) throw new TypeError("sources: expected an array of { name, source }, both of them strings");
}
