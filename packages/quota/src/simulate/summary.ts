import { checkArgument } from "@seneschal/kernel";
import type { Simulation } from "./simulate.ts";

/** Figures of one tenant, or of all of them under the name `all`; times in seconds. */
export interface Figures {
  readonly tenant: string;
  readonly jobs: number;
  readonly finished: number;
  readonly refusals: number;
  readonly meanWait: number;
  readonly p95Wait: number;
  /** Mean of (wait + runtime) / runtime, a runtime of less than 10 s counted as 10 s (Feitelson, "Metrics for parallel job scheduling", 2001). */
  readonly boundedSlowdown: number;
  /** From the first submission to the last end. */
  readonly makespan: number;
  readonly preemptions: number;
  /** Seconds of work that preemption threw away. */
  readonly lost: number;
  /** Time-weighted mean share of the nodes. */
  readonly share: number;
}

/** Sums a simulation up, tenants in order of name, then `all`. */
export function summarise(simulation: Simulation): readonly Figures[] {
  checkArgument("simulation", simulation, "object");
  const { jobs, samples } = simulation;
  const tenants = [...new Set(jobs.map(({ tenant }) => tenant))].sort();
  const figures = (tenant: string, mine: typeof jobs, share: (at: number) => number): Figures => {
    const waits = mine.flatMap(({ submit, start }) => (start === null ? [] : [start - submit])).sort((a, b) => a - b);
    return {
      tenant,
      jobs: mine.length,
      finished: mine.filter(({ end }) => end !== null).length,
      refusals: mine.reduce((sum, { refusals }) => sum + refusals, 0),
      meanWait: average(waits),
      p95Wait: waits[Math.min(waits.length - 1, Math.floor(waits.length * 0.95))] ?? 0,
      boundedSlowdown: average(mine.flatMap(slowdown)),
      makespan: makespanOf(mine),
      preemptions: mine.reduce((sum, job) => sum + job.preemptions, 0),
      lost: mine.reduce((sum, job) => sum + job.lost, 0),
      share: mean(samples, share),
    };
  };
  return [
    ...tenants.map((tenant) =>
      figures(
        tenant,
        jobs.filter((job) => job.tenant === tenant),
        (i) => samples[i]?.shares[tenant] ?? 0,
      ),
    ),
    figures("all", jobs, (i) => samples[i]?.utilisation ?? 0),
  ];
}

/** Below this a runtime says more about rounding than about waiting. */
const SHORT = 10;

function slowdown({ submit, start, end }: Simulation["jobs"][number]): readonly number[] {
  if (start === null || end === null) return [];
  return [Math.max(1, (end - submit) / Math.max(end - start, SHORT))];
}

function makespanOf(jobs: Simulation["jobs"]): number {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const { submit, end } of jobs) {
    first = Math.min(first, submit);
    last = Math.max(last, end ?? last);
  }
  return Math.max(0, last - first) || 0;
}

function average(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;
}

/** Mean over time of a value that holds from one sample to the next. */
function mean(samples: Simulation["samples"], value: (index: number) => number): number {
  let sum = 0;
  for (let i = 1; i < samples.length; i++) sum += value(i - 1) * ((samples[i]?.at ?? 0) - (samples[i - 1]?.at ?? 0));
  const span = (samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0);
  return span === 0 ? 0 : sum / span;
}
