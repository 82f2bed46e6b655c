import type { Json, JsonObject } from "@seneschal/kernel";
import type { PolicyAnswer, PolicyProblem, PolicySource } from "@seneschal/kernel/ports";
import type { Budgets, CompileOptions } from "@seneschal/rego";

/** What the workers of a policy engine have in common. */
export interface PolicyWorkerSettings {
  readonly options: Pick<CompileOptions, "allow" | "deny" | "capabilities">;
  readonly budgets: Partial<Budgets> | undefined;
}

/** What a worker is asked: to compile, or to evaluate besides. */
export interface PolicyTask {
  readonly sources: readonly PolicySource[];
  readonly evaluation?: {
    readonly path: readonly string[];
    readonly input: Json;
    readonly now: number;
    readonly data?: JsonObject;
  };
}

/** What came of it, and in how many milliseconds. */
export interface PolicyOutcome {
  readonly problems: readonly PolicyProblem[];
  readonly packages: readonly (readonly string[])[];
  /** To compile the sources, now or when that was done. */
  readonly compiled: number;
  readonly answer?: PolicyAnswer;
  readonly evaluated: number;
}
