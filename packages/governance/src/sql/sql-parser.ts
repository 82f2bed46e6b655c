/**
 * Parses SQL into the JSON syntax tree of sqlparser-rs (one object per statement, `{ Query: ... }`, `{ Insert: ... }` and so on).
 * Pure but for its own start: `parse` is synchronous and throws an `Error` on text that is not SQL of the dialect.
 */
export interface SqlParser {
  parse(sql: string, dialect: string): readonly unknown[];
  /** Writes a text anew from its tree, without comments. Throws as `parse` does. */
  format?(sql: string, dialect: string): string;
}

/** Dialect names, first the one that is tried when none is given. */
export const SQL_DIALECTS = [
  "generic",
  "postgres",
  "hive",
  "snowflake",
  "bigquery",
  "mysql",
  "mssql",
  "spark",
  "databricks",
  "redshift",
  "clickhouse",
  "duckdb",
  "sqlite",
  "oracle",
  "ansi",
] as const;
