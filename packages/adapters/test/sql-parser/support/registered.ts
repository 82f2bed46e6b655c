import { type ClassificationResult, createClassifier, LineageGraph, tierRank } from "@seneschal/governance";
import { openSqlParser } from "../../../src/sql-parser/index.ts";

export const parser = await openSqlParser();

/** Tables with their tiers, and those of their columns. */
type Registered = Readonly<Record<string, { readonly tier: string; readonly columns?: Readonly<Record<string, string>> }>>;

const TIERS = ["PUBLIC", "INTERNAL", "CONFIDENTIAL", "PROPRIETARY", "RESTRICTED"];
export const rankOf = (tier = "PUBLIC") => tierRank({ tiers: TIERS }, tier);

/** A classifier whose catalogue knows these tables, by each name that may mean them. */
export function classifierKnowing(tables: Registered): (query: string, dialect?: string) => ClassificationResult {
  const graph = new LineageGraph();
  for (const [id, { tier, columns = {} }] of Object.entries(tables))
    graph.declare(
      {
        id,
        direct: { tier, tags: [] },
        columns: Object.fromEntries(Object.entries(columns).map(([name, own]) => [name, { direct: { tier: own, tags: [] } }])),
      },
      0,
    );
  const known = (table: string) => {
    const ids = [...graph.named(table)].sort((x, y) => rankOf(graph.effective(y)?.tier) - rankOf(graph.effective(x)?.tier));
    const [id = ""] = ids;
    const whole = graph.effective(id);
    if (whole === undefined) return undefined;
    const names = Object.keys(graph.info(id)?.columns ?? {});
    return {
      tier: whole.tier,
      tags: whole.tags,
      columns: Object.fromEntries(names.map((name) => [name, graph.effective(id, name) ?? whole])),
    };
  };
  const classifier = createClassifier({
    sql: parser,
    catalogue: known,
    schemaOf: (table) => Object.keys(known(table)?.columns ?? {}),
  });
  return (query, dialect) => classifier.classify(query, dialect === undefined ? {} : { dialect });
}
