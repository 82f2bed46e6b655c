import { isAffordable } from "./is-affordable.ts";
import { rewriteHive } from "./rewrite-hive.ts";
import { splitStatements } from "./split-statements.ts";
import { SQL_DIALECTS, type SqlParser } from "./sql-parser.ts";

/** Trees of the statements that could be read, and how many could not. */
export interface ParsedSql {
  readonly statements: readonly unknown[];
  readonly failed: number;
}

/** Dialects that are tried after the named one: together they read more than any alone. */
const FALLBACKS = ["generic", "postgres", "hive", "mysql", "bigquery", "snowflake", "databricks", "mssql"] as const;

/** Parses a text of one or many statements: as a whole, else one by one, else in other dialects, else as the Hive forms that the parser lacks. Never throws. */
export function parseSql(parser: SqlParser, sql: string, dialect?: string): ParsedSql {
  const named = dialect?.toLowerCase();
  const first = named !== undefined && (SQL_DIALECTS as readonly string[]).includes(aliasOf(named)) ? aliasOf(named) : "generic";
  const whole = attempt(parser, sql, first);
  if (whole !== undefined) return { statements: whole, failed: 0 };
  const statements: unknown[] = [];
  let failed = 0;
  for (const text of splitStatements(sql)) {
    const read = one(parser, text, first);
    if (read === undefined) failed++;
    else statements.push(...read);
  }
  return { statements, failed };
}

function one(parser: SqlParser, text: string, first: string): readonly unknown[] | undefined {
  for (const dialect of [first, ...FALLBACKS.filter((d) => d !== first)]) {
    const read = attempt(parser, text, dialect);
    if (read !== undefined) return read;
  }
  const plain = text.replace(/\binto\s{1,9}(?:outfile|dumpfile)\s{1,9}(?:'[^']{0,4096}'|"[^"]{0,4096}")/i, " ");
  if (plain !== text) {
    const [inner] = (attempt(parser, plain, "mysql") ?? []) as readonly { readonly Query?: unknown }[];
    if (inner?.Query !== undefined) return [{ Unload: { query: inner.Query } }];
  }
  const rewritten = rewriteHive(text);
  if (rewritten === undefined) return undefined;
  if ("trees" in rewritten) return rewritten.trees;
  const parts = rewritten.texts.map((part) => attempt(parser, part, "hive") ?? attempt(parser, part, "generic"));
  return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

function attempt(parser: SqlParser, text: string, dialect: string): readonly unknown[] | undefined {
  if (!isAffordable(text, dialect)) return undefined;
  // The moving statements of Hive are read by our own rules even where the parser has a tree for them.
  if (/(?:^|;)\s*(?:EXPORT\s+TABLE|IMPORT\s|LOAD\s+DATA)/i.test(text)) return undefined;
  try {
    return parser.parse(text, dialect).map((tree) => withQuery(parser, tree, dialect));
  } catch {
    return undefined;
  }
}

/** `UNLOAD ('select ...')` holds its query as a text: read too, so that what it shows is seen. */
function withQuery(parser: SqlParser, tree: unknown, dialect: string): unknown {
  const unload = (tree as { readonly Unload?: { readonly query_text?: unknown } } | null)?.Unload;
  if (typeof unload?.query_text !== "string") return tree;
  const [inner] = (attempt(parser, unload.query_text.replace(/''|\\'/g, "'"), dialect) ?? []) as readonly {
    readonly Query?: unknown;
  }[];
  return inner?.Query === undefined ? tree : { Unload: { ...unload, query: inner.Query } };
}

function aliasOf(dialect: string): string {
  return (
    (
      { postgresql: "postgres", sqlserver: "mssql", tsql: "mssql", sparksql: "spark", ansi_sql: "ansi" } as Record<string, string>
    )[dialect] ?? dialect
  );
}
