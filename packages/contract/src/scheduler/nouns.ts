import * as z from "zod";

/** Names that callers choose: letters, digits, `.`, `_`, `-`, `@`, `:`; no path separators, no blanks. */
export const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._@:-]{0,127}$/, "expected 1 to 128 of A-Z a-z 0-9 . _ @ : -");
export const idParams = z.strictObject({ id: name });
export const time = z.iso.datetime();
export const count = z.int().min(0).max(1_000_000_000);
export const hours = z.number().min(0).max(1e12);
/** Free text that is shown again: lines and tabs, no other control characters, which terminals would obey. */
export const text = (max: number) =>
  z
    .string()
    .max(max)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are refused
    .regex(/^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$/, "expected text without control characters");
export const labels = z
  .record(text(128).min(1), text(512))
  .refine((map) => Object.keys(map).length <= 64, { message: "expected at most 64 entries" })
  .meta({ maxProperties: 64 });
export const state = z.enum(["pending", "staging", "running", "checkpointing", "suspended", "completed", "failed", "cancelled"]);
/** The reason that is written into the audit log beside the change. */
export const why = text(512).min(1);
/** A reason beside a change of a node; an empty one, as some clients send it, is none. */
export const remarkText = text(512)
  .transform((given) => (given === "" ? undefined : given))
  .optional();
/** Whoever authenticated; not only who could choose a name here. */
export const userName = text(256).min(1);

/** Data sets by the names that the site gives them. */
export const datasets = (most: number) => z.array(name).max(most, `expected at most ${most} data sets`);

export const success = z.strictObject({ success: z.literal(true) });
