import { sqlTokens } from "../../sql/split-statements.ts";
import { type Evidence, unexplained, unread } from "../evidence.ts";
import type { TierPolicy } from "../tiers.ts";
import { type Catalogue, starEvidence } from "./sql-evidence.ts";

/** Functions of SQL that run a query of XML (ISO/IEC 9075-14; Oracle, DB2). */
const RUNS_XQUERY = /\b(?:xmlquery|xmltable|xmlexists|xquery)\b|\bdb2-fn:/i;
/** Functions of XQuery that reach beyond the document: tables by `oradb:/SCHEMA/TABLE`, by name, by a query. */
const REACHES =
  /\b(?:fn:)?(?:collection|doc|document|doc-available|unparsed-text(?:-lines)?)\s{0,9}\(|\bora:view\s{0,9}\(|\bdb2-fn:\w+\s{0,9}\(/gi;

/**
 * Evidence of the queries of XML in a statement, each a text: the tables that they reach by name count as shown whole, and are not explained; a name that is built may be any. `run` reads a text that
 * one of them runs.
 */
export function xqueryEvidence(
  text: string,
  policy: TierPolicy,
  catalogue: Catalogue,
  run: (sql: string) => readonly Evidence[],
): Evidence[] {
  if (!RUNS_XQUERY.test(text)) return [];
  const queries = sqlTokens(text)
    .filter((token) => token.text.startsWith("'"))
    .map((token) => token.text.slice(1, -1).replaceAll("''", "'"));
  return [...queries, ...(/\bdb2-fn:/i.test(text) ? [text] : [])].flatMap((query) =>
    [...query.matchAll(REACHES)].flatMap((call) => {
      const args = query.slice(call.index + call[0].length).split(")", 1)[0] ?? "";
      const given = [...args.matchAll(/"([^"]*)"|'([^']*)'/g)].map((each) => each[1] ?? each[2] ?? "");
      if (given.length === 0 || /[^\s,]/.test(args.replace(/"[^"]*"|'[^']*'/g, "")))
        return [unread(policy, "a query of XML reads what is named when it runs")];
      const names = [...given, given.join("."), ...given.map((name) => name.replace(/\.[^.]*$/, ""))];
      const reason = "no rule explains what a query of XML reads";
      return [
        ...[...new Set(names)].flatMap((name) => starEvidence(name, policy, catalogue)),
        ...given.flatMap(run),
        unexplained(policy, reason),
      ];
    }),
  );
}
