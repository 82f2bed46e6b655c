/**
 * Tells the time.
 *
 * Law: `now()` is milliseconds since the Unix epoch, an integer. It may jump (leap, operator); callers that need
 * non-decreasing time take `max(now, last)` themselves. Pure packages never hold a clock: they are given `now`.
 */
export interface Clock {
  now(): number;
}
