import { columnName, DEFAULT_RECOGNISERS } from "@seneschal/governance";
import { CodedError } from "@seneschal/kernel";
import { type DecodedArray, type FileMetaData, parquetMetadata, parquetSchema, type SchemaTree } from "hyparquet";
import { getTreePath } from "hyparquet/src/schema.js";
import { PageTooLarge } from "./check-page.ts";
import { checkThrift } from "./check-thrift.ts";
import { type ColumnShape, dictionaryOf, type PageStart, type PageValues, pageStart, valuesOf } from "./decode-page.ts";
import { FETCH, PageCursor, type RandomAccess } from "./page-cursor.ts";

/** Values of one page of one column. */
export interface ParquetValues {
  /** Which column it is: two may have one name. */
  readonly id: string;
  readonly path: readonly string[];
  /** Nested fields are dotted. */
  readonly column: string;
  readonly values: readonly string[];
  /** Some are bytes that are no text, and not among `values`. */
  readonly unread: boolean;
  /** Bytes of the file behind which the page ends. */
  readonly read: number;
  /** Rows of the whole file. */
  readonly records: number;
}

/** One page of one column. */
export interface ParquetPage extends PageValues {
  readonly id: string;
  readonly path: readonly string[];
  readonly column: string;
  readonly shape: ColumnShape;
  readonly read: number;
  readonly records: number;
}

const MAX_FOOTER = 64 * 1024 * 1024;
const MAX_COLUMNS = 10_000;
/** Longest page header; statistics in it can hold two long values, but seldom do. */
const USUAL_HEADER = 4096;
const MAX_HEADER = 1024 * 1024;

/**
 * Streams the values of a Parquet file (format 2.x; plain, dictionary, RLE, delta and split encodings; snappy, gzip, brotli, zstd, lz4) page by page. What a page
 * claims is checked before it is unpacked. Of a file of more than `most` bytes the first pages of every column are read, in row groups that are spread over it. Throws `file_invalid`
 * naming the column.
 */
export async function* readParquet(file: RandomAccess, most = Number.POSITIVE_INFINITY): AsyncGenerator<ParquetValues> {
  for await (const { id, path, column, values, read, records } of readParquetPages(file, most))
    yield { id, path, column, ...textsOf(values), read, records };
}

/** What a file says of its columns, and how many rows it has. Throws `file_invalid`. */
export async function readParquetSchema(file: RandomAccess): Promise<{ readonly tree: SchemaTree; readonly records: number }> {
  return inspected(await metadataOf(file), file.byteLength);
}

/** The same, with values as the file has them; `stored`: as {@link ColumnShape} says. */
export async function* readParquetPages(
  file: RandomAccess,
  most = Number.POSITIVE_INFINITY,
  stored = false,
): AsyncGenerator<ParquetPage> {
  const metadata = await metadataOf(file);
  const { tree, records } = inspected(metadata, file.byteLength);
  const { groups, each } = sampled(metadata.row_groups, file.byteLength > most ? most : Number.POSITIVE_INFINITY);
  for (const group of groups) {
    for (const [i, chunk] of group.columns.entries()) {
      const meta = chunk.meta_data;
      if (meta === undefined || chunk.file_path !== undefined) throw invalid("columns in other files are not read");
      // The decoder of footers gives what it finds, whatever its type says.
      if (!Array.isArray(meta.path_in_schema)) throw invalid("a column without a path");
      const path = partsOf(meta.path_in_schema);
      const column = path.join(".");
      try {
        const place = meta.path_in_schema;
        const shape = { path: place, schemaPath: getTreePath(tree, place), codec: meta.codec, stored };
        const from = Number(meta.dictionary_page_offset || meta.data_page_offset);
        const to = from + Number(meta.total_compressed_size);
        if (!(from >= 0 && to >= from && to <= file.byteLength)) throw new RangeError("a column outside the file");
        const cursor = new PageCursor(file, from, to);
        for await (const page of pages(cursor, shape, Number(meta.num_values))) {
          yield Object.assign(page, { id: `${i}`, path, column, shape, read: cursor.offset, records });
          if (cursor.offset - from >= each) break;
        }
      } catch (cause) {
        if (cause instanceof CodedError) throw cause;
        const why = cause instanceof PageTooLarge ? cause.message : "the column cannot be decoded";
        const told = columnName(path, DEFAULT_RECOGNISERS);
        throw new CodedError("file_invalid", `column ${told}: ${why}`, { column: told, reason: why }, cause);
      }
    }
  }
}

/** Row groups to read, the first among them, and bytes of each of their columns: a page at least, which is fetched by the mebibyte. */
function sampled(groups: FileMetaData["row_groups"], most: number) {
  if (most === Number.POSITIVE_INFINITY) return { groups, each: most };
  const columns = Math.max(1, groups[0]?.columns.length ?? 0);
  const step = Math.max(1, Math.ceil((groups.length * columns * FETCH) / most));
  const chosen = groups.filter((_, i) => i % step === 0);
  return { groups: chosen, each: most / (Math.max(1, chosen.length) * columns) };
}

async function* pages(cursor: PageCursor, column: ColumnShape, total: number): AsyncGenerator<PageValues> {
  let dictionary: DecodedArray | undefined;
  for (let seen = 0; seen < total && !cursor.done; ) {
    const start = await startAt(cursor);
    cursor.offset += start.size;
    const { compressed_page_size: length, type } = start.header;
    const body = await cursor.peek(length);
    if (body.length < length) throw new RangeError("a page outside its column");
    cursor.offset += length;
    if (type === "DICTIONARY_PAGE") dictionary = dictionaryOf(start, body, column);
    else {
      seen += start.values;
      yield valuesOf(start, body, column, dictionary);
    }
  }
}

async function startAt(cursor: PageCursor): Promise<PageStart> {
  try {
    return pageStart(await cursor.peek(USUAL_HEADER));
  } catch (error) {
    if (error instanceof PageTooLarge) throw error;
    return pageStart(await cursor.peek(MAX_HEADER));
  }
}

function textsOf(values: DecodedArray): Pick<ParquetValues, "values" | "unread"> {
  const texts: string[] = [];
  let unread = false;
  for (const value of values as ArrayLike<unknown> & Iterable<unknown>) {
    const text = textOf(value);
    if (text !== undefined) texts.push(text);
    else unread ||= value !== null && value !== undefined;
  }
  return { values: texts, unread };
}

/** What decoding makes of bytes that are no text in UTF-8, or are one in UTF-16. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NO_TEXT = /[\0-\x08\ufffd]/;

/** A value as a text; `undefined` for bytes that are none and what is made of several. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return NO_TEXT.test(value) ? undefined : value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean" ? String(value) : undefined;
}

async function metadataOf(file: RandomAccess): Promise<FileMetaData> {
  const tail = await file.read(Math.max(0, file.byteLength - 8), file.byteLength);
  const magic = Buffer.from(tail.subarray(-4)).toString("latin1");
  if (magic === "PARE") throw invalid("an encrypted footer is not read");
  if (tail.length < 8 || magic !== "PAR1") throw invalid("not a Parquet file");
  const length = Buffer.from(tail).readUInt32LE(0);
  if (length > MAX_FOOTER || length > file.byteLength - 12) throw invalid("the footer is larger than it may be");
  const footer = await file.read(file.byteLength - length - 8, file.byteLength);
  try {
    checkThrift(footer.subarray(0, length));
    return parquetMetadata(Uint8Array.from(footer), { geoparquet: false });
  } catch (cause) {
    throw invalid("the footer cannot be read", cause);
  }
}

function inspected(metadata: FileMetaData, size: number): { readonly tree: SchemaTree; readonly records: number } {
  if (metadata.schema.length > MAX_COLUMNS) throw invalid(`more than ${MAX_COLUMNS} columns`);
  let claimed = 0;
  for (const { columns } of metadata.row_groups)
    for (const { meta_data } of columns) claimed += Number(meta_data?.total_compressed_size ?? 0);
  // Columns that share bytes would be read over and over.
  if (!(claimed <= size)) throw invalid("the columns claim more bytes than the file has");
  try {
    return { tree: parquetSchema(metadata), records: Number(metadata.num_rows) };
  } catch (cause) {
    throw invalid("the schema cannot be read", cause);
  }
}

/** Names that only Parquet's encoding of lists and maps adds. */
const STRUCTURAL = new Set(["list", "element", "bag", "array_element", "item", "key_value"]);

function partsOf(path: readonly string[]): readonly string[] {
  return path.filter((_, i) => isNaming(path, i));
}

/** Whether a name on the way to a column says something, and is not there for the encoding's sake alone. */
export function isNaming(path: readonly string[], place: number): boolean {
  return place === 0 || !STRUCTURAL.has(path[place] ?? "");
}

function invalid(message: string, cause?: unknown): CodedError {
  return new CodedError("file_invalid", message, {}, cause);
}
