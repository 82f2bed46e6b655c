import { analyseSql } from "../../sql/analysis/analyse-sql.ts";
import { type ParsedSql, parseSql } from "../../sql/parse-sql.ts";
import { beginningsOf, readingsOf } from "../../sql/readings.ts";
import { sqlTokens } from "../../sql/split-statements.ts";
import type { SqlParser } from "../../sql/sql-parser.ts";
import { filledTemplates, isPutIn } from "../../sql/templates.ts";
import type { SchemaOf } from "../../sql/types.ts";
import { type Evidence, unexplained } from "../evidence.ts";
import { beginsLikeSql, isDockerfile, isModule } from "../form.ts";
import type { Recogniser } from "../search/recogniser.ts";
import { type TierPolicy, tierRank } from "../tiers.ts";
import { namedEvidence } from "./code-evidence.ts";
import { codeStrings } from "./code-strings.ts";
import { queryCodeEvidence, readsLikeQueryCode } from "./query-code.ts";
import { type Catalogue, sqlEvidence } from "./sql-evidence.ts";
import {
  hasSignsOfCode,
  looksLikeSql,
  saysNothing,
  sqlWordsEvidence,
  strangeEvidence,
  unreadEvidence,
  unreadOperation,
} from "./unread-sql.ts";
import { xqueryEvidence } from "./xquery-evidence.ts";

/** What statements are read with; without a parser none is. */
export interface SqlContext {
  readonly sql: SqlParser | undefined;
  readonly policy: TierPolicy;
  readonly recognisers: readonly Recogniser[];
  readonly catalogue: Catalogue;
  readonly schemaOf: SchemaOf | undefined;
}

/** What a text of statements shows. */
export interface SqlFound {
  readonly evidence: readonly Evidence[];
  readonly operation: string;
  /** It names no data: words that a dialect takes for a statement, perhaps. */
  readonly idle: boolean;
  /** A part of it could not be read. */
  readonly unread: boolean;
}

/** `Delete the account of my brother.` may parse as SQL in a lenient dialect; sentences end in a full stop and name no table. */
function readsLikeProse(query: string): boolean {
  return /[.?!]\s*$/.test(query) && !/\b(?:from|into|table|set|using|values)\b/i.test(query) && !hasSignsOfCode(query);
}

/**
 * Evidence of a text that is SQL; `undefined` for any other text. Where dialects read it differently, each reading counts that is one of SQL: what a database would refuse, it does not run. Of a
 * reading that is not understood beside one that is, the words count that only it takes for code.
 */
export function readSql(context: SqlContext, text: string, dialect?: string, depth = 0): SqlFound | undefined {
  const { sql } = context;
  // Other texts, however long, cost one look at how they begin.
  const opens = (beginning: string) => COMMENT.test(beginning) || TEMPLATE.test(beginning) || beginsLikeSql(beginning);
  if (sql === undefined || !beginningsOf(text).some(opens) || isDockerfile(text) || isModule(text)) return undefined;
  const filled = filledTemplates(text);
  const filledReadings = new Set(readingsOf(filled, dialect));
  const readings = [...new Set([...filledReadings, ...(filled === text ? [] : readingsOf(text, dialect))])];
  if (!readings.some((reading) => beginsLikeSql(reading) && !readsLikeProse(reading))) return undefined;
  const parsed = readings.map((reading) => ({ reading, ...parseSql(sql, reading, dialect) }));
  const isWhole = ({ failed, statements }: ParsedSql) => failed === 0 && statements.length > 0;
  const whole = parsed.filter(isWhole);
  // With a name in each place of a template the text is what will run, and not what is a comment as it stands.
  const templated = filled === text ? parsed : parsed.filter(({ reading }) => filledReadings.has(reading));
  const runs = templated.some(isWhole) ? whole : [...whole, ...templated.filter((each) => !isWhole(each))];
  const found = runs.flatMap((each) => evidenceOf(context, each.reading, each, depth) ?? []);
  const [first, ...others] = found;
  if (first === undefined) return undefined;
  const evidence = found.flatMap((each) => each.evidence);
  // What stands in a template is a name or a value to all.
  if (whole.length > 0 && filled === text) evidence.push(...hiddenEvidence(context, text, whole, parsed));
  const rank = (each: SqlFound) => each.evidence.reduce((most, { tier }) => Math.max(most, tierRank(context.policy, tier)), 0);
  if (others.some((other) => rank(other) !== rank(first)))
    evidence.push(unexplained(context.policy, "dialects read the text differently"));
  return {
    evidence,
    operation: OPERATIONS.findLast((operation) => found.some((each) => each.operation === operation)) ?? first.operation,
    idle: found.every(({ idle }) => idle),
    unread: found.some(({ unread }) => unread),
  };
}

const TEMPLATE = /^\s*\{[{%#]/;
const COMMENT = /^\s*(?:--|#|\/[*/])/;

const OPERATIONS = ["DEFINE", "READ", "WRITE", "DELETE", "EXPORT"];

function evidenceOf(context: SqlContext, text: string, parsed: ParsedSql, depth: number): SqlFound | undefined {
  const { policy, catalogue, recognisers } = context;
  const unread = parsed.unread.filter((part) => looksLikeSql(part) || isPutIn(part));
  const strange = parsed.unread.filter((part) => !looksLikeSql(part) && !saysNothing(part) && !isPutIn(part));
  if (unread.length + parsed.statements.length === 0) return undefined;
  // `Select the best; then go on` is none, though its first half parses.
  if (unread.length === 0 && strange.length > 0 && !looksLikeSql(text)) return undefined;
  const analysis = analyseSql(parsed.statements, context.schemaOf, "partial");
  const evidence = sqlEvidence(analysis, policy, catalogue, recognisers);
  for (const { value } of analysis.literals) evidence.push(...innerEvidence(context, value, depth + 1));
  for (const texts of analysis.runs) {
    const run = depth < MAX_DEPTH ? texts.map((each) => readSql(context, each, undefined, depth + 1)) : [];
    for (const each of run) if (each !== undefined) evidence.push(...each.evidence);
    if (run.every((each) => each === undefined))
      evidence.push(...unreadEvidence(texts, "a text that is run could not be read", policy, catalogue));
  }
  if (unread.length > 0) {
    const reason = "the statement could not be read, so that the highest tier is assumed";
    evidence.push(...unreadEvidence(unread, reason, policy, catalogue));
  }
  if (PROGRAM.test(text))
    evidence.push(...unreadEvidence([text], "a program is run, and nobody knows what it reads", policy, catalogue));
  evidence.push(...xqueryEvidence(text, policy, catalogue, (inner) => innerEvidence(context, inner, depth + 1)));
  evidence.push(...strange.flatMap((part) => strangeEvidence(part, policy, catalogue)));
  return {
    evidence,
    operation: parsed.statements.length > 0 ? analysis.operation : unreadOperation(text),
    idle: analysis.results.length + analysis.inputs.length + analysis.outputs.length + analysis.runs.length === 0,
    unread: unread.length > 0,
  };
}

/** PostgreSQL's `COPY ... FROM PROGRAM` and `TO PROGRAM`. */
const PROGRAM = /\bcopy\b[\s\S]{0,2000}?\b(?:from|to)\s+program\b/i;

/** Texts in texts: so many in one another are read. */
const MAX_DEPTH = 3;

/** Evidence of a text inside another one that is a query itself; nothing for any other text. */
export function innerEvidence(context: SqlContext, text: string, depth = 1): readonly Evidence[] {
  if (depth > MAX_DEPTH) return [];
  if (readsLikeQueryCode(text)) {
    const { evidence, rest } = stringsEvidence(context, text, depth);
    return [
      ...queryCodeEvidence(text, context.policy),
      ...evidence,
      ...namedEvidence(rest, context.policy, context.catalogue, true),
    ];
  }
  const read = readSql(context, text, undefined, depth);
  if (read !== undefined) return read.evidence;
  return [...plainQueryEvidence(context, text), ...(QUOTES.test(text) ? stringsEvidence(context, text, depth).evidence : [])];
}

const QUOTES = /["'`]/;

/** Evidence of the texts in a piece of code that are queries, and the code without those that were read. */
export function stringsEvidence(
  context: SqlContext,
  code: string,
  depth = 0,
): { readonly evidence: readonly Evidence[]; readonly rest: string } {
  const evidence: Evidence[] = [];
  let rest = "";
  let from = 0;
  for (const { text, start, end } of codeStrings(code)) {
    const read = depth < MAX_DEPTH ? readSql(context, text, undefined, depth + 1) : undefined;
    evidence.push(...(read?.evidence ?? innerEvidence(context, text, depth + 1)));
    if (read === undefined || read.unread || read.idle) continue;
    rest += `${code.slice(from, start)} `;
    from = end;
  }
  return { evidence, rest: rest + code.slice(from) };
}

const NAME = String.raw`["\x60\[]?[\p{L}_][\p{L}\p{N}_$]*["\x60\]]?`;
const PATH = String.raw`${NAME}(?:\.${NAME}){0,4}`;
/** Columns by name from a table by name, and behind it the end or what goes on in SQL: nobody writes a sentence so. */
const PLAIN_QUERY = new RegExp(
  String.raw`\bselect\s{1,20}(?:distinct\s{1,20})?${PATH}(?:\s{0,20},\s{0,20}${PATH}){0,200}\s{1,20}from\s{1,20}(?!(?:the|an?|our|my|your|his|her|their|this|that|these|those|all|any|each|every|one|two|among)\b)${PATH}(?=\s{0,20}(?:$|[;),'"\x60<\n]|--|\b(?:where|order|group|limit|join|left|right|inner|cross|union|intersect|except|minus|having|as|on|for|offset|fetch|end|into|go)\b))`,
  "giu",
);

/** Evidence of queries of plain names that stand anywhere in a text, in whatever letters: `select a, b from t` behind words that nobody reads. */
export function plainQueryEvidence({ sql, policy, catalogue }: SqlContext, text: string): readonly Evidence[] {
  if (sql === undefined) return [];
  const found = new Set([...text.matchAll(PLAIN_QUERY)].map(([query]) => query));
  return [...found].flatMap((query) => sqlWordsEvidence(query, policy, catalogue));
}

/** What is code to a reading that is not understood, and a comment or a text to all that are. */
function hiddenEvidence(
  context: SqlContext,
  text: string,
  whole: readonly { readonly reading: string }[],
  parsed: readonly { readonly reading: string }[],
): Evidence[] {
  const others = parsed.filter((each) => !whole.includes(each));
  if (others.length === 0) return [];
  const known = new Set(
    whole.flatMap(({ reading }) => [
      ...codeOf(reading),
      ...(PROGRAM_TEXT.test(reading) ? codeOf(reading.replaceAll("'", " ")) : []),
    ]),
  );
  const hidden = others
    .map(({ reading }) => codeOf(reading).filter((word) => !known.has(word)))
    .filter((words) => words.some((word) => STATEMENT.test(word)) || (words.length > 0 && /\/\*M?!/.test(text)));
  return hidden.length === 0
    ? []
    : [
        unexplained(context.policy, "a dialect may read as a statement what others take for a comment or a text"),
        ...hidden.flatMap((words) => sqlWordsEvidence(words.join(" "), context.policy, context.catalogue)),
      ];
}

/** Statements whose body, a text, was read. */
const PROGRAM_TEXT = /^\s*(?:do|create\s+(?:or\s+replace\s+)?(?:function|procedure))\b/i;
/** Words that reach data which a statement did not name before. */
const STATEMENT = /^(?:select|union|from|join|into|table|with|insert|update|delete|merge|exec|execute|call)$/i;

function codeOf(reading: string): readonly string[] {
  return sqlTokens(reading).flatMap(({ text, quoted }) => (quoted && text.startsWith("'") ? [] : [text.toLowerCase()]));
}
