import { type Evidence, unexplained, unread } from "../evidence.ts";
import { beginsLikeSql } from "../form.ts";
import type { TierPolicy } from "../tiers.ts";
import { isAddress, isOrdinary, partsOf, standsAsTable } from "./ordinary-names.ts";
import { type Catalogue, starEvidence } from "./sql-evidence.ts";
import { hasSignsOfCode, readsLikeSentence } from "./unread-sql.ts";

/** Names that are looked up of one text: what has more says more than can be asked. */
const MAX_NAMES = 20_000;

const WORD = /[\p{L}_][\p{L}\p{N}\p{M}_$]*(?:-[\p{L}\p{N}][\p{L}\p{N}_]*)*/gu;
/** Patterns that are compared with all tables. */
const MAX_PATTERNS = 64;
/** A name that something else goes on with. */
const BEGUN = /(?<![\p{L}\p{N}_])([\p{L}_][\p{L}\p{N}_]{2,100})(?:\*(?!\*)|[$#]\{\w|\{\{)/gu;
/** A name or a path in quotes, or a path without. None begins within a run of its own signs: such a run is looked through once. */
const PATH = /(["'`])([^"'`\n]{1,200})\1|(?<![\p{L}\p{N}_$~.*/-])[\p{L}\p{N}_$~.*/-]*[/:][\p{L}\p{N}_$~.*?/:-]{1,200}/gu;
/** A name with its schema: no word of a sentence is written so. */
const DOTTED = /(?<![\p{L}\p{N}_$])[\p{N}$]*([\p{L}_][\p{L}\p{N}_$]*(?:\.[\p{L}_][\p{L}\p{N}_$]*){1,3})/gu;
/** What no sentence has, besides the signs of SQL. */
const CODE = /[{}[\]|<>$\\]|\w\.\w+\s?[([]|^\s*\w+\.\w+\s*$|\s--?\w/;
/** Words of sentences. */
const PLAIN =
  /\b(?:a|in|of|on|for|with|is|how|what|who|when|why|where|does|did|do|can|could|should|would|will|it|i|me|we|you|they|he|she|him|us|are|was|were|have|has|had|be|been|like|likes|love|loves|want|wants|need|needs|not|never|always|but|because|so|very|too|der|die|das|ein|eine|und|ist|le|la|les|un|une|et|est|el|los|una|y|es|il|che)\b/gi;
/** Requests, and what tables are called in them. */
const ASKS =
  /\b(?:tables?|datasets?|data ?sets?|collections?|views?|schemas?|databases?|topics?|buckets?|index)\b|^\s*(?:please\s+|can you\s+)?(?:show|list|give|fetch|get|read|print|send)\b|\b(?:dump|export|download|query|select|copy|unload|truncate)\b/i;
/** A word that is written as names are: with an underscore, a digit, a capital inside. */
const WRITTEN = /_|\d|\p{Ll}\p{Lu}/u;

/** GraphQL, also as a member of a JSON body, where fields are called after tables: `update_orders`, `ordersAggregate`, `allOrders`, `orders_by_pk`. */
const GRAPHQL =
  /(?:^|[\n"'`])[^\S\n]{0,99}(?:(?:query|mutation|subscription|fragment)\b[^{}"']{0,400}\{|\{\s*[A-Za-z_]\w{0,80}\s*(?:\([^{}]{0,400}\)\s*)?\{)/;
const MAX_NAME_WORDS = 8;

/** What code puts before a table's name and behind it: what is done with its rows, and what holds them. */
const DOES =
  /^(?:all|get|find|fetch|load|list|read|select|query|search|create|insert|update|upsert|save|add|delete|remove|count|export|dump|sync|use|new)_?(?=[\p{Lu}_])_?/u;
const HOLDS =
  /(?<=[\p{Ll}\d])_?(?:Repository|Repo|Dao|Dto|Entity|Model|Record|Table|Collection|Store|Mapper|Query|Row|List|Set|Serializer|Schema|Manager|Queryset|Connection|Aggregate|Edge|Node|Loader|Factory|Resource|Controller|ById|By\p{Lu}\w{0,40})s?$|(?<=[\p{L}\d])_(?:repository|repo|dao|dto|entity|model|record|table|collection|store|mapper|query|row|list|set|serializer|schema|manager|queryset|aggregate|by_pk|by_id)s?$/u;

/** The name of a table that a name of code is made of, if it is one (`findMoonbases`, `MoonbaseRepository`). */
function madeOf(name: string): string | undefined {
  const bare = name.replace(DOES, "").replace(HOLDS, "");
  return bare === name || bare.length < 3 ? undefined : bare;
}

/** Words that stand between others in requests, and in no name. */
const LITTLE =
  /^(?:the|a|an|all|every|each|me|us|my|our|of|in|on|for|with|from|to|and|or|by|as|at|is|are|please|show|list|get|give|export|dump|download|read|print|send|fetch)$/i;
const MAX_REQUEST_WORDS = 200;

/** Two or three words of a request that follow one another, as one name: people say `moon bases` for a table `moon_base`. */
function* joinedWords(text: string): Generator<string> {
  const words = text.split(/[^\p{L}\p{N}_]+/u, MAX_REQUEST_WORDS);
  for (let i = 0; i < words.length; i++)
    for (const length of [2, 3]) {
      const run = words.slice(i, i + length);
      if (run.length === length && run.every((word) => word !== "" && !LITTLE.test(word))) yield run.join("_");
    }
}

/** The names that a name may be made of: every run of its words that is not all of them. */
function innerNames(name: string): readonly string[] {
  const starts = [...name.matchAll(/(?<=_)[^_]|(?<=[\p{Ll}\d])\p{Lu}/gu)].map(({ index }) => index).slice(0, MAX_NAME_WORDS);
  const cuts = [0, ...starts, name.length];
  return cuts.slice(0, -1).flatMap((from, i) =>
    cuts
      .slice(i + 1)
      .map((to) => name.slice(from, to).replace(/_+$/, ""))
      .filter((run) => run !== name && run !== ""),
  );
}

/** What nobody calls a schema: behind it only a table without one is found. */
const NO_SCHEMA = "\u0001";

function isSentence(text: string): boolean {
  const words = text.slice(0, 4000).trim().split(/\s+/).length;
  return words === 1 || readsLikeSentence(text) || (text.slice(0, 4000).match(PLAIN)?.length ?? 0) * 8 >= words;
}

/**
 * False for a name that is found only because a part of it is a word that all code has (`obj.a`, `a/b`) and that does not stand as a table's name does: one with its schema (`hr.a`) means more than its last part alone.
 */
function isMeant(name: string, catalogue: Catalogue, placed: ReadonlySet<string>): boolean {
  const parts = partsOf(name).filter(isOrdinary);
  if (isAddress(name) || parts.length === 0 || parts.some((part) => placed.has(part))) return true;
  if (isOrdinary(name) && partsOf(name).length < 2) return false;
  const known = JSON.stringify(catalogue(name));
  return parts.every((part) => JSON.stringify(catalogue(`${NO_SCHEMA}.${part}`)) !== known);
}

/**
 * Evidence of the names in a text that no parser reads (a query of another language, code, a command line, a prompt): each that the catalogue knows counts as if it were shown whole. Of a sentence, unless it is `code`, those
 * count that are written as names are; all of them, where it asks for data.
 */
export function namedEvidence(text: string, policy: TierPolicy, catalogue: Catalogue, code = false): Evidence[] {
  const all = code || hasSignsOfCode(text) || CODE.test(text) || ASKS.test(text) || beginsLikeSql(text) || !isSentence(text);
  const graphql = GRAPHQL.test(text);
  const names = new Set<string>();
  /** Words that all code has, where they stand as a table's name does. */
  const placed = new Set<string>();
  for (const [path, , quoted] of text.matchAll(PATH)) {
    if (names.size > MAX_NAMES) break;
    const name = (quoted ?? path).trim();
    // A blank in braces is a program's (`awk '{print $1}'`), and no name's.
    if (/\p{L}/u.test(name) && !/\s\S*\s\S*\s|[{}][^{}]*\s[^{}]*[{}]/.test(name)) names.add(name);
  }
  for (const [, name = ""] of text.matchAll(DOTTED)) {
    if (names.size > MAX_NAMES) break;
    if (name.length <= 256) names.add(name);
  }
  for (const match of text.matchAll(WORD)) {
    const [word] = match;
    if (names.size > MAX_NAMES) break;
    if (isOrdinary(word) && !placed.has(word) && standsAsTable(text, match.index, word, graphql)) placed.add(word);
    if (word.length <= 128 && (all || WRITTEN.test(word))) names.add(word);
    // `my-table` may be a difference, too.
    if (all && word.includes("-")) for (const part of word.split("-")) names.add(part);
    if (graphql && word.length <= 128) for (const inner of innerNames(word)) names.add(inner);
    const made = all && word.length <= 128 && WRITTEN.test(word) ? madeOf(word) : undefined;
    if (made !== undefined) names.add(made);
  }
  if (ASKS.test(text)) for (const joined of joinedWords(text)) names.add(joined);
  // `orders_*`, `orders_${day}`
  const begun = new Set([...text.matchAll(BEGUN)].map(([, name = ""]) => `${name}*`));
  for (const name of [...begun].slice(0, MAX_PATTERNS)) names.add(name);
  const found = [...names]
    .filter((name) => catalogue(name) !== undefined && isMeant(name, catalogue, placed))
    .flatMap((name) => starEvidence(name, policy, catalogue));
  if (begun.size > MAX_PATTERNS) {
    const reason = "the text has more patterns than are looked up";
    found.push(unexplained(policy, reason));
  }
  if (names.size <= MAX_NAMES) return found;
  const reason = "the text has more names than are looked up";
  return [...found, unread(policy, reason)];
}
