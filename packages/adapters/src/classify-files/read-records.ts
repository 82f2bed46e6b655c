import { CsvSplitter, columnName, DEFAULT_RECOGNISERS } from "@seneschal/governance";
import { CodedError } from "@seneschal/kernel";
import type { FileColumn } from "./column-samples.ts";

/** Formats that can be read as a stream of records. */
export type FileFormat = "csv" | "tsv" | "jsonl";

/** One value of a record. */
export interface Cell extends FileColumn {
  readonly value: string;
}

/** One record; `names`: it names the columns of those that follow, and holds no value. */
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

/** Texts of bytes in UTF-8, without a byte order mark. `partial`: they end before the file does. Throws `file_invalid` for bytes that are no UTF-8. */
export async function* textsOf(bytes: AsyncIterable<Uint8Array>, partial = false): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const text = (chunk?: Uint8Array): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch {
      throw new CodedError("file_invalid", "it is no text in UTF-8");
    }
  };
  for await (const chunk of bytes) yield text(chunk);
  if (!partial) yield text();
}

/**
 * Records of a CSV (RFC 4180), TSV or JSON Lines text that comes in chunks, without holding more than one record. A first row that holds a value (a number, what a recogniser finds) is a record and
 * names nothing; a cell beyond the names is a column without one. Nested members of JSON are dotted, through lists too; the texts of a list are one value, joined by a blank. Throws `file_invalid`
 * naming the record for what cannot be read, control characters that no text has among it.
 */
export async function* readRecords(chunks: AsyncIterable<string>, format: FileFormat): AsyncGenerator<FileRecord> {
  if (format === "jsonl") yield* jsonLines(readable(chunks));
  else yield* delimited(readable(chunks), format === "tsv" ? "\t" : undefined);
}

/** UTF-16 that was read as another encoding is full of these. */
async function* readable(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    if (chunk.includes("\0")) throw new CodedError("file_invalid", "it holds U+0000, which no text does");
    yield chunk;
  }
}

async function* delimited(chunks: AsyncIterable<string>, fixed: string | undefined): AsyncGenerator<FileRecord> {
  const columns: FileColumn[] = [];
  let number = 0;
  for await (const row of rowsOf(chunks, fixed)) {
    number++;
    if (row.length > MAX_COLUMNS) throw invalid(number, `more than ${MAX_COLUMNS} columns`);
    // Before the names, also Excel's line that says which delimiter there is.
    if (columns.length === 0 && /^(?:sep=)?$/i.test(row.join("").trim())) continue;
    if (row.length === 1 && row[0] === "") continue;
    const names = columns.length === 0 && row.every(isName);
    for (let i = columns.length; i < row.length; i++) {
      const name = nameOf(row[i] ?? "");
      const called = `column ${i + 1}`;
      columns.push(names && name !== "" ? { id: `${i}`, name } : { id: `${i}`, name: name.slice(0, MAX_NAME), called });
    }
    yield { names, cells: columns.slice(0, row.length).map((column, i) => ({ ...column, value: names ? "" : (row[i] ?? "") })) };
  }
}

function nameOf(cell: string): string {
  return cell.trim().replace(/\s+/g, " ");
}

/** Whether a cell of the first row may be a name. */
function isName(cell: string): boolean {
  const name = nameOf(cell);
  if (name.length > MAX_NAME || (/\d/.test(name) && !/\p{L}/u.test(name))) return false;
  return name === "" || columnName(name, DEFAULT_RECOGNISERS) === name;
}

async function* rowsOf(chunks: AsyncIterable<string>, fixed: string | undefined): AsyncGenerator<readonly string[]> {
  let splitter = fixed === undefined ? undefined : new CsvSplitter(fixed);
  let head = "";
  let first = true;
  let number = 1;
  for await (const chunk of chunks) {
    let text = first ? chunk.replace(/^\ufeff/, "") : chunk;
    first = false;
    if (splitter === undefined) {
      head += text;
      if (head.length > MAX_RECORD) throw invalid(1, "longer than 16 MiB");
      if (!/[\r\n]/.test(text)) continue;
      splitter = new CsvSplitter(delimiterOf(head));
      text = head;
    }
    for (const row of splitter.push(text)) {
      yield row;
      number++;
    }
    if (splitter.pending > MAX_RECORD) throw invalid(number, "longer than 16 MiB");
  }
  if (splitter === undefined) {
    splitter = new CsvSplitter(delimiterOf(head));
    yield* splitter.push(head);
  }
  if (splitter.open) throw invalid(number, "a quote is not closed");
  yield* splitter.end();
}

/** The most frequent candidate of the header line. */
function delimiterOf(head: string): string {
  const line = head.split(/[\r\n]/, 1)[0] ?? "";
  const counts = [",", ";", "\t", "|"].map((d) => [d, line.split(d).length] as const);
  return counts.reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}

async function* jsonLines(chunks: AsyncIterable<string>): AsyncGenerator<FileRecord> {
  let number = 0;
  for await (const line of lines(chunks)) {
    number++;
    if (line.trim() === "") continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw invalid(number, "not JSON");
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(number, "not a JSON object");
    yield { names: false, cells: cellsOf(line, number) };
  }
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],]/g;

/** An object or a list that is open, and the column that it is. */
interface Open extends FileColumn {
  /** Of a list. */
  readonly texts?: string[];
  /** Of an object: the member that comes next, or `undefined` where its name does. */
  member?: FileColumn;
  readonly members: Map<string, number>;
}

/** The cells of a record that is JSON. Two members of one name are two columns, which `JSON.parse` does not tell. */
function cellsOf(line: string, number: number): readonly Cell[] {
  const cells: Cell[] = [];
  const open: Open[] = [];
  const add = (column: FileColumn, value: string): void => {
    if (cells.push({ id: column.id, name: column.name, path: column.path ?? [], value }) > MAX_CELLS)
      throw invalid(number, `more than ${MAX_CELLS} values`);
  };
  for (const [token] of line.matchAll(TOKEN)) {
    const inside = open.at(-1);
    const here = inside?.texts === undefined ? inside?.member : inside;
    if (token === "{" || token === "[") {
      const { id, name, path = [] } = here ?? { id: "", name: "" };
      open.push({ id, name, path, members: new Map(), ...(token === "[" ? { texts: [] } : {}) });
    } else if (token === "}" || token === "]") {
      open.pop();
      if (inside?.texts !== undefined && inside.texts.length > 0) add(inside, inside.texts.join(" "));
    } else if (token === ",") {
      if (inside?.texts === undefined) delete inside?.member;
    } else if (here === undefined) {
      if (inside !== undefined) inside.member = memberOf(inside, JSON.parse(token) as string, open.length === 1, number);
    } else if (token !== "null") {
      const text = token.startsWith('"') ? (JSON.parse(token) as string) : /^-?\d+$/.test(token) ? token : numberOf(token);
      if (inside?.texts !== undefined) inside.texts.push(text);
      else add(here, text);
    }
  }
  return cells;
}

function memberOf(inside: Open, key: string, outermost: boolean, number: number): FileColumn {
  const before = inside.members.get(key) ?? 0;
  inside.members.set(key, before + 1);
  const name = outermost ? key : `${inside.name}.${key}`;
  if (name.length > MAX_NAME) throw invalid(number, `a name of more than ${MAX_NAME} characters`);
  return { id: `${inside.id}${before === 0 ? "" : `\0${before}`}\0.${key}`, name, path: [...(inside.path ?? []), key] };
}

/** `4.1e3` is 4100. */
function numberOf(token: string): string {
  return /^-?\d/.test(token) ? String(Number(token)) : token;
}

async function* lines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  let number = 1;
  for await (const chunk of chunks) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    if (rest.length > MAX_RECORD) throw invalid(number, "longer than 16 MiB");
    number += parts.length;
    yield* parts;
  }
  if (rest !== "") yield rest;
}

function invalid(record: number, message: string): CodedError {
  return new CodedError("file_invalid", `record ${record}: ${message}`, { record });
}
