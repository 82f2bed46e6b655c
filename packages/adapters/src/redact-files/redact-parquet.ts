import {
  checkRedactionOptions,
  type RedactionKeys,
  type RedactionOptions,
  redactColumns,
  restore,
  type TierPolicy,
} from "@seneschal/governance";
import { CodedError, checkArgument } from "@seneschal/kernel";
import type { SchemaElement, SchemaTree } from "hyparquet";
import type { writeColumn as WriteColumn } from "hyparquet-writer/src/column.js";
import { missingBackEnd } from "../back-end.ts";
import type { RandomAccess } from "../classify-files/index.ts";
import { isTextColumn, type ReadStored, readerOf, textColumn } from "./parquet-column.ts";
import type { RedactedFile, RestoredFile } from "./redacted-file.ts";

/** Cells that are held at once. */
const MOST_CELLS = 16 << 20;
/** Rows that are written as one group. */
const GROUP = 100_000;

/** A column of values, by its way through structures, lists and maps. */
interface Column {
  /** From the schema itself to the element that has the values. */
  readonly way: readonly SchemaTree[];
  readonly element: SchemaElement;
  /** As the file stores them; texts may be texts. */
  readonly cells: readonly unknown[];
  /** Of each cell how many of the elements around it that may be missing are there, and at which list it goes on; none where none may be missing, or there is no list. */
  readonly definition: readonly number[];
  readonly repetition: readonly number[];
}

interface ReadColumn extends Column {
  /** Names on the way that say something. */
  readonly path: readonly string[];
  /** What the cells say. */
  readonly texts: readonly (string | null)[];
}

/** What becomes of a column: the names on its way, and its cells. */
interface Changed extends Pick<Column, "element" | "cells"> {
  readonly path: readonly string[];
}

/**
 * Redacts a Parquet file: the cells of its columns, through structures, lists and maps, with what the names on the way say of them, and the names; those that become equal in one place are numbered. The structure stays as it is; a column keeps its type and its values to the bit unless something
 * in it is redacted, which makes texts of all; INT96 becomes a timestamp in nanoseconds. Statistics and what the footer holds beside the schema are left out. Needs the package hyparquet-writer.
 *
 * Throws `file_invalid` naming the column that cannot be read or written: two of one way, values that are repeated without a list around them, bytes that are no text in UTF-8, types that nobody reads (intervals, BSON, geometries, variants) and whatever `classifyParquet`
 * refuses; `back_end_missing`.
 */
export async function redactParquet(file: RandomAccess, options: RedactionOptions): Promise<RedactedFile> {
  checkRedactionOptions(options);
  checkArgument("file", file, "object");
  const counts = new Map<string, number>();
  const bytes = await rewritten(file, (columns) => {
    const read = columns.map(({ path, texts }) => ({ path, cells: texts }));
    return redactColumns(read, options).map(({ path, cells, counts: found }, i) => {
      const { element, cells: stored, texts } = columns[i] as ReadColumn;
      for (const [entity, count] of found) counts.set(entity, (counts.get(entity) ?? 0) + count);
      const isChanged = cells.some((cell, row) => cell !== texts[row]);
      return isChanged ? { path, element: textColumn(element), cells } : { path, element, cells: stored };
    });
  });
  return { bytes, counts };
}

/** A Parquet file with the values back, as texts, that `tokenise` and `encrypt` of this key took. Throws as {@link redactParquet}. */
export async function restoreParquet(file: RandomAccess, policy: TierPolicy, keys: RedactionKeys): Promise<RestoredFile> {
  checkArgument("file", file, "object");
  checkArgument("policy", policy, "object");
  checkArgument("keys", keys, "object");
  let [restored, left] = [0, 0];
  const back = (text: string): string => {
    const done = restore(text, policy, keys);
    restored += done.count;
    left += done.left;
    return done.text;
  };
  const bytes = await rewritten(file, (columns) =>
    columns.map(({ path, element, cells, texts }) => ({
      path: path.map(back),
      element,
      cells: isTextColumn(element) ? texts.map((text) => text && back(text)) : cells,
    })),
  );
  return { bytes, count: restored, left };
}

type Change = (columns: readonly ReadColumn[]) => readonly Changed[];

async function rewritten(file: RandomAccess, change: Change): Promise<Uint8Array> {
  const [{ isNaming, readParquetPages, readParquetSchema }, { levelsOf }] = await Promise.all([
    import("../classify-files/parquet/read-parquet.ts"),
    import("../classify-files/parquet/decode-page.ts"),
  ]);
  const { tree, records } = await readParquetSchema(file);
  const open = new Map<string, OpenColumn>();
  for (const way of waysTo(tree)) {
    const names = way.slice(1).map(({ element }) => element.name);
    const path = names.filter((_, i) => isNaming(names, i));
    const called = path.join(".");
    const element = (way.at(-1) as SchemaTree).element;
    if (open.has(keyOf(names))) refuse(called, "two columns have this name");
    if (element.repetition_type === "REPEATED")
      refuse(called, "values that are repeated without a list around them are not redacted");
    const variant = way.findIndex((node) => node.element.logical_type?.type === "VARIANT");
    if (variant > 0) refuse(names.slice(0, variant).join("."), "its type is not redacted");
    const read = readerOf(element) ?? refuse(called, "its type is not redacted");
    const levels = levelsOf({ schemaPath: way });
    open.set(keyOf(names), { way, path, element, read, levels, cells: [], definition: [], repetition: [] });
  }
  let total = 0;
  for await (const { column: name, shape, values, definition, repetition } of readParquetPages(file, undefined, true)) {
    const column = open.get(keyOf(shape.path)) ?? refuse(name, "no such column is in the schema");
    const { levels, cells } = column;
    const places = Math.max(definition.length, repetition.length, values.length);
    total += places;
    if (total > MOST_CELLS) refuse(name, "more cells than can be held");
    let next = 0;
    for (let place = 0; place < places; place++) {
      const defined = definition[place] ?? levels.definition;
      cells.push(defined < levels.definition ? null : values[next++]);
      if (levels.definition > 0) column.definition.push(defined);
      if (levels.repetition > 0) column.repetition.push(repetition[place] ?? 0);
    }
  }
  const read = [...open.values()].map(({ way, path, element, read, cells, definition, repetition }): ReadColumn => {
    const called = path.join(".");
    const rows = repetition.length === 0 ? cells.length : repetition.filter((level) => level === 0).length;
    if (rows !== records) refuse(called, "has not as many cells as the file has rows");
    const texts = cells.map((cell) =>
      cell === null ? null : (read(cell) ?? refuse(called, "holds bytes that are no text in UTF-8")),
    );
    return { way, path, element: kept(called, element, cells), cells, definition, repetition, texts };
  });
  const changed = change(read);
  const schema = renamed(tree, read, changed, isNaming);
  return writtenOut(
    schema,
    read.map((column, i) => Object.assign({}, column, { cells: (changed[i] as Changed).cells })),
    records,
  );
}

interface OpenColumn extends Pick<ReadColumn, "way" | "path" | "element"> {
  readonly read: ReadStored;
  readonly levels: { readonly repetition: number; readonly definition: number };
  readonly cells: unknown[];
  readonly definition: number[];
  readonly repetition: number[];
}

function refuse(column: string, why: string): never {
  throw new CodedError("file_invalid", `column ${column}: ${why}`, { column, reason: why });
}

function keyOf(names: readonly string[]): string {
  return names.join("\0");
}

/** The ways from a schema to its columns of values, in their order. */
function waysTo(tree: SchemaTree, before: readonly SchemaTree[] = []): readonly (readonly SchemaTree[])[] {
  const way = [...before, tree];
  if (tree.children.length > 0) return tree.children.flatMap((child) => waysTo(child, way));
  if (way.length === 1) return [];
  if (tree.element.num_children !== undefined) refuse(tree.element.name, "a structure of nothing is not redacted");
  return [way];
}

/** An element as it can be written: INT96, which Parquet has given up, as the timestamp that it is. */
function kept(called: string, element: SchemaElement, cells: readonly unknown[]): SchemaElement {
  if (element.type !== "INT96") return element;
  if (cells.some((cell) => cell !== null && BigInt.asIntN(64, cell as bigint) !== cell))
    refuse(called, "holds a time that nanoseconds in 64 bits do not reach");
  const logical_type = { type: "TIMESTAMP", isAdjustedToUTC: false, unit: "NANOS" } as const;
  return Object.assign({}, element, { type: "INT64", logical_type });
}

/** The schema with its names and columns changed: the first column below a structure says what that is called. */
function renamed(
  tree: SchemaTree,
  read: readonly ReadColumn[],
  changed: readonly Changed[],
  isNaming: (path: readonly string[], place: number) => boolean,
): SchemaTree {
  const names = new Map<SchemaTree, string>();
  const elements = new Map<SchemaTree, SchemaElement>();
  for (const [i, { way }] of read.entries()) {
    const { path, element } = changed[i] as Changed;
    const given = way.slice(1).map((node) => node.element.name);
    let place = 0;
    for (const [at, node] of way.slice(1).entries()) {
      const name = isNaming(given, at) ? path[place++] : undefined;
      if (!names.has(node)) names.set(node, name ?? node.element.name);
    }
    elements.set(way.at(-1) as SchemaTree, element);
  }
  const made = (node: SchemaTree, name: string): SchemaTree => {
    const taken = new Set<string>();
    const children = node.children.map((child) => made(child, freeName(names.get(child) ?? child.element.name, taken)));
    return Object.assign({}, node, { element: Object.assign({}, elements.get(node) ?? node.element, { name }), children });
  };
  return made(tree, tree.element.name);
}

/** A name that nothing beside it has yet. */
function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name} ${n}`;
  taken.add(free);
  return free;
}

type EncodedColumn = Parameters<typeof WriteColumn>[0]["column"];

/** The writer is told how values are stored and where, and the footer what they are, so that they and what they stand in stay to the bit. */
async function writtenOut(tree: SchemaTree, columns: readonly Column[], records: number): Promise<Uint8Array> {
  const [{ ByteWriter, ParquetWriter }, { writeColumn }, { levelsOf, storedElement }] = await Promise.all([
    import("hyparquet-writer").catch(missingBackEnd),
    import("hyparquet-writer/src/column.js").catch(missingBackEnd),
    import("../classify-files/parquet/decode-page.ts"),
  ]);
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({ writer, schema: elementsOf(tree), statistics: false });
  const ways = waysTo(tree);
  const rows = columns.map(({ cells, repetition }) => placesOfRows(cells.length, repetition));
  for (let from = 0; from < records; from += GROUP) {
    const to = Math.min(records, from + GROUP);
    const start = writer.offset;
    const chunks = columns.map(({ cells, definition, repetition }, i) => {
      const way = ways[i] as readonly SchemaTree[];
      const stored = way.map((node) => ({ ...node, element: storedElement(node.element) }));
      const at = rows[i] as (row: number) => number;
      const cut = <Each>(all: readonly Each[]): Each[] => all.slice(at(from), at(to));
      const column = {
        columnName: way
          .slice(1)
          .map(({ element }) => element.name)
          .join("."),
        element: (stored.at(-1) as SchemaTree).element,
        schemaPath: stored.map(({ element }) => element),
        codec: parquet.codec,
        compressors: parquet.compressors as EncodedColumn["compressors"],
        stats: false,
        pageSize: 1 << 20,
        columnIndex: false,
        offsetIndex: false,
      };
      const pageData = {
        values: cut(cells),
        definitionLevels: cut(definition),
        repetitionLevels: cut(repetition),
        maxDefinitionLevel: levelsOf({ schemaPath: way }).definition,
      };
      return writeColumn({ writer, column, pageData }).chunk;
    });
    const size = chunks.reduce((sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n), 0n);
    parquet.num_rows += BigInt(to - from);
    parquet.row_groups.push({
      columns: chunks,
      total_byte_size: size,
      num_rows: BigInt(to - from),
      total_compressed_size: BigInt(writer.offset - start),
    });
  }
  await parquet.finish();
  return new Uint8Array(writer.getBuffer());
}

/** A schema as a footer lists it: each element before those in it. */
function elementsOf({ element, children }: SchemaTree): SchemaElement[] {
  return [element, ...children.flatMap(elementsOf)];
}

/** Where rows begin among the cells of a column, the end of the last one among them. */
function placesOfRows(cells: number, repetition: readonly number[]): (row: number) => number {
  if (repetition.length === 0) return (row) => row;
  const starts: number[] = [];
  for (const [place, level] of repetition.entries()) if (level === 0) starts.push(place);
  return (row) => starts[row] ?? cells;
}
