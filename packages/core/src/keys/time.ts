import { checkArgument } from "@seneschal/kernel";

/** A moment as the gateway stores and shows it: RFC 3339, UTC, milliseconds. Sorts as text. */
export type Timestamp = string;

/** Milliseconds since the epoch to RFC 3339 with milliseconds. */
export function timestamp(ms: number): Timestamp {
  checkArgument("ms", ms, "number");
  return new Date(ms).toISOString();
}

/** The reverse of {@link timestamp}. */
export function milliseconds(at: Timestamp): number {
  return Date.parse(at);
}

/** True once `at` has come. `null` never comes. */
export function isPast(at: Timestamp | null, now: number): boolean {
  return at !== null && milliseconds(at) <= now;
}
