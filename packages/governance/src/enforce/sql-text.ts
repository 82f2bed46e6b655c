import { governanceError } from "../errors.ts";

export const ENFORCED_DIALECTS = ["postgres", "bigquery", "snowflake"] as const;
export type EnforcedDialect = (typeof ENFORCED_DIALECTS)[number];

/** True for a name that quotation marks hold in every dialect. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
export const isQuotable = (name: string): boolean => name !== "" && !/["`\\\u0000-\u001f]/.test(name);

/** A name in quotation marks. Throws for one that could end them. */
export function quoted(dialect: EnforcedDialect, name: string): string {
  if (!isQuotable(name)) throw governanceError("validation_failed", "a name of a table or column cannot be written");
  return dialect === "bigquery" ? `\`${name}\`` : `"${name}"`;
}

/** A value as every one of the dialects reads it. */
export function literal(value: string | number | boolean): string {
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (typeof value === "number") return String(value);
  // Dialects differ in what a backslash does.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\\\u0000-\u001f]/.test(value)) throw governanceError("validation_failed", "a value of a row filter cannot be written");
  if (value.includes("'")) throw governanceError("validation_failed", "a value of a row filter cannot hold a quotation mark");
  return `'${value}'`;
}
