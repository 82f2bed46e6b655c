import { setTimeout as delay } from "node:timers/promises";

/** Waits until `bytes` more may move. Rejects when the signal aborts. */
export type Throttle = (bytes: number, signal: AbortSignal) => Promise<void>;

/** Bytes per second as `rateMb()` says now, in MB/s; 0 waits until the rate is raised. */
export function createThrottle(rateMb: () => number): Throttle {
  let free = performance.now();
  return async (bytes, signal) => {
    while (rateMb() === 0) await delay(200, undefined, { signal });
    const now = performance.now();
    free = Math.max(free, now) + (bytes / (rateMb() * 1_000_000)) * 1000;
    if (free - now > 1) await delay(free - now, undefined, { signal });
  };
}
