import { CodedError, checkArgument } from "@seneschal/kernel";
import { governanceError } from "../errors.ts";
import type { Obligation } from "../evaluate/types.ts";
import { foldedName } from "../sql/folded-name.ts";
import type { SqlParser } from "../sql/sql-parser.ts";
import { enforceSql, MAX_ENFORCED_SQL, type QueryReads, queryReads } from "./enforce-sql.ts";
import type { EnforcedDialect } from "./sql-text.ts";
import { tableView } from "./table-query.ts";
import { type EnforcedTable, tableRules } from "./table-rules.ts";

/** A query that is read away from the service: plain data, so that it can be sent. */
export interface QueryTask {
  readonly sql: string;
  readonly dialect: EnforcedDialect;
}

/** A query to carry obligations out in, with all tables that it reads, as it names them, and their known columns. */
export interface EnforcementTask extends QueryTask {
  readonly obligations: readonly Obligation[];
  readonly tables: readonly EnforcedTable[];
  /** Tell also a view of each table, in this schema. */
  readonly viewSchema?: string;
}

/** The query that may run in place of the one that was given, and views that show the same. */
export interface Enforcement {
  readonly sql: string;
  readonly views?: readonly string[];
}

/**
 * Where queries are read and rewritten: in this thread or beside it. Rejects with `validation_failed` for what cannot be carried out or is not understood, with `classification_failed` for an inner fault
 * and what takes too long, and with `service_unavailable` without a parser and when `owner`, whose budget it is charged to, has too much waiting: never with a query as it was.
 */
export interface SqlEnforcer {
  /** What a query reads, as `queryReads` tells it. */
  reads(task: QueryTask, owner: string): Promise<QueryReads>;
  enforce(task: EnforcementTask, owner: string): Promise<Enforcement>;
}

/** Does a task: carries obligations out, or tells what a query reads. Throws as {@link SqlEnforcer} says. */
export function enforceTask(parser: SqlParser | undefined, task: EnforcementTask): Enforcement;
export function enforceTask(parser: SqlParser | undefined, task: QueryTask): QueryReads;
export function enforceTask(parser: SqlParser | undefined, task: QueryTask | EnforcementTask): Enforcement | QueryReads {
  checkArgument("task", task, "object");
  if (parser === undefined) throw new CodedError("service_unavailable", "no parser of SQL is configured");
  const { sql, dialect } = task;
  if (!("obligations" in task)) return queryReads(parser, sql, dialect);
  const rules = tableRules(task.obligations, task.tables);
  const enforced = enforceSql(parser, sql, dialect, rules).sql;
  const { viewSchema } = task;
  if (viewSchema === undefined) return { sql: enforced };
  const views: string[] = [];
  let length = 0;
  const named = new Set<string>();
  for (const table of rules) {
    const name = `${viewSchema}.${table.name.split(".").at(-1)}`;
    const folded = foldedName(name);
    if (named.has(folded)) throw refused(`two tables would have the view ${name}`);
    named.add(folded);
    if (rules.some((each) => mayBeOne(foldedName(each.name), folded)))
      throw refused(`the view ${name} may be a table of the query`);
    const view = tableView(dialect, table, name);
    length += view.length;
    if (length > MAX_ENFORCED_SQL) throw refused("the views become too long");
    views.push(view);
  }
  return { sql: enforced, views };
}

/** True where a table that is named with its schema may be the one of a more, or less, qualified name. */
function mayBeOne(table: string, view: string): boolean {
  return table.includes(".") && (`.${view}`.endsWith(`.${table}`) || `.${table}`.endsWith(`.${view}`));
}

function refused(reason: string): Error {
  return governanceError("validation_failed", `view_schema: ${reason}`, { field: "view_schema", reason });
}
