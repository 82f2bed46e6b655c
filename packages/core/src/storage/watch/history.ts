import { createRing } from "./ring.ts";

/** Anything sampled at a time in milliseconds. */
export interface Sample {
  readonly timestamp_ms: number;
}

export interface History<S extends Sample> {
  add(sample: S): void;
  /** Ascending, at the finest resolution kept: 10 s for the last 3 hours, 60 s for the last 24. */
  query(hours: number, now: number): readonly S[];
}

const fineMs = 3 * 3_600_000;
const coarseStepMs = 60_000;

/**
 * Two rings: every sample (expected each 10 s) for 3 hours, the first of each minute for 24 hours.
 *
 * @example
 * ```ts
 * import { createHistory } from "@seneschal/core/storage";
 * const history = createHistory<{ timestamp_ms: number }>();
 * history.add({ timestamp_ms: 0 });
 * console.log(history.query(1, 1000)); // [ { timestamp_ms: 0 } ]
 * ```
 */
export function createHistory<S extends Sample>(): History<S> {
  const fine = createRing<S>(1080);
  const coarse = createRing<S>(1440);
  let lastMinute = Number.NEGATIVE_INFINITY;
  return {
    add(sample) {
      fine.push(sample);
      const minute = Math.floor(sample.timestamp_ms / coarseStepMs);
      if (minute > lastMinute) {
        lastMinute = minute;
        coarse.push(sample);
      }
    },
    query(hours, now) {
      const since = now - hours * 3_600_000;
      const recent = fine.items().filter((s) => s.timestamp_ms >= since);
      const fineSince = recent[0]?.timestamp_ms ?? now;
      if (since >= now - fineMs) return recent;
      return [...coarse.items().filter((s) => s.timestamp_ms >= since && s.timestamp_ms < fineSince), ...recent];
    },
  };
}
