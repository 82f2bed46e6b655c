import { termOf } from "../classification/lexicon.ts";
import { governanceError } from "../errors.ts";
import { checkRedaction, type Piece, type Redacted, type RedactionOptions } from "./redact.ts";
import { assembled, joinedPieces, named, nameLeft, type Written } from "./written-values.ts";

const DELIMITERS = [",", ";", "\t", "|"];
/** What stands between quotation marks, and what stands behind them, which some readers take for a part of it. */
interface Field {
  readonly parts: readonly Written[];
  readonly end: number;
}

type Row = readonly Field[];

/** The delimiter is in so many first lines. */
const HEAD = 20;

/**
 * Redacts CSV (RFC 4180; comma, semicolon, tab or bar, or what `sep=` says): every field, with the name of its column. Quotation marks, separators and line ends stay as they are.
 *
 * The header may stand behind a byte order mark, `sep=`, empty lines and titles: of the rows up to the first one that is as wide as the table, each that says something in more than one field names its columns, a later one
 * over an earlier one unless only the earlier says what they hold. Throws as {@link redact}, and `validation_failed` for a quotation mark that is not closed.
 */
export function redactCsv(text: string, options: RedactionOptions): Redacted {
  checkRedaction(text, options);
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const separator = /^sep=([^\r\n])(?:\r\n?|\n|$)/i.exec(text.slice(start, start + 8));
  const from = start + (separator?.[0].length ?? 0);
  const rows = rowsOf(text, from, separator?.[1] ?? delimiterOf(text.slice(from)));
  const { header, width } = headerOf(rows);
  const names: string[] = [];
  const columns: RedactionOptions[] = [];
  const changed: (readonly Piece[])[] = [];
  for (const [row, fields] of rows.entries()) {
    const isName = row === header || (row < header && (isFilled(fields) || width === 1 || (row === 0 && isList(rows))));
    for (const [column, { parts }] of fields.entries()) {
      const joined = parts.map((written) => ({ written, alone: false }));
      const pieces = joinedPieces(text, joined, columns[column] ?? options);
      changed.push(pieces);
      const name = isName ? nameLeft(pieces) : "";
      if (name.trim() === "" || (termOf(name) === undefined && termOf(names[column] ?? "") !== undefined)) continue;
      names[column] = name;
      columns[column] = named(options, name, "");
    }
  }
  return assembled(text, changed, options);
}

/** The character that the first line which has any of them has most often. A line with an empty one behind it may be a title: the next one is looked at first. */
function delimiterOf(text: string): string {
  const lines = text.split(/\r\n|[\r\n]/, HEAD);
  const counted = (line: string) => DELIMITERS.map((delimiter) => line.replace(/"[^"]*"/g, "").split(delimiter).length - 1);
  const delimited = [...lines.keys()].filter((i) => counted(lines[i] ?? "").some((count) => count > 0));
  const chosen = delimited.find((i) => lines[i + 1]?.trim() !== "") ?? delimited[0];
  const counts = counted(lines[chosen ?? 0] ?? "");
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

/**
 * How wide the table is: as wide as the rows are that hold most fields together. And the first row so wide that says something in more than one field; in a table of one column the first with a
 * row right behind it.
 */
function headerOf(rows: readonly Row[]): { readonly header: number; readonly width: number } {
  const held = new Map<number, number>();
  for (const { length } of rows) if (length > 1) held.set(length, (held.get(length) ?? 0) + length);
  const width = [...held].reduce((most, next) => (next[1] > most[1] ? next : most), [1, 0])[0];
  const header = rows.findIndex((fields, row) => {
    if (width > 1) return fields.length >= width && isFilled(fields);
    const next = rows[row + 1];
    return !isEmpty(fields) && (next === undefined || row + 2 >= rows.length || !isEmpty(next));
  });
  return { header: Math.max(0, header), width };
}

/** Begins as a list, one value to a line, does. */
function isList([first, second]: readonly Row[]): boolean {
  return first?.length === 1 && second?.length === 1 && !isEmpty(second);
}

function isEmpty(fields: Row): boolean {
  return !fields.some(saysSomething);
}

function isFilled(fields: Row): boolean {
  return fields.filter(saysSomething).length > 1;
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
