import { checkArgument } from "@seneschal/kernel";
import {
  type CsvHeader,
  csvDialect,
  csvHeader,
  headerName,
  isHeaderName,
  laterName,
} from "../classification/columns/csv-table.ts";
import { governanceError } from "../errors.ts";
import { JudgedColumns, otherwiseColumns, settled } from "./column-entities.ts";
import { everywhere, FileReading } from "./file-reading.ts";
import { checkRedaction, type Piece, type Redacted, type RedactionOptions } from "./redact.ts";
import { assembled, named, nameLeft, type Written } from "./written-values.ts";

/** What stands between quotation marks, and what stands behind them, which some readers take for a part of it. */
interface Field {
  readonly parts: readonly Written[];
  readonly end: number;
}

type Row = readonly Field[];

/**
 * Redacts CSV (RFC 4180; comma, semicolon, tab or bar, or what `sep=` says; with `delimiter` that): every field, with the name of its column, wherever the header stands, and with what the column holds as a whole by its name and
 * most of its values, as classification tells it. What is hidden in one field is hidden in all. Quotation marks, separators and line ends stay as they are.
 *
 * Throws as {@link redact}, and `validation_failed` for a quotation mark that is not closed.
 */
export function redactCsv(text: string, options: RedactionOptions, delimiter?: string): Redacted {
  checkRedaction(text, options);
  if (delimiter !== undefined) checkArgument("delimiter", delimiter, "string");
  const dialect = csvDialect(text, delimiter);
  const rows = rowsOf(text, dialect.from, dialect.delimiter);
  const header = csvHeader(rows, saysSomething);
  const otherwise = otherwiseIn(rows, header, options.about ?? "");
  const reading = new FileReading();
  const piecesOf = ({ parts }: Field, given: RedactionOptions): readonly Piece[] =>
    reading.written(
      text,
      parts.map((written) => ({ written, alone: false })),
      given,
    );
  const underOf = new Map<string, RedactionOptions>();
  const under = (name: string): RedactionOptions => {
    const given = underOf.get(name) ?? named(options, name, options.about ?? "");
    underOf.set(name, given);
    return given;
  };
  return settled(
    text,
    (given) => entitiesOf(given, options, dialect.delimiter),
    (entities) =>
      everywhere(reading, () => {
        const names: string[] = [];
        const changed: (readonly Piece[])[] = [];
        for (const [row, fields] of rows.entries()) {
          const isNaming = header.isNaming(row);
          // A row with a value in it is a record, and names the columns all the same.
          const isRecord = row > header.row || (row === header.row && !fields.every((field) => isHeaderName(textIn(field))));
          for (const [column, field] of fields.entries()) {
            const held = isRecord || !isHeaderName(textIn(field)) ? entities.get(column) : undefined;
            const given = reading.heldBy(otherwise.has(column) ? options : under(names[column] ?? ""), held);
            changed.push(piecesOf(field, given));
            if (isNaming) names[column] = laterName(names[column] ?? "", nameLeft(reading.alone(textIn(field), given), options));
          }
        }
        return assembled(text, changed, options);
      }),
  );
}

/** What the columns hold as a whole, by their places, as classification of the file tells it. */
function entitiesOf(text: string, options: RedactionOptions, delimiter: string): ReadonlyMap<number, string> {
  const { from } = csvDialect(text, delimiter);
  const rows = rowsOf(text, from, delimiter);
  const header = csvHeader(rows, saysSomething);
  const names = namesOf(rows, header);
  const columns = new JudgedColumns();
  for (const [row, fields] of rows.entries()) {
    const isNames = row < header.row || (row === header.row && fields.every((field) => isHeaderName(textIn(field))));
    for (const [column, field] of fields.entries()) {
      const value = textIn(field);
      if (!isNames || !isHeaderName(value)) columns.add(`${column}`, names[column] ?? "", value);
    }
  }
  return new Map([...columns.entities(options)].map(([column, entity]) => [Number(column), entity]));
}

function namesOf(rows: readonly Row[], header: CsvHeader): readonly string[] {
  const names: string[] = [];
  for (const [row, fields] of rows.entries()) {
    if (!header.isNaming(row)) continue;
    for (const [column, field] of fields.entries()) names[column] = laterName(names[column] ?? "", headerName(textIn(field)));
  }
  return names;
}

/** The columns of which every value says that their name means something else. */
function otherwiseIn(rows: readonly Row[], header: CsvHeader, about: string): ReadonlySet<number> {
  const columns = Array.from(namesOf(rows, header), (name = "", column) => ({
    name,
    values: rows.flatMap((fields, row) => {
      const field = fields[column];
      return row === header.row || field === undefined ? [] : [textIn(field)];
    }),
  }));
  return otherwiseColumns(columns, about);
}

function textIn({ parts }: Field): string {
  return parts.map(({ value }) => value).join("");
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
