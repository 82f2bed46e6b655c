import {
  checkRedactionOptions,
  type RedactionKeys,
  type RedactionOptions,
  redactColumns,
  restore,
  type TierPolicy,
} from "@seneschal/governance";
import { CodedError, checkArgument } from "@seneschal/kernel";
import type { SchemaElement } from "hyparquet";
import { missingBackEnd } from "../back-end.ts";
import type { RandomAccess } from "../classify-files/index.ts";
import { isTextColumn, type ReadStored, readerOf, textColumn } from "./parquet-column.ts";
import type { RedactedFile, RestoredFile } from "./redacted-file.ts";

/** Cells that are held at once. */
const MOST_CELLS = 16 << 20;

interface Column {
  readonly element: SchemaElement;
  /** As the file stores them; texts may be texts. */
  readonly cells: readonly unknown[];
}

/**
 * Redacts a Parquet file: the cells of its columns with what the column's name says of them, and the names; those that become equal are numbered. A column keeps its type and its values to the bit unless something
 * in it is redacted, which makes texts of all; INT96 becomes a timestamp in nanoseconds. Statistics and what the footer holds beside the schema are left out. Needs the package hyparquet-writer.
 *
 * Throws `file_invalid` naming the column that cannot be read: lists and structures, two of one name, bytes that are no text in UTF-8, types that nobody reads (intervals, BSON, geometries, variants) and whatever `classifyParquet`
 * refuses; `back_end_missing`.
 */
export async function redactParquet(file: RandomAccess, options: RedactionOptions): Promise<RedactedFile> {
  checkRedactionOptions(options);
  checkArgument("file", file, "object");
  const counts = new Map<string, number>();
  const bytes = await rewritten(file, (columns) => {
    const read = columns.map(({ element, texts }) => ({ name: element.name, cells: texts }));
    return redactColumns(read, options).map(({ name, cells, counts: found }, i) => {
      const column = columns[i] as ReadColumn;
      for (const [entity, count] of found) counts.set(entity, (counts.get(entity) ?? 0) + count);
      const isChanged = cells.some((cell, row) => cell !== column.texts[row]);
      return [name, isChanged ? { element: textColumn(column.element), cells } : column];
    });
  });
  return { bytes, counts };
}

/** A Parquet file with the values back, as texts, that `tokenise` and `encrypt` of this key took. Throws as {@link redactParquet}. */
export async function restoreParquet(file: RandomAccess, policy: TierPolicy, keys: RedactionKeys): Promise<RestoredFile> {
  checkArgument("file", file, "object");
  checkArgument("policy", policy, "object");
  checkArgument("keys", keys, "object");
  let restored = 0;
  const back = (text: string): string => {
    const done = restore(text, policy, keys);
    restored += done.count;
    return done.text;
  };
  const bytes = await rewritten(file, (columns) =>
    columns.map(({ element, cells, texts }) => {
      const isText = isTextColumn(element);
      return [back(element.name), { element, cells: isText ? texts.map((text) => text && back(text)) : cells }];
    }),
  );
  return { bytes, count: restored };
}

interface ReadColumn extends Column {
  /** What the cells say. */
  readonly texts: readonly (string | null)[];
}

type Change = (columns: readonly ReadColumn[]) => readonly (readonly [name: string, Column])[];

async function rewritten(file: RandomAccess, change: Change): Promise<Uint8Array> {
  const { readParquetPages, readParquetSchema } = await import("../classify-files/parquet/read-parquet.ts");
  const { columns, records } = await readParquetSchema(file);
  const open = new Map<string, { readonly element: SchemaElement; readonly read: ReadStored; readonly cells: unknown[] }>();
  for (const { element, children } of columns) {
    const { name } = element;
    if (children.length > 0 || element.num_children !== undefined || element.repetition_type === "REPEATED")
      refuse(name, "lists and structures are not redacted");
    if (open.has(name)) refuse(name, "two columns have this name");
    const read = readerOf(element) ?? refuse(name, "its type is not redacted");
    open.set(name, { element, read, cells: [] });
  }
  let total = 0;
  for await (const { column: name, values, definition } of readParquetPages(file, undefined, true)) {
    const { cells } = open.get(name) ?? refuse(name, "no such column is in the schema");
    const places = definition.length > 0 ? definition.length : values.length;
    total += places;
    if (total > MOST_CELLS) refuse(name, "more cells than can be held");
    let next = 0;
    for (let place = 0; place < places; place++) cells.push(definition[place] === 0 ? null : values[next++]);
  }
  const read = [...open].map(([name, { element, read, cells }]): ReadColumn => {
    if (cells.length !== records) refuse(name, "has not as many cells as the file has rows");
    const texts = cells.map((cell) =>
      cell === null ? null : (read(cell) ?? refuse(name, "holds bytes that are no text in UTF-8")),
    );
    return Object.assign(kept(element, cells), { texts });
  });
  const taken = new Set<string>();
  return writtenOut(
    change(read).map(([name, { element, cells }]) => ({
      element: Object.assign({}, element, { name: freeName(name, taken) }),
      cells,
    })),
  );
}

function refuse(column: string, why: string): never {
  throw new CodedError("file_invalid", `column ${column}: ${why}`, { column, reason: why });
}

/** A column as it can be written: INT96, which Parquet has given up, as the timestamp that it is. */
function kept(element: SchemaElement, cells: readonly unknown[]): Column {
  if (element.type !== "INT96") return { element, cells };
  if (cells.some((cell) => cell !== null && BigInt.asIntN(64, cell as bigint) !== cell))
    refuse(element.name, "holds a time that nanoseconds in 64 bits do not reach");
  const logical_type = { type: "TIMESTAMP", isAdjustedToUTC: false, unit: "NANOS" } as const;
  return { element: Object.assign({}, element, { type: "INT64", logical_type }), cells };
}

/** A name that no column has yet. */
function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name} ${n}`;
  taken.add(free);
  return free;
}

/** The writer is told how values are stored and the footer what they are, so that they stay to the bit. */
async function writtenOut(columns: readonly Column[]): Promise<Uint8Array> {
  const [{ ByteWriter, ParquetWriter }, { storedElement }] = await Promise.all([
    import("hyparquet-writer").catch(missingBackEnd),
    import("../classify-files/parquet/decode-page.ts"),
  ]);
  const root = { name: "schema", num_children: columns.length };
  const elements = columns.map(({ element }) => element);
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({ writer, schema: [root, ...elements.map(storedElement)], statistics: false });
  await parquet.write({ columnData: columns.map(({ element, cells }) => ({ name: element.name, data: [...cells] })) });
  parquet.schema = [root, ...elements];
  await parquet.finish();
  return new Uint8Array(writer.getBuffer());
}
