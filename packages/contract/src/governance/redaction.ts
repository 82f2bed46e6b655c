import * as z from "zod";
import type { Contract } from "../route.ts";
import { about } from "./files.ts";

const text = z.string().max(524_288);

/** One rule of redaction: the first that fits an entity decides. */
export const redactionRule = z
  .strictObject({
    entity: z
      .string()
      .regex(/^[A-Z][A-Z0-9_]{1,63}$/)
      .optional(),
    tier: z.string().min(1).max(64).optional().meta({ description: "Values of this tier or a higher one" }),
    operator: z.enum(["mask", "replace", "hash", "generalise", "tokenise", "encrypt", "drop", "keep"]),
    keep_last: z.int().min(0).max(4).optional().meta({ description: "Characters at the end that a mask leaves" }),
  })
  .meta({ id: "RedactionRule" });

/** Less than all that a text may hold, by the names that Presidio's analyzer has for it. */
export const narrowing = {
  entities: z
    .array(z.string().regex(/^[A-Z][A-Z0-9_]{1,63}$/))
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "These alone are looked for", examples: [["EMAIL_ADDRESS", "PHONE_NUMBER"]] }),
  allow_list: z
    .array(z.string().min(1).max(1024))
    .max(1000)
    .optional()
    .meta({ description: "Values, letter by letter, that are no findings", examples: [["help@example.org"]] }),
  score_threshold: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .meta({ description: "Findings of a lower score are none; what scores less than 0.3 never is one", examples: [0.5] }),
};

/** Hiding what texts hold, and taking it back. */
export const redactionRoutes = {
  redact: {
    method: "POST",
    path: "/api/v1/redact",
    summary: "Hide the sensitive values of a text, JSON, CSV or an event stream",
    tag: "redaction",
    auth: "principal",
    action: "redact",
    safe: true,
    bodyLimit: 1_600_000,
    body: z
      .strictObject({
        text,
        format: z.enum(["text", "json", "csv", "tsv", "sse"]).default("text"),
        country: z.string().max(8).optional(),
        about,
        rules: z.array(redactionRule).max(200).default([]),
        ...narrowing,
      })
      .meta({ id: "RedactRequest" }),
    status: 200,
    reply: z
      .strictObject({
        text: z.string(),
        redactions: z.array(
          z.strictObject({
            entity: z.string(),
            tier: z.string(),
            operator: z.string(),
            start: z.int(),
            end: z.int(),
            redacted_start: z.int(),
            redacted_end: z.int(),
          }),
        ),
      })
      .meta({ id: "RedactResponse", description: "Offsets are UTF-16 code units of the text given and of the redacted one." }),
    extension: true,
  },
  restore: {
    method: "POST",
    path: "/api/v1/restore",
    summary: "Put back what `tokenise` and `encrypt` of the caller's organisation took",
    tag: "redaction",
    auth: "principal",
    action: "restore",
    safe: true,
    bodyLimit: 6_400_000,
    body: z.strictObject({ text: z.string().max(2_097_152) }).meta({ id: "RestoreRequest" }),
    status: 200,
    reply: z.strictObject({ text: z.string(), count: z.int() }).meta({ id: "RestoreResponse" }),
    extension: true,
  },
} as const satisfies Contract;
