import { checkArgument } from "./argument.ts";

/** So many in any span of `window` milliseconds. */
export interface Rate {
  readonly limit: number;
  readonly window: number;
}

/** What taking one came to. `resetMs` is the time until the whole limit is free again, `retryMs` until one is. */
export interface Take {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly resetMs: number;
  readonly retryMs: number;
}

/** Slices of a window. More make it sharper. */
export const RATE_SLICES = 20;

/** What was admitted lately under one key. */
export interface RateWindow {
  /** Newest slice that was counted in, numbered since the epoch. */
  readonly slice: number;
  /** Counts of the newest slice and the `RATE_SLICES` before it, newest first. */
  readonly counts: readonly number[];
}

/** The number of the slice that a moment lies in. */
export function sliceOf(rate: Rate, now: number): number {
  checkArgument("rate", rate, "object");
  checkArgument("now", now, "number");
  return Math.floor((now * RATE_SLICES) / rate.window);
}

/**
 * Takes one out of a sliding window if there is one; a refusal costs nothing. No span of the window's length ever holds more
 * than `limit` admitted requests, not across a window's edge either (the price: a place frees up to a twentieth of the window
 * late). A clock that jumps back opens nothing. `known` is `undefined` for a key that was never seen.
 *
 * @example
 * ```ts
 * import { takeFrom } from "@seneschal/kernel";
 * const rate = { limit: 1, window: 60_000 };
 * const first = takeFrom(undefined, rate, 0);
 * console.log(first.take.allowed, takeFrom(first.window, rate, 1000).take.allowed); // true false
 * ```
 */
export function takeFrom(
  known: RateWindow | undefined,
  rate: Rate,
  now: number,
): { readonly window: RateWindow; readonly take: Take } {
  checkArgument("rate", rate, "object");
  const before = known ?? { slice: 0, counts: [] };
  const slice = Math.max(before.slice, sliceOf(rate, now));
  const passed = Math.min(slice - before.slice, RATE_SLICES + 1);
  const counts = [...new Array<number>(passed).fill(0), ...before.counts].slice(0, RATE_SLICES + 1);
  const allowed = counts.reduce((sum, count) => sum + count, 0) < rate.limit;
  if (allowed) counts[0] = (counts[0] ?? 0) + 1;
  const window = { slice, counts };
  return { window, take: judgeTake(window, allowed, rate, now) };
}

/** What a window says after a take, for a store that counts by itself. */
export function judgeTake(given: RateWindow, allowed: boolean, rate: Rate, now: number): Take {
  checkArgument("given", given, "object");
  checkArgument("allowed", allowed, "boolean");
  checkArgument("rate", rate, "object");
  checkArgument("now", now, "number");
  const { slice, counts } = given;
  const used = counts.reduce((sum, count) => sum + count, 0);
  const newest = counts.findIndex((count) => count > 0);
  const oldest = counts.findLastIndex((count) => count > 0);
  // A count made in slice s is out of every window that begins behind slice s.
  const freeAt = (age: number): number => Math.max(1, ((slice - age + RATE_SLICES + 1) * rate.window) / RATE_SLICES - now);
  return {
    allowed,
    remaining: Math.max(0, rate.limit - used),
    resetMs: newest < 0 ? 0 : freeAt(newest),
    retryMs: allowed ? 0 : freeAt(oldest),
  };
}
