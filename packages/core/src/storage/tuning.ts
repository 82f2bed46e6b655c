import { checkArgument } from "@seneschal/kernel";

/** Default and inclusive range of every tunable parameter. Integers. */
export const tuningTable = {
  compaction_rate_mb_s: { default: 100, min: 10, max: 1000 },
  gc_interval_s: { default: 300, min: 60, max: 3600 },
  rebalance_rate_mb_s: { default: 50, min: 0, max: 500 },
  scrub_interval_h: { default: 168, min: 24, max: 720 },
  max_concurrent_repairs: { default: 4, min: 1, max: 32 },
  stream_proc_poll_ms: { default: 100, min: 10, max: 1000 },
  inline_threshold_bytes: { default: 4096, min: 512, max: 65_536 },
  raft_snapshot_interval: { default: 10_000, min: 1000, max: 100_000 },
} as const;

export type TuningName = keyof typeof tuningTable;
export type Tuning = Readonly<Record<TuningName, number>>;

export const defaultTuning = Object.fromEntries(
  Object.entries(tuningTable).map(([name, row]) => [name, row.default]),
) as unknown as Tuning;

/** One value that cannot be set, with its range. */
export interface TuningProblem {
  readonly name: string;
  readonly value: unknown;
  readonly message: string;
}

/**
 * Every problem of a change; with one problem nothing is applied.
 *
 * @example
 * ```ts
 * import { tuningProblems } from "@seneschal/core/storage";
 * console.log(tuningProblems({}), tuningProblems({ gc_interval_s: -1 }).length); // [] 1
 * ```
 */
export function tuningProblems(change: Readonly<Record<string, unknown>>): readonly TuningProblem[] {
  checkArgument("change", change, "object");
  const problems: TuningProblem[] = [];
  for (const [name, value] of Object.entries(change)) {
    if (!Object.hasOwn(tuningTable, name)) {
      problems.push({ name, value, message: `${name} is not a tuning parameter` });
      continue;
    }
    const { min, max } = tuningTable[name as TuningName];
    if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max)
      problems.push({ name, value, message: `${name} must be an integer from ${min} to ${max}, got ${String(value)}` });
  }
  return problems;
}
