import * as z from "zod";

/** Marks a value that `describeConfig` masks. */
const SECRET = { secret: true } as const;

/** A configured secret. Prefer a path to a file over the secret itself. */
export function secret(): z.ZodString {
  return z.string().min(1).meta(SECRET);
}

/**
 * A URL whose path, too, may be what lets its holder in, as receivers of webhooks and of telemetry give them (W3C TAG, Good Practices for Capability URLs):
 * `describeConfig` shows its origin alone.
 */
export function capabilityUrl(protocol?: RegExp): z.ZodURL {
  return z.url(protocol === undefined ? {} : { protocol }).meta({ capability: true });
}
