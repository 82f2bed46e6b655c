import { CodedError } from "@seneschal/core";

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
  for await (const text of records(chunks)) {
    number++;
    const delimiter = fixed ?? delimiterOf(text, header);
    const cells = cellsOf(text, delimiter, number);
    if (header === undefined) {
      header = cells.map((cell, i) => (cell.trim() === "" ? `column ${i + 1}` : cell.trim()));
      if (header.length > MAX_COLUMNS) throw invalid(number, `more than ${MAX_COLUMNS} columns`);
      fixed = delimiter;
      continue;
    }
    if (cells.length === 1 && cells[0] === "") continue;
    yield Object.fromEntries(header.map((name, i) => [name, cells[i] ?? ""]));
  }
}

/** The most frequent candidate of the header line. */
function delimiterOf(text: string, header: readonly string[] | undefined): string {
  if (header !== undefined) return ",";
  const counts = [",", ";", "\t", "|"].map((d) => [d, text.split(d).length] as const);
  return counts.reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}

/** Record texts: lines, joined while a quote is open. */
async function* records(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  let quoted = false;
  let number = 1;
  let first = true;
  for await (const chunk of chunks) {
    const text = first ? chunk.replace(/^\ufeff/, "") : chunk;
    first = false;
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c === 0x22) quoted = !quoted;
      else if (c === 0x0a && !quoted) {
        yield (rest + text.slice(from, i)).replace(/\r$/, "");
        number++;
        rest = "";
        from = i + 1;
      }
    }
    rest += text.slice(from);
    if (rest.length > MAX_RECORD) throw invalid(number, "longer than 16 MiB");
  }
  if (quoted) throw invalid(number, "a quote is not closed");
  if (rest !== "") yield rest.replace(/\r$/, "");
}

function cellsOf(text: string, delimiter: string, number: number): string[] {
  const cells: string[] = [];
  let cell = "";
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] ?? "";
    if (quoted) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') {
        cell += '"';
        i++;
      } else quoted = false;
    } else if (c === '"' && cell === "") quoted = true;
    else if (c === delimiter) {
      cells.push(cell);
      cell = "";
      if (cells.length > MAX_COLUMNS) throw invalid(number, `more than ${MAX_COLUMNS} columns`);
    } else cell += c;
  }
  cells.push(cell);
  return cells;
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
