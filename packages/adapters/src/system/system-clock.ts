import type { Clock } from "@seneschal/kernel/ports";

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now() };
