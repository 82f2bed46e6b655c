import type { DecodedArray, Encoding, PageHeader, SchemaElement, SchemaTree } from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import { convert, convertWithDictionary, DEFAULT_PARSERS } from "hyparquet/src/convert.js";
import { readDataPage, readDataPageV2 } from "hyparquet/src/datapage.js";
import { readPlain } from "hyparquet/src/plain.js";
import { getMaxDefinitionLevel, getMaxRepetitionLevel } from "hyparquet/src/schema.js";
import { checkDeltaStrings, checkLevels, checkRuns, MAX_PAGE_BYTES, MAX_PAGE_VALUES, PageTooLarge } from "./check-page.ts";
import { checkThrift } from "./check-thrift.ts";
import { decompress } from "./decompress.ts";

/** What decoding a column's pages takes. */
export interface ColumnShape {
  readonly path: readonly string[];
  readonly schemaPath: readonly SchemaTree[];
  readonly codec: string;
  /** Values as they are stored, whatever type the column says they are of; INT96 as nanoseconds since 1970. */
  readonly stored?: boolean;
}

/** A header with the bytes that it takes itself, and the sizes that it claims checked. */
export interface PageStart {
  readonly header: PageHeader;
  readonly size: number;
  readonly values: number;
}

/** Reads the header at the start of `bytes`. Throws {@link PageTooLarge} for sizes that no honest page has. */
export function pageStart(bytes: Uint8Array): PageStart {
  checkThrift(bytes);
  const reader = { view: viewOf(bytes), offset: 0 };
  const header = parquetHeader(reader);
  const data = header.data_page_header ?? header.data_page_header_v2 ?? header.dictionary_page_header;
  const values = data?.num_values ?? 0;
  for (const [size, most] of [
    [header.compressed_page_size, MAX_PAGE_BYTES],
    [header.uncompressed_page_size, MAX_PAGE_BYTES],
    [values, MAX_PAGE_VALUES],
  ] as const) {
    if (!Number.isInteger(size) || size < 0 || size > most) throw new PageTooLarge();
  }
  return { header, size: reader.offset, values };
}

/** The dictionary of a column chunk. */
export function dictionaryOf({ header, values }: PageStart, body: Uint8Array, column: ColumnShape): DecodedArray {
  const decoder = decoderOf(column);
  const page = decompress(column.codec, body, header.uncompressed_page_size);
  const { type, type_length } = decoder.element;
  if (type === undefined) throw new Error("a column without a type");
  // A value of no bytes could be claimed any number of times.
  if (type !== "BOOLEAN" && values > page.length) throw new PageTooLarge();
  return convert(readPlain({ view: viewOf(page), offset: 0 }, type, values, type_length), decoder);
}

/** The values of a data page that are not null, how deep each of its places is defined, where some are null, and at which depth it goes on a list, where there are any. */
export interface PageValues {
  readonly values: DecodedArray;
  readonly definition: readonly number[];
  readonly repetition: readonly number[];
}

/** The values of a data page. */
export function valuesOf(
  start: PageStart,
  body: Uint8Array,
  column: ColumnShape,
  dictionary: DecodedArray | undefined,
): PageValues {
  const decoder = decoderOf(column);
  const { header } = start;
  if (header.data_page_header !== undefined) {
    const page = decompress(column.codec, body, header.uncompressed_page_size);
    checkPage(page, start.values, header.data_page_header.encoding, decoder);
    const { dataPage, definitionLevels, repetitionLevels } = readDataPage(page, header.data_page_header, decoder);
    const values = convertWithDictionary(dataPage, dictionary, header.data_page_header.encoding, decoder);
    return { values, definition: definitionLevels ?? [], repetition: repetitionLevels };
  }
  const v2 = header.data_page_header_v2;
  if (v2 === undefined) return { values: [], definition: [], repetition: [] };
  const levels = v2.repetition_levels_byte_length + v2.definition_levels_byte_length;
  if (!(levels >= 0 && levels <= body.length && levels <= header.uncompressed_page_size)) throw new PageTooLarge();
  if (!(v2.num_nulls >= 0 && v2.num_nulls <= v2.num_values)) throw new PageTooLarge();
  const packed = body.subarray(levels);
  const length = header.uncompressed_page_size - levels;
  const unpacked = v2.is_compressed === false ? packed : decompress(column.codec, packed, length);
  const page = new Uint8Array(levels + unpacked.length);
  page.set(body.subarray(0, levels));
  page.set(unpacked, levels);
  const view = viewOf(page);
  const { repetition, definition } = levelsOf(decoder);
  const split = v2.repetition_levels_byte_length;
  if (repetition > 0) checkLevels(view, 0, split, widthOf(repetition), start.values);
  if (definition > 0) checkLevels(view, split, levels, widthOf(definition), start.values);
  // The decoder takes what should not be there for values.
  else if (levels > split) throw new PageTooLarge();
  checkValues(view, levels, v2.encoding, start.values, decoder);
  const { dataPage, definitionLevels, repetitionLevels } = readDataPageV2(
    page,
    { ...header, data_page_header_v2: { ...v2, is_compressed: false } },
    decoder,
  );
  const values = convertWithDictionary(dataPage, dictionary, v2.encoding, decoder);
  return { values, definition: definitionLevels ?? [], repetition: repetitionLevels };
}

type Decoder = Parameters<typeof readDataPage>[2];

function decoderOf({ path, schemaPath, codec, stored = false }: ColumnShape): Decoder {
  const element = schemaPath.at(-1)?.element;
  if (element?.type === undefined) throw new Error("a column without a type");
  const decoder = { pathInSchema: [...path], schemaPath: [...schemaPath], type: element.type, codec: codec as Decoder["codec"] };
  if (!stored) {
    // JSON stays text: its leaves are searched as they stand.
    return { ...decoder, element, parsers: { ...DEFAULT_PARSERS, jsonFromBytes: DEFAULT_PARSERS.stringFromBytes } };
  }
  // The decoder takes whatever this gives for a time.
  const timestampFromNanoseconds = ((nanos: bigint) => nanos) as unknown as typeof DEFAULT_PARSERS.timestampFromNanoseconds;
  return {
    ...decoder,
    element: storedElement(element),
    parsers: { ...DEFAULT_PARSERS, timestampFromNanoseconds },
    utf8: false,
  };
}

/** An element that says nothing of its values but how they are stored. */
export function storedElement({ name, type, type_length, repetition_type }: SchemaElement): SchemaElement {
  return {
    name,
    ...(type !== undefined && { type }),
    ...(type_length !== undefined && { type_length }),
    ...(repetition_type !== undefined && { repetition_type }),
  };
}

/** How many lists, and how many elements that may be missing, a column's values stand in. */
export function levelsOf({ schemaPath }: Pick<ColumnShape, "schemaPath">): {
  readonly repetition: number;
  readonly definition: number;
} {
  const path = [...schemaPath];
  return { repetition: getMaxRepetitionLevel(path), definition: getMaxDefinitionLevel(path) };
}

/** A version 1 page: lengths stand before the levels. */
function checkPage(page: Uint8Array, values: number, encoding: Encoding, decoder: Decoder): void {
  const view = viewOf(page);
  const { repetition, definition } = levelsOf(decoder);
  let offset = 0;
  for (const level of [repetition, definition]) {
    if (level === 0) continue;
    const length = view.getUint32(offset, true);
    offset += 4;
    if (length > page.length - offset) throw new PageTooLarge();
    checkLevels(view, offset, offset + length, widthOf(level), values);
    offset += length;
  }
  checkValues(view, offset, encoding, values, decoder);
}

function checkValues(view: DataView, offset: number, encoding: Encoding, values: number, { type }: Decoder): void {
  const end = view.byteLength;
  if (encoding === "DELTA_BYTE_ARRAY") {
    if (offset < end) checkDeltaStrings(view, offset, values);
  } else if (encoding === "RLE" || encoding === "PLAIN_DICTIONARY" || encoding === "RLE_DICTIONARY") {
    if (offset >= end) return;
    // Booleans have their length before the runs, indexes their width.
    if (type === "BOOLEAN") checkRuns(view, offset + 4, 1, values);
    else checkRuns(view, offset + 1, view.getUint8(offset), values);
  }
}

function widthOf(level: number): number {
  return 32 - Math.clz32(level);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
