import type { ServedFormat } from "../../src/file-threads/run-file-task.ts";
import { parquetOf, rowsOfParquet } from "./parquet.ts";
import { seen, unzipped, zipped } from "./workbook.ts";

export const FORMATS = ["csv", "tsv", "json", "jsonl", "parquet", "xlsx"] as const satisfies readonly ServedFormat[];
export type TableFormat = (typeof FORMATS)[number];

/** What stands in a cell: numbers are written as such where the format has them. */
export type Value = string | number;
export type Rows = readonly Readonly<Record<string, Value>>[];

/** A table as a file. In Excel texts are shared or stand in their cells. */
export function bytesOf(format: TableFormat, names: readonly string[], rows: Rows, isShared = true): Uint8Array {
  const text = (said: string) => new TextEncoder().encode(said);
  const lines = [names, ...rows.map((row) => names.map((name) => row[name] ?? ""))];
  if (format === "csv" || format === "tsv")
    return text(lines.map((line) => `${line.join(format === "csv" ? "," : "\t")}\n`).join(""));
  if (format === "json") return text(JSON.stringify(rows));
  if (format === "jsonl") return text(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  if (format === "parquet") return parquetOf(Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name] ?? "")])));
  return workbookOfTable(lines, isShared);
}

/** Its rows again, every cell as a text. */
export async function rowsOf(
  format: TableFormat,
  names: readonly string[],
  bytes: Uint8Array,
): Promise<readonly Readonly<Record<string, string>>[]> {
  const text = () => new TextDecoder().decode(bytes);
  const named = (cells: readonly unknown[]) => Object.fromEntries(names.map((name, i) => [name, `${cells[i] ?? ""}`]));
  if (format === "csv" || format === "tsv")
    return text()
      .split("\n")
      .slice(1, -1)
      .map((line) => named(line.split(format === "csv" ? "," : "\t")));
  if (format === "json") return (JSON.parse(text()) as object[]).map((row) => named(Object.values(row)));
  if (format === "jsonl")
    return text()
      .trim()
      .split("\n")
      .map((line) => named(Object.values(JSON.parse(line) as object)));
  if (format === "parquet") return (await rowsOfParquet(bytes)).map((row) => named(Object.values(row)));
  return linesOfWorkbook(bytes).slice(1).map(named);
}

const escaped = (said: string) => said.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function workbookOfTable(lines: readonly (readonly Value[])[], isShared: boolean): Uint8Array {
  const strings = [...new Set(lines.flat())].filter((value) => typeof value === "string");
  const cell = (said: Value, row: number, column: number) => {
    const at = `r="${String.fromCharCode(65 + column)}${row + 1}"`;
    if (typeof said === "number") return `<c ${at}><v>${said}</v></c>`;
    return isShared
      ? `<c ${at} t="s"><v>${strings.indexOf(said)}</v></c>`
      : `<c ${at} t="inlineStr"><is><t>${escaped(said)}</t></is></c>`;
  };
  const sheet = lines
    .map((line, row) => `<row r="${row + 1}">${line.map((said, i) => cell(said, row, i)).join("")}</row>`)
    .join("");
  return zipped({
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    "xl/workbook.xml": "<workbook><sheets/></workbook>",
    "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
    ...(isShared
      ? { "xl/sharedStrings.xml": `<sst>${strings.map((said) => `<si><t>${escaped(said)}</t></si>`).join("")}</sst>` }
      : {}),
  });
}

function linesOfWorkbook(bytes: Uint8Array): readonly (readonly string[])[] {
  const parts = unzipped(bytes);
  const shared = [...(parts["xl/sharedStrings.xml"] ?? "").matchAll(/<si>(.*?)<\/si>/gs)].map(([, said = ""]) => seen(said));
  return [...(parts["xl/worksheets/sheet1.xml"] ?? "").matchAll(/<row .*?<\/row>/gs)].map(([row]) =>
    [...row.matchAll(/<c r="\w+"(?: t="(\w+)")?>(?:<is>|<v>)?(.*?)(?:<\/is>|<\/v>)?<\/c>/gs)].map(([, type, said = ""]) =>
      type === "s" ? (shared[Number(said)] ?? "") : seen(said),
    ),
  );
}
