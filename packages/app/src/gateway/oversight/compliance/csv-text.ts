import { csvField } from "../audit-views/export.ts";
import { type Growing, isRecord, isStream, itemsOf } from "./growing.ts";

/** What grows as rows `path,value`, RFC 4180: every figure of the JSON is one row, in its order. */
export async function* csvText(value: Growing): AsyncGenerator<string> {
  yield "path,value\r\n";
  yield* rows("", value);
}

async function* rows(path: string, value: Growing): AsyncGenerator<string> {
  if (typeof value === "function") {
    yield* rows(path, await value());
    return;
  }
  let empty = true;
  if (isRecord(value)) {
    for (const [field, item] of Object.entries(value)) {
      yield* rows(path === "" ? field : `${path}.${field}`, item);
      empty = false;
    }
  } else if (Array.isArray(value) || isStream(value)) {
    let at = 0;
    for await (const item of itemsOf(value)) {
      yield* rows(`${path}.${at}`, item);
      at += 1;
      empty = false;
    }
  } else {
    yield csvRow(path, value === null ? "" : String(value));
    return;
  }
  if (empty) yield csvRow(path, "none");
}

/** One row. */
export function csvRow(path: string, value: string): string {
  return `${csvField(path)},${csvField(value)}\r\n`;
}
