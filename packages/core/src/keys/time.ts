import { checkArgument } from "@seneschal/kernel";

/** A moment as the gateway stores and shows it: RFC 3339, UTC, milliseconds. Sorts as text. */
export type Timestamp = string;

/**
 * Milliseconds since the epoch to RFC 3339 with milliseconds.
 *
 * @example
 * ```ts
 * import { timestamp } from "@seneschal/core/keys";
 * console.log(timestamp(0)); // 1970-01-01T00:00:00.000Z
 * ```
 */
export function timestamp(ms: number): Timestamp {
  checkArgument("ms", ms, "number");
  return new Date(ms).toISOString();
}

/**
 * The reverse of {@link timestamp}.
 *
 * @example
 * ```ts
 * import { milliseconds } from "@seneschal/core/keys";
 * console.log(milliseconds("1970-01-01T00:00:01.000Z")); // 1000
 * ```
 */
export function milliseconds(at: Timestamp): number {
  return Date.parse(at);
}

/**
 * The last moment before an end. What time ends takes its step there, while it is still what it was: so its table of transitions stays the only rule, however
 * late somebody comes to it.
 *
 * @example
 * ```ts
 * import { isPast, lastMoment } from "@seneschal/core/keys";
 * const end = "2026-01-01T00:00:00.000Z";
 * console.log(isPast(end, lastMoment(end)), isPast(end, lastMoment(end) + 1)); // false true
 * ```
 */
export function lastMoment(end: Timestamp): number {
  return milliseconds(end) - 1;
}

/**
 * True once `at` has come. `null` never comes.
 *
 * @example
 * ```ts
 * import { isPast } from "@seneschal/core/keys";
 * const end = "1970-01-01T00:00:01.000Z";
 * console.log(isPast(end, 999), isPast(end, 1000), isPast(null, 1000)); // false true false
 * ```
 */
export function isPast(at: Timestamp | null, now: number): boolean {
  return at !== null && milliseconds(at) <= now;
}
