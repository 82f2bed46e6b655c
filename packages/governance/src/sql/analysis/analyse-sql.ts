import { checkArgument } from "@seneschal/kernel";
import type { Node } from "../tree.ts";
import type { SchemaOf, SqlAnalysis } from "../types.ts";
import { TOO_MUCH } from "./collector.ts";
import { Statements } from "./statements.ts";

/**
 * Resolves tables and columns over the syntax trees of a list of statements: CTEs, subqueries, aliases, stars with a known schema, set operations, windows,
 * aggregates, masking functions, joins, `USE`, `RETURNING`, whole rows, and the writing statements. A name that could come from several tables of
 * unknown schema is attributed to all of them: too much lineage is safe, too little is not. A table of which `schemaOf` tells a part has other columns too, in an order that nobody knows. What no rule comes
 * by is found by a look through the whole tree: queries and relations there count as shown, names are `unexplained`.
 */
export function analyseSql(
  statements: readonly unknown[],
  schemaOf: SchemaOf = () => undefined,
  schemas: "complete" | "partial" = "complete",
): SqlAnalysis {
  checkArgument("statements", statements, "array");
  const analyser = new Statements(schemaOf, schemas === "complete");
  try {
    for (const statement of statements) analyser.statement(statement as Node);
  } catch (error) {
    if (error !== TOO_MUCH) throw error;
    return new Statements(schemaOf, false).unreadable("it names more columns of more tables than are told apart");
  }
  return analyser.analysis();
}
