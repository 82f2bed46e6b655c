import { SQL_DIALECTS } from "./sql-parser.ts";

/** Other names of dialects, and dialects that are read as the one that they follow. */
const ALIASES: Readonly<Record<string, string>> = {
  postgresql: "postgres",
  pg: "postgres",
  cockroachdb: "postgres",
  greenplum: "postgres",
  mariadb: "mysql",
  tidb: "mysql",
  sqlserver: "mssql",
  tsql: "mssql",
  "t-sql": "mssql",
  plsql: "oracle",
  sparksql: "spark",
  ansi_sql: "ansi",
};

/** The dialect that a name means; `undefined` for none that is known, and for `generic`, which is none. */
export function dialectOf(name: string | undefined): string | undefined {
  const lower = name?.trim().toLowerCase() ?? "";
  const dialect = Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : lower;
  return dialect !== undefined && dialect !== "generic" && (SQL_DIALECTS as readonly string[]).includes(dialect)
    ? dialect
    : undefined;
}
