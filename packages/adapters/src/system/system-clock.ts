import type { Clock } from "@seneschal/core/ports";

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now() };
