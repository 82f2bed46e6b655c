import * as z from "zod";

/** Marks a value that `describeConfig` masks. */
const SECRET = { secret: true } as const;

/** A configured secret. Prefer a path to a file over the secret itself. */
export function secret(): z.ZodString {
  return z.string().min(1).meta(SECRET);
}
