import type { CompiledPolicy, PolicyAnswer, PolicyEngine, PolicySource } from "@seneschal/core/ports";
import { type Budgets, type CompileOptions, check, compileCached } from "@seneschal/rego";

export interface EmbeddedPolicyOptions extends CompileOptions {
  readonly budgets?: Partial<Budgets>;
  readonly print?: (message: string) => void;
}

/**
 * The Rego engine of this project, in process: no server, no compiled bundle. Evaluation is bounded by the budgets and a
 * monotonic wall clock.
 *
 * @example
 * ```ts
 * import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
 * const engine = embeddedPolicyEngine();
 * const compiled = await engine.compile([{ name: "p.rego", source: "package p\n\nallow if input.admin\n" }]);
 * if (compiled.ok) console.log(await compiled.policy.evaluate(["data", "p", "allow"], { admin: true }, { now: 0 }));
 * ```
 */
export function embeddedPolicyEngine(options: EmbeddedPolicyOptions = {}): PolicyEngine {
  const { budgets, print, ...compileOptions } = options;
  return {
    name: "embedded",
    check: async (sources) => check(sources, compileOptions),
    compile: async (sources: readonly PolicySource[]) => {
      const result = compileCached(sources, compileOptions);
      if (!result.ok) return result;
      const { policy } = result;
      const compiled: CompiledPolicy = {
        packages: policy.packages,
        evaluate: async (path, input, { now, data }) =>
          policy.evaluate(belowData(path), input, { now, data, clock, budgets, print }) as PolicyAnswer,
      };
      return { ok: true, policy: compiled };
    },
    close: async () => undefined,
  };
}

const clock = (): number => performance.now();

/** Paths of callers who keep and freeze theirs are looked up once: by the engine, too. */
const known = new WeakMap<readonly string[], readonly string[]>();

function belowData(path: readonly string[]): readonly string[] {
  if (path[0] !== "data") return path;
  const found = known.get(path);
  if (found !== undefined) return found;
  const below = Object.freeze(path.slice(1));
  if (Object.isFrozen(path)) known.set(path, below);
  return below;
}
