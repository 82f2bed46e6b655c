import { checkArgument } from "@seneschal/kernel";
import { analyseSql } from "../sql/analysis/analyse-sql.ts";
import { parseSql } from "../sql/parse-sql.ts";
import { readingsOf } from "../sql/readings.ts";
import type { SqlParser } from "../sql/sql-parser.ts";
import { filledTemplates } from "../sql/templates.ts";
import type { SqlOutput } from "../sql/types.ts";

/** SQL whose column lineage is asked for, with the columns of the tables that it may name: plain data, so that it can be sent. */
export interface SqlQuestion {
  readonly query: string;
  readonly dialect?: string;
  readonly tables: readonly (readonly [table: string, columns: readonly string[]])[];
}

/** What SQL writes from what. */
export interface SqlReading {
  readonly results: readonly SqlOutput[];
}

/** Where SQL is read: in this thread or beside it. */
export interface SqlReader {
  /**
   * What {@link readLineageSql} says; `null` too where it takes too long. Rejects with `classification_failed` for an inner fault, and with `service_unavailable` when
   * `owner`, whose budget it is charged to, has too much waiting.
   */
  readSql(question: SqlQuestion, owner: string): Promise<SqlReading | null>;
}

/** Characters of one SQL text that are read. */
export const MAX_LINEAGE_SQL = 64 << 10;

/** Characters of what is kept of one SQL text: what says more narrows nothing. */
const MAX_READING = 160 << 10;

/** Reads column lineage from SQL; `null` where the text is not read whole, as then every input may go anywhere. Never throws. */
export function readLineageSql(parser: SqlParser, question: SqlQuestion): SqlReading | null {
  checkArgument("parser", parser, "object");
  checkArgument("question", question, "object");
  const { query, dialect, tables } = question;
  const schemaOf = (table: string) => tables.find(([name]) => sameTable(name, table))?.[1];
  // What dialects read differently may be either.
  const readings = readingsOf(filledTemplates(query), dialect).map((reading) => {
    const { statements, failed } = parseSql(parser, reading, dialect);
    const { results, unexplained, unread, runs, calls, doubts } = analyseSql(statements, schemaOf);
    return failed + unexplained.length + unread.length + runs.length + calls.length + doubts.length > 0 ? null : results;
  });
  const [results] = readings;
  if (results === undefined || results === null) return null;
  const written = JSON.stringify(results);
  if (readings.some((other) => JSON.stringify(other) !== written)) return null;
  return written.length > MAX_READING ? null : { results };
}

/** `public.orders` and `db.public.orders` are one table when one name ends in the other. */
export function sameTable(a: string, b: string): boolean {
  const x = a.toLowerCase();
  const y = b.toLowerCase();
  return x === y || x.endsWith(`.${y}`) || y.endsWith(`.${x}`) || x.endsWith(`/${y}`);
}
