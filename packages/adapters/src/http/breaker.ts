import { checkOptions } from "@seneschal/kernel";

/** Keeps calls away from a peer that fails: open after `failures` in a row, one probe every `probeMs`. */
export interface Breaker {
  /** Runs the call, or throws `open()` without calling. */
  run<T>(call: () => Promise<T>): Promise<T>;
  readonly state: () => "closed" | "open";
}

export interface BreakerOptions {
  readonly failures: number;
  readonly probeMs: number;
  readonly now: () => number;
  /** The error of a call that was kept away. */
  readonly refuse: () => Error;
}

export function openBreaker(options: BreakerOptions): Breaker {
  checkOptions("options", options, { failures: "number", probeMs: "number", now: "function", refuse: "function" });
  const { failures, probeMs, now, refuse } = options;
  let failed = 0;
  let probeAt = 0;
  return {
    state: () => (failed >= failures ? "open" : "closed"),
    async run(call) {
      if (failed >= failures) {
        if (now() < probeAt) throw refuse();
        probeAt = now() + probeMs; // one probe; the others wait for what it says
      }
      try {
        const value = await call();
        failed = 0;
        return value;
      } catch (error) {
        failed++;
        if (failed >= failures) probeAt = now() + probeMs;
        throw error;
      }
    },
  };
}
