import type { Clock } from "@seneschal/core/ports";

/** Stops calling a service that keeps failing, and lets one call through per probe interval. */
export interface Breaker {
  readonly open: boolean;
  /** False: do not call now. */
  admit(): boolean;
  succeeded(): void;
  failed(): void;
}

/** Opens after `failures` failures in a row; while open, one probe each `probeMs`. */
export function createBreaker(clock: Clock, failures = 5, probeMs = 30_000): Breaker {
  let count = 0;
  let lastProbe = 0;
  return {
    get open() {
      return count >= failures;
    },
    admit() {
      if (count < failures) return true;
      if (clock.now() - lastProbe < probeMs) return false;
      lastProbe = clock.now();
      return true;
    },
    succeeded() {
      count = 0;
    },
    failed() {
      count += 1;
      if (count === failures) lastProbe = clock.now();
    },
  };
}
