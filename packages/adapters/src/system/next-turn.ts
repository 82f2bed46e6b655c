import { setImmediate } from "node:timers/promises";

/** Resolves when everything that waits for the event loop has had its turn: what long work awaits between its pieces. */
export const nextTurn = (): Promise<void> => setImmediate();
