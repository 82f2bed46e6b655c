import {
  CsvSplitter,
  columnName,
  csvDialect,
  csvHeader,
  DEFAULT_RECOGNISERS,
  jsonTokens,
  laterName,
  plainNumber,
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
    const names = i < header.row || (i === header.row && row.every(isName));
    if (isEmptyLine(row) || (i <= header.row && row.every((cell) => cell.trim() === ""))) continue;
    yield { names, cells: columns.cells(names ? row.map((cell) => (isName(cell) ? "" : cell)) : row) };
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
    const isNames = row.every(isName);
    for (const [i, cell] of row.entries()) {
      const before = this.#column(i);
      const name = laterName(before.name, nameOf(cell));
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

function nameOf(cell: string): string {
  return cell.trim().replace(/\s+/g, " ");
}

/** Whether a cell above the records may be a name. */
function isName(cell: string): boolean {
  const name = nameOf(cell);
  if (name.length > MAX_NAME || (/\d/.test(name) && !/\p{L}/u.test(name))) return false;
  return name === "" || columnName(name, DEFAULT_RECOGNISERS) === name;
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

/** An object or a list that is open, and the column that it is. */
interface Open extends FileColumn {
  /** Of a list. */
  readonly texts?: string[];
  /** Of an object: the member that comes next, or `undefined` where its name does. */
  member?: FileColumn;
  readonly members: Map<string, number>;
}

/** The cells of each record of a text that is JSON. Two members of one name are two columns, which `JSON.parse` does not tell. */
function* recordsOf(json: string, number: number): Generator<readonly Cell[]> {
  const isList = json.trimStart().startsWith("[");
  let cells: Cell[] = [];
  let count = 0;
  const open: Open[] = [];
  const add = ({ id, name, path = [] }: FileColumn, value: string): void => {
    if (++count > MAX_CELLS) throw invalid(number, `more than ${MAX_CELLS} values`);
    cells.push({ id, name, path, value });
  };
  const root: FileColumn = { id: "", name: "" };
  for (const { kind, token } of jsonTokens(json)) {
    const inside = open.at(-1);
    const here = inside === undefined ? root : inside.texts === undefined ? inside.member : inside;
    if (kind === "open") {
      const { id, name, path = [] } = here ?? root;
      open.push({ id, name, path, members: new Map(), ...(token === "[" ? { texts: [] } : {}) });
    } else if (kind === "close") {
      open.pop();
      if (inside?.texts !== undefined && inside.texts.length > 0) add(inside, inside.texts.join(" "));
    } else if (kind === "next") {
      if (inside?.texts === undefined) delete inside?.member;
    } else if (kind === "name") {
      if (inside !== undefined) inside.member = memberOf(inside, JSON.parse(token) as string, number);
    } else if (here !== undefined && token !== "null") {
      const text = kind === "text" ? (JSON.parse(token) as string) : (plainNumber(token) ?? token);
      if (inside?.texts !== undefined && !(isList && open.length === 1)) inside.texts.push(text);
      else add(here, text);
    }
    if (!isList || open.length !== 1 || kind === "open" || kind === "next") continue;
    yield cells;
    cells = [];
  }
  if (!isList) yield cells;
}

function memberOf(inside: Open, key: string, number: number): FileColumn {
  const before = inside.members.get(key) ?? 0;
  inside.members.set(key, before + 1);
  const path = [...(inside.path ?? []), key];
  const name = path.length === 1 ? key : `${inside.name}.${key}`;
  if (name.length > MAX_NAME) throw invalid(number, `a name of more than ${MAX_NAME} characters`);
  return { id: `${inside.id}${before === 0 ? "" : `\0${before}`}\0.${key}`, name, path };
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
