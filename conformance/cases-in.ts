import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One file of the data: its name without `.json`, and what it holds. */
export interface CaseFile<T> {
  readonly name: string;
  readonly content: T;
}

/**
 * The JSON files directly in a folder of the data whose content has the shape, in order of name; none where the folder is absent. Files are
 * known by their folder and shape, never by their name: data of the same kind may come in any number of files.
 */
export function casesIn<T>(
  dataDir: string,
  folder: string,
  shape: (content: unknown) => boolean,
  read: (text: string) => unknown = JSON.parse,
): readonly CaseFile<T>[] {
  const dir = join(dataDir, folder);
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => ({ name: file.slice(0, -".json".length), content: read(readFileSync(join(dir, file), "utf8")) }))
    .filter((file): file is CaseFile<T> => shape(file.content));
}

/** True for an object one of whose members is a list with rows that have all the fields (in its first rows at least). */
export function hasRows(content: unknown, list: string, ...fields: readonly string[]): boolean {
  return isRecord(content) && rowsHave(content[list], ...fields);
}

/** True for a list whose rows have all the fields. */
export function rowsHave(list: unknown, ...fields: readonly string[]): boolean {
  return (
    Array.isArray(list) && list.length > 0 && list.slice(0, 20).every((row) => isRecord(row) && fields.every((f) => f in row))
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
