import { checkArgument } from "@seneschal/kernel";
import { governanceError } from "../errors.ts";
import { conditionText } from "./row-condition.ts";
import { type EnforcedDialect, isQuotable, literal, quoted } from "./sql-text.ts";
import type { ColumnMask, RowFilter, TableRules } from "./table-rules.ts";

/** A column that the database has under the name that is known of it: one that a scan could not keep as it is, or that no quotation marks hold, is not shown. */
const isNamed = (column: string): boolean => !/\ufffd|<[A-Z][A-Z_\d]*>/.test(column) && isQuotable(column);

/**
 * What of a table may be seen, as a query: its columns by name, masked, and the rows that pass. `from`: how the table is named there. A column whose name cannot be written is not among them.
 */
export function tableQuery(dialect: EnforcedDialect, rules: TableRules, from: string): string {
  checkArgument("dialect", dialect, "string");
  checkArgument("rules", rules, "object");
  checkArgument("from", from, "string");
  const { masks, filters, conditions = [] } = rules;
  const columns = rules.columns.filter(isNamed);
  if (columns.length === 0) throw governanceError("validation_failed", "a table without columns cannot be queried");
  const shown = columns.map((column) => {
    const name = quoted(dialect, column);
    const mask = masks[column];
    return mask === undefined ? name : `${masked(dialect, name, mask)} AS ${name}`;
  });
  const where = [
    ...filters.map((filter) => filtered(dialect, filter)),
    ...conditions.map(({ condition, columns: named }) => conditionText(dialect, condition, named)),
  ];
  return `SELECT ${shown.join(", ")} FROM ${from}${where.length === 0 ? "" : ` WHERE ${where.join(" AND ")}`}`;
}

/** The same as a view, for those who only get to see views. Where the database knows views that keep conditions of the outside from the rows they hide, it is one. */
export function tableView(dialect: EnforcedDialect, rules: TableRules, view: string): string {
  checkArgument("dialect", dialect, "string");
  checkArgument("rules", rules, "object");
  checkArgument("view", view, "string");
  const path = (name: string) =>
    name
      .split(".")
      .map((part) => quoted(dialect, part))
      .join(".");
  const head = {
    postgres: `CREATE OR REPLACE VIEW ${path(view)} WITH (security_barrier = true)`,
    snowflake: `CREATE OR REPLACE SECURE VIEW ${path(view)}`,
    bigquery: `CREATE OR REPLACE VIEW ${path(view)}`,
  }[dialect];
  return `${head} AS ${tableQuery(dialect, rules, path(rules.name))}`;
}

function masked(dialect: EnforcedDialect, name: string, { operator, keepLast = 0 }: ColumnMask): string {
  if (operator === "drop") return "NULL";
  if (operator === "replace") return `CASE WHEN ${name} IS NULL THEN NULL ELSE '***' END`;
  if (operator === "generalise") return dialect === "bigquery" ? `DATE_TRUNC(${name}, YEAR)` : `DATE_TRUNC('year', ${name})`;
  const text = `CAST(${name} AS ${{ postgres: "TEXT", snowflake: "VARCHAR", bigquery: "STRING" }[dialect]})`;
  const stars = (count: string) => `REPEAT('*', ${count})`;
  if (keepLast === 0) return stars(`LENGTH(${text})`);
  const most = 2 * keepLast;
  return `CASE WHEN LENGTH(${text}) > ${most} THEN ${stars(`LENGTH(${text}) - ${keepLast}`)} || RIGHT(${text}, ${keepLast}) ELSE ${stars(`LENGTH(${text})`)} END`;
}

function filtered(dialect: EnforcedDialect, { column, values }: RowFilter): string {
  return `${quoted(dialect, column)} IN (${values.map(literal).join(", ")})`;
}
