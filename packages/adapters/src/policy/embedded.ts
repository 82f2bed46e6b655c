import { checkOptions, isCoded } from "@seneschal/kernel";
import type {
  CompiledPolicy,
  PolicyAnswer,
  PolicyEngine,
  PolicyProblem,
  PolicySource,
  PolicyWork,
} from "@seneschal/kernel/ports";
import { type Budgets, type CompileOptions, check, compileCached, DEFAULT_BUDGETS } from "@seneschal/rego";
import { openWorkerPool } from "../worker-pool/index.ts";
import type { PolicyOutcome, PolicyTask, PolicyWorkerSettings } from "./messages.ts";

export interface EmbeddedPolicyOptions extends CompileOptions {
  readonly budgets?: Partial<Budgets>;
  readonly print?: (message: string) => void;
  /** Threads for what has an owner and is dear, at most. Default 2; 0, or own `builtins` or `print`, which cannot be sent: the calling thread does it. */
  readonly threads?: number;
  /** Milliseconds that compilation and evaluation may take together in a thread. Default 5000. */
  readonly deadline?: number;
}

/** Milliseconds that the calling thread spends on an owner's policy: to compile it, and at each evaluation. */
const HERE = 5;

/**
 * The Rego engine of this project, in process: no server, no compiled bundle. Evaluation is bounded by the budgets and a
 * monotonic wall clock.
 *
 * What has an owner is compiled in a worker. What took it at most a few milliseconds is compiled in the calling thread too, and evaluated there in
 * microseconds; an evaluation that is not done after a few milliseconds is begun again in a worker with its whole budget, and so are those of that policy that follow, until it is quick again.
 *
 * @example
 * ```ts
 * import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
 * const engine = embeddedPolicyEngine();
 * const compiled = await engine.compile([{ name: "p.rego", source: "package p\n\nallow if input.admin\n" }]);
 * if (compiled.ok) console.log(await compiled.policy.evaluate(["data", "p", "allow"], { admin: true }, { now: 0 })); // { kind: 'defined', value: true }
 * ```
 */
export function embeddedPolicyEngine(options: EmbeddedPolicyOptions = {}): PolicyEngine {
  checkOptions("options", options, {
    budgets: "object?",
    print: "function?",
    threads: "number?",
    deadline: "number?",
    allow: "array?",
    deny: "array?",
    capabilities: "object?",
    builtins: "array?",
    tests: "boolean?",
    strict: "boolean?",
  });
  const { budgets, print, threads = 2, deadline = 5000, ...compileOptions } = options;
  const { allow, deny, capabilities, builtins, strict } = compileOptions;
  const settings: PolicyWorkerSettings = {
    options: { ...(allow && { allow }), ...(deny && { deny }), ...(capabilities && { capabilities }), ...(strict && { strict }) },
    budgets,
  };
  const pool =
    threads === 0 || builtins !== undefined || print !== undefined
      ? undefined
      : openWorkerPool<PolicyTask, PolicyOutcome>({
          name: "policies",
          module: new URL("./worker", import.meta.url),
          settings,
          workers: threads,
          deadline,
          waitingPerOwner: 64,
          idle: 60_000,
        });
  const whole = { ...DEFAULT_BUDGETS, ...budgets };
  const little: Budgets = { ...whole, milliseconds: Math.min(HERE, whole.milliseconds) };

  /** A compiled policy; `dear` until its evaluations are quick. `here` is what this thread may do itself. */
  const evaluable = (sources: readonly PolicySource[], packages: CompiledPolicy["packages"], here: boolean): CompiledPolicy => {
    let dear = !here;
    // Compiled when first asked: most of what is only written is never asked.
    let own: ReturnType<typeof compileCached> | undefined;
    return {
      packages,
      async filter(path, rows, input, { now }) {
        own ??= compileCached(sources, compileOptions);
        if (!own.ok) return { kind: "error", code: "eval_internal_error", message: "the policy does not compile" };
        return own.policy.partial(refOf(["data", ...belowData(path)]), rows, input, { now, clock, budgets, print });
      },
      async evaluate(path, input, { now, data, owner }) {
        const below = belowData(path);
        const apart = owner !== undefined && pool !== undefined;
        if (here && !(apart && dear)) {
          own ??= compileCached(sources, compileOptions);
          if (!own.ok) return { kind: "error", code: "eval_internal_error", message: "the policy does not compile" };
          const answer = own.policy.evaluate(below, input, { now, data, clock, budgets: apart ? little : budgets, print });
          if (!apart || answer.kind !== "error" || answer.code !== "eval_limit_error") return answer as PolicyAnswer;
          dear = true;
        }
        if (pool === undefined) return { kind: "error", code: "eval_internal_error", message: "the policy does not compile" };
        try {
          const evaluation = { path: below, input, now, ...(data === undefined ? {} : { data }) };
          const { answer, evaluated } = await pool.run({ sources, evaluation }, owner ?? "");
          dear = !here || evaluated > HERE / 2;
          return answer ?? { kind: "error", code: "eval_internal_error", message: "the policy does not compile" };
        } catch (error) {
          if (isCoded(error, "service_unavailable")) throw error;
          const late = isCoded(error, "deadline_exceeded");
          return late
            ? { kind: "error", code: "eval_limit_error", message: "evaluation exceeded its deadline" }
            : { kind: "error", code: "eval_internal_error", message: "evaluation failed" };
        }
      },
    };
  };

  return {
    name: "embedded",
    async check(sources, work) {
      if (pool === undefined || work?.owner === undefined) return check(sources, compileOptions);
      return (await compileApart(pool.run, sources, work)).problems;
    },
    async compile(sources, work) {
      if (pool === undefined || work?.owner === undefined) {
        const result = compileCached(sources, compileOptions);
        return result.ok ? { ok: true, policy: evaluable(sources, result.policy.packages, true) } : result;
      }
      const { problems, packages, compiled } = await compileApart(pool.run, sources, work);
      if (problems.length > 0) return { ok: false, problems };
      return { ok: true, policy: evaluable(sources, packages, compiled <= HERE) };
    },
    state: () => pool?.state(),
    close: async () => pool?.close(),
  };
}

type Compiled = Pick<PolicyOutcome, "packages" | "compiled"> & { readonly problems: readonly PolicyProblem[] };

/** Compiles in a worker. What takes too long there has a problem. */
async function compileApart(
  run: (task: PolicyTask, owner: string) => Promise<PolicyOutcome>,
  sources: readonly PolicySource[],
  { owner = "" }: PolicyWork,
): Promise<Compiled> {
  try {
    return await run({ sources }, owner);
  } catch (error) {
    if (!isCoded(error, "deadline_exceeded")) throw error;
    const problem = { code: "rego_limit_error", message: "policy takes too long to compile", file: sources[0]?.name ?? "" };
    return { problems: [{ ...problem, row: 1, col: 1 }], packages: [], compiled: 0 };
  }
}

/** A path of names as a query. */
const refOf = ([root = "", ...names]: readonly string[]): string =>
  root + names.map((name) => `[${JSON.stringify(name)}]`).join("");

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
