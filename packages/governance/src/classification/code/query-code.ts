import { businessEvidence, type Evidence } from "../evidence.ts";
import { namesBusiness, Surroundings, termOf } from "../lexicon.ts";
import { wordsOf } from "../names/words-of.ts";
import { policyOf, type TierPolicy } from "../tiers.ts";

/** How queries of languages begin that no parser here reads: GraphQL, the shells of document stores, Cypher, Gremlin, pipelines of logs. */
const FORMS: readonly RegExp[] = [
  /^\s*(?:query|mutation|subscription|fragment)\b[^{}"']{0,400}\{/,
  /^\s*\{\s*[A-Za-z_]\w{0,80}\s*(?:\([^{}]{0,400}\)\s*)?\{[^;]*\}\s*\}\s*$/,
  /^\s*db\s*\.\s*\w/,
  /^\s*(?:optional\s+match|match|merge|create|unwind)\s*\(\s*\w{0,80}\s*[:){]/i,
  /^\s*g\s*\.\s*[VE]\s*\(/,
  // Data frames, object mappers and their kin: fields by name in brackets, calls or symbols.
  /^\s*(?:\w+\s*=\s*)?(?!(?:req|request|process|os|env|config|headers|settings|params|session|console|window|document|module|self|this)\b)\w{1,60}(?:\.\w{1,60}(?:\([^()]{0,200}\))?){0,6}\s*\[{1,2}\s*(?::\s*,\s*)?\[?["'][^"']{1,100}["']/,
  /\.(?:[Ss]elect|pluck|values|values_list|only|project|projection|groupBy|groupby|group_by|orderBy|order_by|agg|[Ww]here|filter|query|distinct|with_columns|selectExpr|drop|sort_values|findMany|findOne|find|aggregate|hasLabel|valueMap)\s*\(\s*(?:\[?\s*["':{]|\[|(?:\w{1,30}\.)?(?:col|column|field)\s*\(|F\.|pl\.|[A-Z]\w{0,60}\.\w|\w{1,30}\s*=>)/,
  /\b(?:spark|session|sqlContext|con|conn|engine|db)\.(?:table|read|collection|getCollection)\b|\b(?:spark|pd|pl|dd|polars|pandas)\.(?:read_|scan_|col\b)|%>%|\b(?:dplyr|data\.table|DBI)::|\b(?:knex|objection|supabase|prisma)\s*[.(]/,
  /^\s*\w{1,60}\$\w{1,60}\s*$|^\s*(?:df|data|frame|\w{1,40}_df|dataset)(?:\.\w{1,60}){1,3}(?:\(\))?\s*$/,
  /^\s*(?:for|let)\s+\w[\s\S]{0,400}\breturn\b|^\s*from\s+\w{1,60}\s+in\s+\w/i,
  /^\s*(?:(?:h(?:m?get|getall|vals|scan)|smembers|zrange|lrange|json\.get|ft\.search|xrange|mget)\s+\S|get\s+\w+:\S)/i,
  /^\s*(?:fields|source\s*=|index\s*=|search\s+index\s*=)\s*\S/i,
  /^\s*(?:proc\s+\w+\b[^;]{0,200};|data\s+[\w.]+\s*;\s*(?:set|merge)\b)/i,
  /^\s*(?:evaluate\s+\w|=\s*(?:query|filter|vlookup|xlookup|index|importrange)\s*\()/i,
  // Lines for a shell that reads data, paths into documents, templates.
  /^\s*(?:sudo\s+)?(?:pg_dump|mysqldump|mongoexport|mongodump|sqoop|bcp|bq|aws|gsutil|gcloud|az|azcopy|hdfs|hadoop|sqlite3|psql|mysql|cut|awk|jq|csvcut|xsv|mlr|ldapsearch|redis-cli|duckdb|clickhouse-client|sqlcmd|expdp)\s+\S/,
  /^\s*(?:\$|\.)?(?:\.?\w{0,60}\[[*\d]{0,6}\])?\.[\w.*[\]]{2,200}\s*$|^\s*\/{1,2}\w+(?:\/[\w@*]+)+\s*$|[?&](?:fields|select|\$select|columns|projection|_source|include)=\w/,
  /^\s*(?:\{\{|\$\{|<%=)[^{}%]{1,200}(?:\}\}|\}|%>)\s*$/,
  /^[^|\n]{1,400}\|\s*(?:limit|take|sort|where|project|extend|summarize|table|fields|stats|eval|dedup)\s/i,
];
const MAX_NAMES = 2000;
/** Texts in quotes that are names or paths stay; other ones are values, which are searched as text. */
const QUOTED = /"[^"\\\n]{0,2000}"|'[^'\\\n]{0,2000}'/g;
const NAME = /^["']\$?[A-Za-z_][\w.]{0,100}["']$/;

/** True for a text that reads like code of a query language. */
export function readsLikeQueryCode(text: string): boolean {
  return FORMS.some((form) => form.test(text));
}

/** Evidence of the names in query code: which of them are shown and which only filter is not told apart. */
export function queryCodeEvidence(text: string, policy: TierPolicy): Evidence[] {
  const code = text.replace(QUOTED, (quoted) => (NAME.test(quoted) ? quoted : " "));
  const names = [...new Set(code.match(/[A-Za-z_][\w]{0,100}/g) ?? [])].slice(0, MAX_NAMES);
  return namesEvidence(names, names.join(" "), policy);
}

/** Evidence of a list of field names. `about` says what they belong to. */
export function namesEvidence(names: readonly string[], about: string, policy: TierPolicy): Evidence[] {
  const found: Evidence[] = [];
  const around = new Surroundings(about, names);
  for (const name of names) {
    const term = termOf(name, around);
    if (term === undefined || found.some((e) => e.entity === term.entity)) continue;
    const { tier, tags } = policyOf(policy, term.entity);
    found.push({ entity: term.entity, tier, tags, kind: "name", reason: `the query names ${term.term}`, column: name });
  }
  if (namesBusiness(wordsOf(about))) {
    found.push(businessEvidence(policyOf(policy, "BUSINESS_OBJECT").tier, "the query names business data"));
  }
  return found;
}
