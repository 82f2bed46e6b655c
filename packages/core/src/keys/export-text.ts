import { checkArgument } from "@seneschal/kernel";

/**
 * A field of a CSV file (RFC 4180); what a spreadsheet would run as a formula gets a leading apostrophe (OWASP, CSV injection).
 *
 * @example
 * ```ts
 * import { csvField } from "@seneschal/core/keys";
 * console.log(csvField('a "word"'), csvField("=1+1")); // "a ""word""" '=1+1
 * ```
 */
export function csvField(value: string): string {
  checkArgument("value", value, "string");
  const safe = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * One row of a CSV file.
 *
 * @example
 * ```ts
 * import { csvRow } from "@seneschal/core/keys";
 * console.log(JSON.stringify(csvRow(["id", "a, b"]))); // "id,\"a, b\"\r\n"
 * ```
 */
export function csvRow(fields: readonly string[]): string {
  checkArgument("fields", fields, "array");
  return `${fields.map(csvField).join(",")}\r\n`;
}

type Row = Readonly<Record<string, unknown>>;

/**
 * Rows as the text of a file, made while they are read: CSV with a head, or a JSON array with one of them a line.
 *
 * @param columns the fields that CSV has; JSON has all
 *
 * @example
 * ```ts
 * import { exportText } from "@seneschal/core/keys";
 * async function* rows() {
 *   yield { id: 1, more: true };
 * }
 * let text = "";
 * for await (const part of exportText("csv", ["id"], rows())) text += part;
 * console.log(JSON.stringify(text)); // "id\r\n1\r\n"
 * ```
 */
export async function* exportText(
  format: "json" | "csv",
  columns: readonly string[],
  rows: AsyncIterable<Row>,
): AsyncGenerator<string> {
  checkArgument("columns", columns, "array");
  checkArgument("rows", rows, "object");
  if (format === "csv") {
    yield `${columns.join(",")}\r\n`;
    for await (const row of rows) yield csvRow(columns.map((column) => String(row[column] ?? "")));
    return;
  }
  let first = true;
  yield "[";
  for await (const row of rows) {
    yield `${first ? "" : ","}\n${JSON.stringify(row)}`;
    first = false;
  }
  yield "\n]\n";
}
