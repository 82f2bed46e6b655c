import type { Clock } from "@seneschal/kernel/ports";

/** A clock for tests and simulations: it stands still until it is told. */
export interface SettableClock extends Clock {
  set(now: number): void;
  advance(milliseconds: number): void;
}

/** Starts a {@link SettableClock} at `start`, in milliseconds since the epoch. */
export function settableClock(start: number): SettableClock {
  let time = start;
  return {
    now: () => time,
    set: (now) => {
      time = now;
    },
    advance: (milliseconds) => {
      time += milliseconds;
    },
  };
}
