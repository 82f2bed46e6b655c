import { checkArgument } from "@seneschal/kernel";
import { governanceError } from "../errors.ts";
import { checkRedactionOptions, type Redacted, type RedactionOptions, redact } from "./redact.ts";
import { redactCsv } from "./redact-csv.ts";
import { redactEvents } from "./redact-events.ts";
import { redactJson } from "./redact-json.ts";

export const REDACTION_FORMATS = ["text", "json", "csv", "tsv", "sse"] as const;
export type RedactionFormat = (typeof REDACTION_FORMATS)[number];

/**
 * Redacts a text of a format; a byte order mark stays where it is. Throws `validation_failed` for what is not of it, and for U+0000, which no text holds: it tells of bytes that were read in
 * another encoding than theirs.
 */
export function redactAs(format: RedactionFormat, text: string, options: RedactionOptions): Redacted {
  checkRedactionOptions(options);
  checkArgument("format", format, "string");
  checkArgument("text", text, "string");
  if (text.includes("\0"))
    throw governanceError("validation_failed", "text: holds U+0000, which no text does", { field: "text" });
  if (format === "json") return redactJson(text, options);
  if (format === "sse") return redactEvents(text, options);
  if (format === "csv") return redactCsv(text, options);
  return format === "tsv" ? redactCsv(text, options, "\t") : redact(text, options);
}
