import { checkArgument } from "@seneschal/kernel";
import { termOf } from "../lexicon.ts";
import { DEFAULT_RECOGNISERS } from "../recognisers/index.ts";
import { columnName } from "./column-name.ts";

const DELIMITERS = [",", ";", "\t", "|"];
/** The delimiter is in so many first lines, of so many characters. */
const HEAD_LINES = 20;
const HEAD = 1 << 20;

/** Where the first row of a CSV begins, behind a byte order mark and `sep=`, and what stands between its fields. */
export interface CsvDialect {
  readonly from: number;
  readonly delimiter: string;
}

/**
 * How a CSV is written: its fields are apart by what `sep=` says, else by `fixed`, else by the comma, semicolon, tab or bar that the first line which has any of them has most often. A line with an empty one behind it may be a
 * title: the next one is looked at first. `text`: all of it, or as much as {@link tellsDialect} asks for.
 */
export function csvDialect(text: string, fixed?: string): CsvDialect {
  checkArgument("text", text, "string");
  if (fixed !== undefined) checkArgument("fixed", fixed, "string");
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const said = /^sep=([^\r\n])(?:\r\n?|\n|$)/i.exec(text.slice(start, start + 8));
  const from = start + (said?.[0].length ?? 0);
  return { from, delimiter: said?.[1] ?? fixed ?? delimiterOf(text.slice(from, from + HEAD)) };
}

/** Whether so many characters and line ends (CR and LF are two) at the beginning of a CSV say how it is written, whatever follows. */
export function tellsDialect(characters: number, lineEnds: number): boolean {
  return characters > HEAD + 8 || lineEnds > 2 * HEAD_LINES + 2;
}

function delimiterOf(text: string): string {
  const lines = text.split(/\r\n|[\r\n]/, HEAD_LINES);
  const counted = (line: string) => DELIMITERS.map((delimiter) => line.replace(/"[^"]*"/g, "").split(delimiter).length - 1);
  const delimited = [...lines.keys()].filter((i) => counted(lines[i] ?? "").some((count) => count > 0));
  const chosen = delimited.find((i) => lines[i + 1]?.trim() !== "") ?? delimited[0];
  const counts = counted(lines[chosen ?? 0] ?? "");
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

/** Which rows of a CSV name its columns. */
export interface CsvHeader {
  /** The row above the first record. */
  readonly row: number;
  isNaming(row: number): boolean;
}

/**
 * The header of a table, behind empty lines and titles: the first row as wide as the table that says something in more than one field; in a table of one column the first with a row right behind it. It names the columns, and
 * so does each row above it that says something in more than one field. A table is as wide as the rows are that hold most fields together.
 */
export function csvHeader<Field>(all: readonly (readonly Field[])[], says: (field: Field) => boolean): CsvHeader {
  checkArgument("all", all, "array");
  checkArgument("says", says, "function");
  const isEmpty = (fields: readonly Field[] | undefined): boolean => fields?.some(says) !== true;
  const isFilled = (fields: readonly Field[]): boolean => fields.filter(says).length > 1;
  // What stands behind the last line end is no row.
  const rows = all.at(-1)?.length === 1 && isEmpty(all.at(-1)) ? all.slice(0, -1) : all;
  const held = new Map<number, number>();
  for (const { length } of rows) if (length > 1) held.set(length, (held.get(length) ?? 0) + length);
  const width = [...held].reduce((most, next) => (next[1] > most[1] ? next : most), [1, 0])[0];
  const found = rows.findIndex((fields, i) =>
    width > 1 ? fields.length >= width && isFilled(fields) : !isEmpty(fields) && (i + 1 === rows.length || !isEmpty(rows[i + 1])),
  );
  const row = Math.max(0, found);
  /** One value to a line at its beginning. */
  const isList = rows[0]?.length === 1 && rows[1]?.length === 1 && !isEmpty(rows[1]);
  return {
    row,
    isNaming: (i) => i === row || (i < row && (width === 1 || isFilled(rows[i] ?? []) || (i === 0 && isList))),
  };
}

/** What a column is called that two rows name: by the later one, unless only the earlier says what it holds. */
export function laterName(earlier: string, later: string): string {
  checkArgument("earlier", earlier, "string");
  checkArgument("later", later, "string");
  return later.trim() === "" || (termOf(later) === undefined && termOf(earlier) !== undefined) ? earlier : later;
}

const MAX_NAME = 1024;

/** A cell of a header as a name: without line ends and the blanks around it. */
export function headerName(cell: string): string {
  checkArgument("cell", cell, "string");
  return cell.trim().replace(/\s+/g, " ");
}

/** Whether a cell of a header may be a name: it is no number and holds no value. A row with one that is none is a record. */
export function isHeaderName(cell: string): boolean {
  const name = headerName(cell);
  if (name.length > MAX_NAME || (/\d/.test(name) && !/\p{L}/u.test(name))) return false;
  return name === "" || columnName(name, DEFAULT_RECOGNISERS) === name;
}
