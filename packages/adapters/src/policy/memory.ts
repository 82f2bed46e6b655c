import type { Json, JsonObject } from "@seneschal/kernel";
import { checkOptions } from "@seneschal/kernel";
import type { PolicyAnswer, PolicyEngine, PolicyProblem, PolicySource } from "@seneschal/kernel/ports";

export interface MemoryPolicyOptions {
  /** The package path of each source. */
  readonly packages: (sources: readonly PolicySource[]) => readonly (readonly string[])[];
  readonly problems?: (sources: readonly PolicySource[]) => readonly PolicyProblem[];
  readonly answer: (
    sources: readonly PolicySource[],
    path: readonly string[],
    input: Json,
    options: { readonly now: number; readonly data?: JsonObject },
  ) => PolicyAnswer;
}

/** An engine that answers what it is told to: for tests of what calls a policy engine. What `answer` throws is an error answer. */
export function memoryPolicyEngine(options: MemoryPolicyOptions): PolicyEngine {
  checkOptions("options", options, { packages: "function", problems: "function?", answer: "function" });
  const problems = (sources: readonly PolicySource[]): readonly PolicyProblem[] => options.problems?.(sources) ?? [];
  return {
    name: "memory",
    check: async (sources) => problems(sources),
    compile: async (sources) => {
      const found = problems(sources);
      if (found.length > 0) return { ok: false, problems: found };
      return {
        ok: true,
        policy: {
          packages: options.packages(sources),
          evaluate: async (path, input, context) => {
            try {
              return options.answer(sources, path, input, context);
            } catch (error) {
              const message = error instanceof Error ? error.message : String(error);
              return { kind: "error", code: "eval_internal_error", message };
            }
          },
        },
      };
    },
    close: async () => undefined,
  };
}
