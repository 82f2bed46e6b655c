import { checkArgument } from "@seneschal/kernel";
import { dialectOf } from "./dialect-of.ts";
import { groupChains } from "./group-chains.ts";
import { MAX_PARSE_COST, parseCost } from "./parse-cost.ts";
import { rewriteBlock } from "./rewrite-block.ts";
import { rewritten } from "./rewrite-sql.ts";
import { splitStatements } from "./split-statements.ts";
import type { SqlParser } from "./sql-parser.ts";
import { literalText, misreadsWords, type Node, nameOf, nestsTooDeep, unnamed } from "./tree.ts";
import { withoutUnicodeEscapes } from "./unicode-escapes.ts";

/** Trees of the statements that could be read, and how many could not. */
export interface ParsedSql {
  readonly statements: readonly unknown[];
  readonly failed: number;
  /** The texts of those that could not. */
  readonly unread: readonly string[];
}

/** Dialects that are tried after the named one: together they read more than any alone. */
const FALLBACKS = ["generic", "postgres", "hive", "mysql", "bigquery", "snowflake", "databricks", "mssql"] as const;

/**
 * Parses a text of one or many statements: as a whole, else one by one, else in other dialects, else as forms that the parser lacks. Unicode escapes are
 * written out before; a constant text that a statement runs (`EXEC('SELECT ...')`) is read in its place. Long rows of OR and
 * AND are read in groups. A text that nests so deep that reading it could take seconds, or that exhausts the parser, counts as unread. Never throws.
 */
export function parseSql(parser: SqlParser, sql: string, dialect?: string): ParsedSql {
  checkArgument("parser", parser, "object");
  checkArgument("sql", sql, "string");
  return parsed(parser, withoutUnicodeEscapes(sql), dialectOf(dialect) ?? "generic", 0);
}

function parsed(parser: SqlParser, sql: string, first: string, depth: number): ParsedSql {
  let left = MAX_PARSE_COST;
  const affords = (tried: string): boolean => {
    const cost = parseCost(sql, tried);
    if (cost > left) return false;
    left -= cost;
    return true;
  };
  const dear = !affords(first);
  const whole = dear ? undefined : attempt(parser, sql, first, depth);
  if (whole !== undefined) return { statements: whole, failed: 0, unread: [] };
  const block = rewriteBlock(sql);
  if (block !== undefined && depth < MAX_DEPTH) {
    const parts = block.map((part) => parsed(parser, part, first, depth + 1));
    const failed = parts.flatMap(({ unread }) => unread);
    if (failed.length === 0) return { statements: parts.flatMap(({ statements }) => statements), failed: 0, unread: [] };
  }
  const dialects = [...(dear ? [] : [first]), ...FALLBACKS.filter((other) => other !== first && affords(other))];
  if (dialects.length === 0) return { statements: [], failed: 1, unread: [sql] };
  const statements: unknown[] = [];
  const unread: string[] = [];
  for (const text of splitStatements(sql)) {
    const read = one(parser, text, dialects, depth);
    if (read === undefined) unread.push(text);
    else statements.push(...read);
  }
  return { statements, failed: unread.length, unread };
}

function one(parser: SqlParser, text: string, dialects: readonly string[], depth: number): readonly unknown[] | undefined {
  const read = firstRead(dialects, (dialect) => attempt(parser, text, dialect, depth));
  if (read !== undefined) return read;
  const other = rewritten(text);
  if (other === undefined) return undefined;
  if ("trees" in other) return other.trees;
  if ("exported" in other) {
    const [inner] = (attempt(parser, other.exported, "mysql", depth) ?? []) as readonly { readonly Query?: unknown }[];
    return inner?.Query === undefined ? undefined : [{ Unload: { query: inner.Query } }];
  }
  const parts = other.texts.map((part) =>
    firstRead(["hive", "generic", "postgres", "mysql"], (d) => attempt(parser, part, d, depth)),
  );
  return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

function firstRead<T>(dialects: readonly string[], read: (dialect: string) => T | undefined): T | undefined {
  for (const dialect of dialects) {
    const found = read(dialect);
    if (found !== undefined) return found;
  }
  return undefined;
}

function attempt(parser: SqlParser, text: string, dialect: string, depth: number): readonly unknown[] | undefined {
  // The moving statements of Hive are read by our own rules even where the parser has a tree for them.
  if (/(?:^|;)\s*(?:EXPORT\s+TABLE|IMPORT\s|LOAD\s+DATA)/i.test(text)) return undefined;
  let trees: readonly unknown[];
  try {
    trees = parser.parse(groupChains(text), dialect).flatMap((tree) => withInner(parser, tree, dialect, depth));
  } catch {
    return undefined;
  }
  return trees.some((tree) => nestsTooDeep(tree) || misreadsWords(tree)) ? undefined : trees;
}

/** Texts in texts: so many may stand in one another. */
const MAX_DEPTH = 3;

/** A statement that holds another one as a text, with it read too: `UNLOAD ('select ...')` shows what its query shows, `EXEC('...')` is what it runs. */
function withInner(parser: SqlParser, tree: unknown, dialect: string, depth: number): readonly unknown[] {
  const { Unload: unload, Execute: execute } = (tree ?? {}) as { readonly Unload?: Node; readonly Execute?: Node };
  if (depth >= MAX_DEPTH) return [tree];
  if (typeof unload?.["query_text"] === "string") {
    const { statements } = parsed(parser, unload["query_text"].replace(/''|\\'/g, "'"), dialect, depth + 1);
    const [inner] = statements as readonly { readonly Query?: unknown }[];
    return [inner?.Query === undefined ? tree : { Unload: { ...unload, query_text: null, query: inner.Query } }];
  }
  const text = execute === undefined ? undefined : textRun(execute);
  if (text === undefined) return [tree];
  const { statements, failed } = parsed(parser, text, dialect, depth + 1);
  return failed > 0 || statements.length === 0 ? [tree] : statements;
}

/** The whole of what EXECUTE runs, where it is a text that stands there. */
function textRun(execute: Node): string | undefined {
  const name = nameOf(execute["name"]);
  const parameters = Array.isArray(execute["parameters"]) ? execute["parameters"] : [];
  const procedure = /(?:^|\.)sp_executesql$/i.test(name);
  // Some dialects read the text of `EXECUTE '...'` as a name in quotes.
  if (parameters.length === 0) return /\s/.test(name) ? name : undefined;
  if (name !== "" && name.toLowerCase() !== "immediate" && !procedure) return undefined;
  if (parameters.length > 1 && !procedure) return undefined;
  return literalText(unnamed(parameters[0]));
}
