import type { PolicyAnswer } from "@seneschal/kernel/ports";
import { compile, compileCached, type Policy } from "@seneschal/rego";
import { serveTasks, workerSettings } from "../worker-pool/index.ts";
import type { PolicyOutcome, PolicyTask, PolicyWorkerSettings } from "./messages.ts";

const { options, budgets } = workerSettings<PolicyWorkerSettings>();
const clock = (): number => performance.now();
const timed = <T>(work: () => T): readonly [T, number] => {
  const start = clock();
  return [work(), clock() - start];
};

/** Beyond so many milliseconds a policy is slow or the compiler is cold; a second time tells, if it is not too dear. */
const COLD = { from: 5, to: 100 };

/** How long the compilation of what the engine keeps took. */
const times = new WeakMap<Policy, number>();

serveTasks(({ sources, evaluation }: PolicyTask): PolicyOutcome => {
  const [result, first] = timed(() => compileCached(sources, options));
  if (!result.ok) return { problems: result.problems, packages: [], compiled: first, evaluated: 0 };
  const { policy } = result;
  let compiled = times.get(policy);
  if (compiled === undefined) {
    const again = first > COLD.from && first < COLD.to ? timed(() => compile(sources, options))[1] : first;
    compiled = Math.min(first, again);
    times.set(policy, compiled);
  }
  if (evaluation === undefined) return { problems: [], packages: policy.packages, compiled, evaluated: 0 };
  const { path, input, now, data } = evaluation;
  const [answer, evaluated] = timed(() => policy.evaluate(path, input, { now, data, clock, budgets }) as PolicyAnswer);
  return { problems: [], packages: [], compiled, answer, evaluated };
});
