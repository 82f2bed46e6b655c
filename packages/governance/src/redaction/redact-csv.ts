import { checkArgument } from "@seneschal/kernel";
import { csvDialect, csvHeader, laterName } from "../classification/csv-table.ts";
import { governanceError } from "../errors.ts";
import { checkRedaction, type Piece, type Redacted, type RedactionOptions } from "./redact.ts";
import { assembled, joinedPieces, named, nameLeft, type Written } from "./written-values.ts";

/** What stands between quotation marks, and what stands behind them, which some readers take for a part of it. */
interface Field {
  readonly parts: readonly Written[];
  readonly end: number;
}

type Row = readonly Field[];

/**
 * Redacts CSV (RFC 4180; comma, semicolon, tab or bar, or what `sep=` says; with `delimiter` that): every field, with the name of its column, wherever the header stands. Quotation marks, separators and line ends stay as they are.
 *
 * Throws as {@link redact}, and `validation_failed` for a quotation mark that is not closed.
 */
export function redactCsv(text: string, options: RedactionOptions, delimiter?: string): Redacted {
  checkRedaction(text, options);
  if (delimiter !== undefined) checkArgument("delimiter", delimiter, "string");
  const dialect = csvDialect(text, delimiter);
  const rows = rowsOf(text, dialect.from, dialect.delimiter);
  const header = csvHeader(rows, saysSomething);
  const names: string[] = [];
  const columns: RedactionOptions[] = [];
  const changed: (readonly Piece[])[] = [];
  for (const [row, fields] of rows.entries()) {
    const isName = header.isNaming(row);
    for (const [column, { parts }] of fields.entries()) {
      const joined = parts.map((written) => ({ written, alone: false }));
      const pieces = joinedPieces(text, joined, columns[column] ?? options);
      changed.push(pieces);
      if (!isName) continue;
      const before = names[column] ?? "";
      const name = laterName(before, nameLeft(pieces));
      if (name === before) continue;
      names[column] = name;
      columns[column] = named(options, name, "");
    }
  }
  return assembled(text, changed, options);
}

function saysSomething({ parts }: Field): boolean {
  return parts.some(({ value }) => value.trim() !== "");
}

function rowsOf(text: string, from: number, delimiter: string): readonly Row[] {
  let row: Field[] = [];
  const rows = [row];
  for (let at = from; at <= text.length; ) {
    const field = csvField(text, at, delimiter);
    row.push(field);
    at = field.end;
    if (at >= text.length) break;
    if (text[at] === delimiter) at++;
    else {
      at += text.startsWith("\r\n", at) ? 2 : 1;
      row = [];
      rows.push(row);
    }
  }
  return rows;
}

function csvField(text: string, from: number, delimiter: string): Field {
  const plainFrom = (start: number): Field => {
    let end = start;
    while (end < text.length && text[end] !== delimiter && text[end] !== "\n" && text[end] !== "\r") end++;
    return { parts: [{ value: text.slice(start, end), at: (i) => start + i, write: (value) => value }], end };
  };
  if (text[from] !== '"') return plainFrom(from);
  const starts: number[] = [];
  let value = "";
  let at = from + 1;
  while (at < text.length && (text[at] !== '"' || text[at + 1] === '"')) {
    starts.push(at);
    value += text[at];
    at += text[at] === '"' ? 2 : 1;
  }
  // Readers differ on what would be in it.
  if (at >= text.length) throw governanceError("validation_failed", "text: a quotation mark is not closed", { field: "text" });
  const { parts, end } = plainFrom(at + 1);
  const quoted: Written = { value, at: (i) => starts[i] ?? at, write: (said) => said.replaceAll('"', '""') };
  return { parts: end === at + 1 ? [quoted] : [quoted, ...parts], end };
}
