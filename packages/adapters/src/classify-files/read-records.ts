import { CsvSplitter } from "@seneschal/governance";
import { CodedError } from "@seneschal/kernel";

/** Formats that can be read as a stream of records. */
export type FileFormat = "csv" | "tsv" | "jsonl";

/** One record: cells by column name. */
export type FileRecord = Readonly<Record<string, string>>;

/** Longest line or quoted record, in characters: what is longer is no table. */
const MAX_RECORD = 16 * 1024 * 1024;
const MAX_COLUMNS = 10_000;

/** The format that a file name says, if any. */
export function formatOf(name: string): FileFormat | undefined {
  const suffix = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase();
  if (suffix === "csv" || suffix === "tsv") return suffix;
  return suffix === "jsonl" || suffix === "ndjson" ? "jsonl" : undefined;
}

/**
 * Records of a CSV (RFC 4180), TSV or JSON Lines text that comes in chunks, without holding more than one record. A short CSV row lacks its last cells, a long
 * one is cut. Throws `file_invalid` naming the record for what cannot be read.
 */
export async function* readRecords(chunks: AsyncIterable<string>, format: FileFormat): AsyncGenerator<FileRecord> {
  if (format === "jsonl") yield* jsonLines(chunks);
  else yield* delimited(chunks, format === "tsv" ? "\t" : undefined);
}

async function* delimited(chunks: AsyncIterable<string>, fixed: string | undefined): AsyncGenerator<FileRecord> {
  let header: readonly string[] | undefined;
  let number = 0;
  for await (const cells of rowsOf(chunks, fixed)) {
    number++;
    if (cells.length > MAX_COLUMNS) throw invalid(number, `more than ${MAX_COLUMNS} columns`);
    if (header === undefined) {
      header = cells.map((cell, i) => (cell.trim() === "" ? `column ${i + 1}` : cell.trim()));
      continue;
    }
    if (cells.length === 1 && cells[0] === "") continue;
    yield Object.fromEntries(header.map((name, i) => [name, cells[i] ?? ""]));
  }
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
    yield flattened(value as Record<string, unknown>);
  }
}

/** Nested objects become dotted columns, arrays their elements joined by a blank. */
function flattened(value: Record<string, unknown>): FileRecord {
  const cells: Record<string, string> = {};
  const stack: (readonly [string, unknown])[] = Object.entries(value);
  for (let i = 0; i < stack.length && i < MAX_COLUMNS; i++) {
    const [name, item] = stack[i] ?? ["", undefined];
    if (item === null || item === undefined) continue;
    if (Array.isArray(item)) cells[name] = item.map((x) => (typeof x === "object" ? JSON.stringify(x) : String(x))).join(" ");
    else if (typeof item === "object")
      stack.push(...Object.entries(item).map(([key, child]) => [`${name}.${key}`, child] as const));
    else cells[name] = String(item);
  }
  return cells;
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
