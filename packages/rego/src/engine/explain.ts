import { RegoCompileError } from "../errors.ts";
import type { Source } from "../syntax/ast.ts";
import { type CompileOptions, compileModules } from "./compile-modules.ts";
import { type EvaluateOptions, Policy, type Result } from "./policy.ts";
import { coverageOf, type FileCoverage, Recorder, type RuleTrace } from "./recorder.ts";

export interface Explanation {
  readonly result: Result;
  /** The rules that ran, innermost first, with the literal that each failed at. */
  readonly rules: readonly RuleTrace[];
}

/** A policy compiled to tell what it does. Slower than {@link Policy}, with the same answers. */
export interface TracedPolicy {
  readonly policy: Policy;
  /** Evaluates and tells which rules held and which failed, where. */
  explain(entrypoint: string | readonly string[], input?: unknown, options?: EvaluateOptions): Explanation;
  /** Rows that all evaluations so far reached and missed. */
  coverage(): readonly FileCoverage[];
}

/**
 * Compiles a policy that can be asked why. Throws {@link RegoCompileError}.
 *
 * @example
 * ```ts
 * import { compileTraced } from "@seneschal/rego";
 * const traced = compileTraced([{ name: "p.rego", source: "package p\n\nallow if {\n\tinput.role == \"admin\"\n}\n" }]);
 * const { rules } = traced.explain("data.p.allow", { role: "guest" });
 * console.log(rules[0]?.failedAt, rules[0]?.text); // 4 input.role == "admin"
 * ```
 */
export function compileTraced(sources: readonly Source[], options: CompileOptions = {}): TracedPolicy {
  const recorder = new Recorder(sources);
  const { compiled, problems } = compileModules(sources, options, recorder);
  if (compiled === undefined) throw new RegoCompileError(problems);
  const policy = new Policy(compiled, sources, options);
  return {
    policy,
    explain: (entrypoint, input, evaluateOptions) => {
      recorder.restart();
      const result = policy.evaluate(entrypoint, input, evaluateOptions);
      return { result, rules: [...recorder.traces] };
    },
    coverage: () => coverageOf(compiled.modules, recorder),
  };
}
