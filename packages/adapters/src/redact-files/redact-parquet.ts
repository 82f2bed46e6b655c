import {
  checkRedactionOptions,
  columnRedactor,
  type RedactionKeys,
  type RedactionOptions,
  restore,
  type TierPolicy,
} from "@seneschal/governance";
import { CodedError, checkArgument } from "@seneschal/kernel";
import type { ColumnSource } from "hyparquet-writer";
import { missingBackEnd } from "../back-end.ts";
import type { RandomAccess } from "../classify-files/index.ts";
import type { RedactedFile, RestoredFile } from "./redacted-file.ts";

/** Cells that are held at once. */
const MOST_CELLS = 16 << 20;

type ColumnType = "STRING" | "BOOLEAN" | "INT32" | "INT64" | "FLOAT" | "DOUBLE" | "TIMESTAMP";

interface Column {
  readonly type: ColumnType;
  readonly cells: unknown[];
}

/**
 * Redacts a Parquet file: the cells of its columns with what the column's name says of them, and the names. Columns of numbers, times and truths keep their type unless something in them is redacted, which makes texts of
 * all; types beyond these become texts, times have milliseconds. Statistics are made anew, and what the footer holds beside the schema is left out. Needs the package hyparquet-writer.
 *
 * Throws `file_invalid` naming the column that cannot be read: lists and structures, bytes that are no text, and whatever `classifyParquet` refuses; `back_end_missing`.
 */
export async function redactParquet(file: RandomAccess, options: RedactionOptions): Promise<RedactedFile> {
  checkRedactionOptions(options);
  checkArgument("file", file, "object");
  const counts = new Map<string, number>();
  const count = (redactions: readonly { readonly entity: string }[]): void => {
    for (const { entity } of redactions) counts.set(entity, (counts.get(entity) ?? 0) + 1);
  };
  const { textOf } = await import("../classify-files/parquet/read-parquet.ts");
  const bytes = await rewritten(file, (name, column) => {
    const redactor = columnRedactor(name, options);
    count(redactor.name.redactions);
    let changed = false;
    const texts = column.cells.map((cell) => {
      const text = cell === null ? undefined : textOf(cell);
      if (text === undefined) return null;
      const done = redactor.redact(text);
      count(done.redactions);
      changed ||= done.text !== text;
      return done.text;
    });
    return [redactor.name.text, changed ? { type: "STRING", cells: texts } : column];
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
  const bytes = await rewritten(file, (name, { type, cells }) => [
    back(name),
    { type, cells: cells.map((cell) => (typeof cell === "string" ? back(cell) : cell)) },
  ]);
  return { bytes, count: restored };
}

async function rewritten(
  file: RandomAccess,
  change: (name: string, column: Column) => readonly [string, Column],
): Promise<Uint8Array> {
  const columns = new Map<string, Column>();
  const { readParquetPages, textOf } = await import("../classify-files/parquet/read-parquet.ts");
  let total = 0;
  for await (const { column: name, shape, values, definition } of readParquetPages(file)) {
    const refuse = (why: string): never => {
      throw new CodedError("file_invalid", `column ${name}: ${why}`, { column: name });
    };
    const element = shape.schemaPath.at(-1)?.element;
    if (shape.schemaPath.length !== 2 || element?.repetition_type === "REPEATED") refuse("lists and structures are not redacted");
    const column = columns.get(name) ?? { type: typeOf(element), cells: [] };
    columns.set(name, column);
    let next = 0;
    const places = definition.length > 0 ? definition.length : values.length;
    total += places;
    if (total > MOST_CELLS) refuse("more cells than can be held");
    for (let place = 0; place < places; place++) {
      if (definition[place] === 0) {
        column.cells.push(null);
        continue;
      }
      const value: unknown = values[next++];
      const text = textOf(value);
      if (text === undefined || (typeof value === "string" && value.includes("\ufffd"))) refuse("holds bytes that are no text");
      column.cells.push(column.type === "STRING" ? text : value);
    }
  }
  const { parquetWriteBuffer } = await import("hyparquet-writer").catch(missingBackEnd);
  const columnData = [...columns].map(([name, column]): ColumnSource => {
    const [called, { type, cells }] = change(name, column);
    return { name: called, type, data: cells, nullable: true };
  });
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

/** What a column is written as: what is none of these is a text. */
function typeOf(
  element: { readonly type?: string; readonly converted_type?: string; readonly logical_type?: object } | undefined,
): ColumnType {
  const { type, converted_type: converted, logical_type: logical } = element ?? {};
  if (converted?.startsWith("TIMESTAMP") === true || type === "INT96") return "TIMESTAMP";
  if ((logical as { type?: string } | undefined)?.type === "TIMESTAMP") return "TIMESTAMP";
  if (converted !== undefined || logical !== undefined) return "STRING";
  return type === "BOOLEAN" || type === "INT32" || type === "INT64" || type === "FLOAT" || type === "DOUBLE" ? type : "STRING";
}
