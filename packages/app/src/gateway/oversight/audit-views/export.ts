import type { Payload } from "@seneschal/contract";

/** A field of a CSV file, RFC 4180; what a spreadsheet would run as a formula gets a leading apostrophe. */
export function csvField(value: string): string {
  const safe = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const CHUNK = 64 * 1024;

/** Gathers text into chunks of bytes, so that a million rows are not a million writes. */
export async function* chunks(parts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let text = "";
  for await (const part of parts) {
    text += part;
    if (text.length < CHUNK) continue;
    yield new Uint8Array(Buffer.from(text));
    text = "";
  }
  if (text !== "") yield new Uint8Array(Buffer.from(text));
}

async function* csv(columns: readonly string[], rows: AsyncIterable<Readonly<Record<string, unknown>>>): AsyncGenerator<string> {
  yield `${columns.join(",")}\r\n`;
  for await (const row of rows) yield `${columns.map((column) => csvField(String(row[column] ?? ""))).join(",")}\r\n`;
}

async function* jsonArray(rows: AsyncIterable<Readonly<Record<string, unknown>>>): AsyncGenerator<string> {
  let first = true;
  yield "[";
  for await (const row of rows) {
    yield `${first ? "" : ","}\n${JSON.stringify(row)}`;
    first = false;
  }
  yield "\n]\n";
}

/** A streamed attachment `<name>.json` or `<name>.csv`. */
export function download(
  name: string,
  format: "json" | "csv",
  columns: readonly string[],
  rows: AsyncIterable<Readonly<Record<string, unknown>>>,
): Payload {
  return {
    filename: `${name}.${format}`,
    mediaType: format === "csv" ? "text/csv; charset=utf-8" : "application/json; charset=utf-8",
    body: chunks(format === "csv" ? csv(columns, rows) : jsonArray(rows)),
  };
}
