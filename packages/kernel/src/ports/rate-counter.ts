import type { Rate, Take } from "../rate-window.ts";

/**
 * Counts requests by key, for all processes that share it.
 *
 * Laws:
 * - no span of a rate's window holds more than its limit of admitted takes under one key, however many take at once;
 * - a refusal costs nothing: waiting for `retryMs` lets one in, waiting for `resetMs` frees the whole limit;
 * - keys do not touch each other; a clock that jumps back opens nothing;
 * - counts are no records: they may be lost with the machine, which opens a window anew.
 *
 * Throws `service_unavailable` when it cannot count: nothing is let in unseen.
 */
export interface RateCounter {
  /** Hides keys behind a keyed hash; the same in every process that shares the counter. */
  readonly salt: Uint8Array;
  /** `now` in milliseconds. The same key is always taken with the same rate. */
  take(key: string, rate: Rate, now: number): Promise<Take>;
  close(): Promise<void>;
}
