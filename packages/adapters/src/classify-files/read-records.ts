import {
  CsvSplitter,
  csvDialect,
  csvHeader,
  headerName,
  isHeaderName,
  jsonCells,
  laterName,
  tellsDialect,
} from "@seneschal/governance";
import { CodedError, textDecoder } from "@seneschal/kernel";
import type { FileColumn } from "./column-samples.ts";

/** Formats that are read as records. */
export const FILE_FORMATS = ["csv", "tsv", "jsonl", "json"] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** One value of a record. */
export interface Cell extends FileColumn {
  readonly value: string;
}

/** One record; `names`: it stands above the records, names their columns or is a title, and its cells hold what is no name. */
export interface FileRecord {
  readonly names: boolean;
  readonly cells: readonly Cell[];
}

/** Longest line or quoted record, in characters: what is longer is no table. */
const MAX_RECORD = 16 * 1024 * 1024;
const MAX_COLUMNS = 10_000;
const MAX_CELLS = 1_000_000;
const MAX_NAME = 1024;

/** The format that a file name says, if any. */
export function formatOf(name: string): FileFormat | undefined {
  const suffix = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase();
  if (suffix === "csv" || suffix === "tsv") return suffix;
  return suffix === "jsonl" || suffix === "ndjson" ? "jsonl" : undefined;
}

/** Texts of bytes in UTF-8, without a byte order mark. `partial`: they end before the file does. Throws `file_invalid` for what is no text in UTF-8. */
export async function* textsOf(bytes: AsyncIterable<Uint8Array>, partial = false): AsyncGenerator<string> {
  const decode = textDecoder("the file");
  let isFirst = true;
  for await (const chunk of bytes) {
    const text = decode(chunk, true);
    yield isFirst ? text.replace(/^\ufeff/, "") : text;
    isFirst &&= text === "";
  }
  if (!partial) yield decode();
}

/**
 * Records of a CSV (RFC 4180), TSV, JSON Lines or JSON text that comes in chunks; of all but JSON one record and the head of the file are held. The header of a CSV may stand behind empty lines and titles ({@link csvHeader}). One that
 * holds a value (a number, what a recogniser finds) is a record and names nothing; a cell beyond the names is a column without one. Nested members of JSON are dotted, through lists too; the texts of a list are one value, joined by
 * a blank. `partial`: the text goes on, and the record that it ends in is left out. Throws `file_invalid` naming the record for what cannot be read, control characters that no text has among it.
 */
export async function* readRecords(
  chunks: AsyncIterable<string>,
  format: FileFormat,
  partial = false,
): AsyncGenerator<FileRecord> {
  if (format === "jsonl") yield* jsonLines(readable(chunks), partial);
  else if (format === "json") yield* jsonDocument(readable(chunks));
  else yield* delimited(rowsOf(readable(chunks), format === "tsv" ? "\t" : undefined, partial));
}

/** UTF-16 that was read as another encoding is full of these. */
async function* readable(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    if (chunk.includes("\0")) throw new CodedError("file_invalid", "it holds U+0000, which no text does");
    yield chunk;
  }
}

/** Rows, and characters of them, that say where the header is. */
const HEAD_ROWS = 100;
const HEAD = 1 << 20;

async function* delimited(rows: AsyncIterable<readonly string[]>): AsyncGenerator<FileRecord> {
  const columns = new Columns();
  const head: (readonly string[])[] = [];
  let held = 0;
  let number = 0;
  let isOpen = true;
  for await (const row of rows) {
    number++;
    if (row.length > MAX_COLUMNS) throw invalid(number, `more than ${MAX_COLUMNS} columns`);
    if (!isOpen) {
      if (!isEmptyLine(row)) yield { names: false, cells: columns.cells(row) };
      continue;
    }
    head.push(row);
    held += row.reduce((length, cell) => length + cell.length, row.length);
    if (head.length < HEAD_ROWS && held < HEAD) continue;
    isOpen = false;
    yield* headRecords(head, columns);
  }
  if (isOpen) yield* headRecords(head, columns);
}

/** Names the columns by the rows that do, and gives all of them: what stands above the records holds values too. */
function* headRecords(head: readonly (readonly string[])[], columns: Columns): Generator<FileRecord> {
  const header = csvHeader(head, (cell) => cell.trim() !== "");
  for (const [i, row] of head.entries()) if (header.isNaming(i)) columns.name(row);
  for (const [i, row] of head.entries()) {
    const names = i < header.row || (i === header.row && row.every(isHeaderName));
    if (isEmptyLine(row) || (i <= header.row && row.every((cell) => cell.trim() === ""))) continue;
    yield { names, cells: columns.cells(names ? row.map((cell) => (isHeaderName(cell) ? "" : cell)) : row) };
  }
}

function isEmptyLine(row: readonly string[]): boolean {
  return row.length === 1 && row[0] === "";
}

/** The columns of a table by what the rows above it say. */
class Columns {
  readonly #columns: FileColumn[] = [];

  /** A row that holds a value names nothing to people, and is evidence all the same. */
  name(row: readonly string[]): void {
    const isNames = row.every(isHeaderName);
    for (const [i, cell] of row.entries()) {
      const before = this.#column(i);
      const name = laterName(before.name, headerName(cell));
      if (name !== before.name)
        this.#columns[i] = isNames ? { id: before.id, name } : { ...this.#unnamed(i), name: name.slice(0, MAX_NAME) };
    }
  }

  cells(row: readonly string[]): readonly Cell[] {
    return row.map((value, i) => ({ ...this.#column(i), value }));
  }

  #column(i: number): FileColumn {
    for (let next = this.#columns.length; next <= i; next++) this.#columns.push(this.#unnamed(next));
    return this.#columns[i] ?? this.#unnamed(i);
  }

  #unnamed(i: number): FileColumn {
    return { id: `${i}`, name: "", called: `column ${i + 1}` };
  }
}

async function* rowsOf(
  chunks: AsyncIterable<string>,
  fixed: string | undefined,
  partial: boolean,
): AsyncGenerator<readonly string[]> {
  let splitter: CsvSplitter | undefined;
  let head = "";
  let lineEnds = 0;
  let number = 1;
  const begun = (): readonly [CsvSplitter, string] => {
    const { from, delimiter } = csvDialect(head, fixed);
    return [new CsvSplitter(delimiter), head.slice(from)];
  };
  for await (const chunk of chunks) {
    let text = chunk;
    if (splitter === undefined) {
      head += chunk;
      lineEnds += chunk.match(/[\r\n]/g)?.length ?? 0;
      if (!tellsDialect(head.length, lineEnds)) continue;
      [splitter, text] = begun();
    }
    for (const row of splitter.push(text)) {
      yield row;
      number++;
    }
    if (splitter.pending > MAX_RECORD) throw invalid(number, "longer than 16 MiB");
  }
  if (splitter === undefined) {
    let text = "";
    [splitter, text] = begun();
    yield* splitter.push(text);
  }
  if (partial) return;
  if (splitter.open) throw invalid(number, "a quote is not closed");
  yield* splitter.end();
}

async function* jsonLines(chunks: AsyncIterable<string>, partial: boolean): AsyncGenerator<FileRecord> {
  let number = 0;
  for await (const line of lines(chunks, partial)) {
    number++;
    if (line.trim() === "") continue;
    const value = parsed(line, number);
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(number, "not a JSON object");
    for (const cells of recordsOf(line, number)) yield { names: false, cells };
  }
}

/** Elements of a list are a record each; any other document is one. */
async function* jsonDocument(chunks: AsyncIterable<string>): AsyncGenerator<FileRecord> {
  let text = "";
  for await (const chunk of chunks) {
    text += chunk;
    if (text.length > MAX_RECORD) throw invalid(1, "longer than 16 MiB");
  }
  text = text.replace(/^\ufeff/, "");
  parsed(text, 1);
  for (const cells of recordsOf(text, 1)) yield { names: false, cells };
}

function parsed(text: string, number: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(number, "not JSON");
  }
}

/** The cells of each record of a text that is JSON. */
function* recordsOf(json: string, number: number): Generator<readonly Cell[]> {
  let cells: Cell[] = [];
  let count = 0;
  for (const cell of jsonCells(json)) {
    if (cell === undefined) {
      yield cells;
      cells = [];
      continue;
    }
    if (++count > MAX_CELLS) throw invalid(number, `more than ${MAX_CELLS} values`);
    if (cell.name.length > MAX_NAME) throw invalid(number, `a name of more than ${MAX_NAME} characters`);
    const { id, name, path, value } = cell;
    cells.push({ id, name, path, value });
  }
}

async function* lines(chunks: AsyncIterable<string>, partial: boolean): AsyncGenerator<string> {
  let rest = "";
  let number = 1;
  for await (const chunk of chunks) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    if (rest.length > MAX_RECORD) throw invalid(number, "longer than 16 MiB");
    number += parts.length;
    yield* parts;
  }
  if (rest !== "" && !partial) yield rest;
}

function invalid(record: number, message: string): CodedError {
  return new CodedError("file_invalid", `record ${record}: ${message}`, { record });
}
