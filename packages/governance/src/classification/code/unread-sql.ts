import { sqlTokens } from "../../sql/split-statements.ts";
import { withoutUnicodeEscapes } from "../../sql/unicode-escapes.ts";
import { type Evidence, unexplained, unread } from "../evidence.ts";
import type { TierPolicy } from "../tiers.ts";
import { isOrdinary } from "./ordinary-names.ts";
import { namesEvidence } from "./query-code.ts";
import { type Catalogue, starEvidence } from "./sql-evidence.ts";

/** Shapes of statements that show, move or change data, or run a text. */
const SHAPE =
  /^(?:\s*(?:--[^\n]*\n|\/\*[\s\S]{0,2000}?\*\/|#[^\n]*\n|\())*\s*(?:select\b|with\s+(?:recursive\s+)?\S{1,100}\s*(?:\([^()]{0,2000}\)\s*)?as\b|insert\s+(?:into|overwrite|all|first|ignore)\b|replace\s+into\b|update\s+\S[\s\S]{0,1000}?\bset\b|delete\s+(?:from\b|\S{1,200}\s+from\b)|merge\s+(?:into\b|\S[\s\S]{0,300}?\busing\b)|\\?copy\s+\S|unload\s*\(|export\s+(?:table|data)\b|exec(?:ute)?\b|call\s+\S{1,100}\s*\(|prepare\s+\S{1,100}\s+(?:from|as)\b|declare\s+\S|do\s+(?:\$|'|language\b)|begin\b|table\s+(?:only\s+)?\S{1,200}(?:\s*\*)?\s*;?\s*$|from\s+\S|handler\s+\S|bulk\s+insert\b|create\s[\s\S]{0,1000}?\bas\b|if\s+\S[\s\S]{0,1000}?\b(?:select|exec|insert|delete|update)\b)/i;

/** What sentences do not have: operators, calls, names in snake case, a subquery, keywords in capitals. */
const CODE =
  /[*=@]|;\s*$|\w\((?!e?n?s?\)|in\))|\(\s{0,9}select\b|::|\|\||\w_\w|\$\$|\b(?:SELECT|INSERT INTO|DELETE FROM|UPDATE \S{1,200} SET|EXEC|EXECUTE IMMEDIATE|FROM)\b/;
/** Words of sentences that no statement has outside its quotes. */
const SENTENCE =
  /\b(?:the|an|your|my|our|his|her|their|this|that|these|those|please|you|we|are|was|were|who|whom|whose|which|what|here|there|does)\b/i;
/** Talk about the language. */
const ABOUT_SQL =
  /^\s*[A-Z]{4,10}(?:\s+[A-Z]{4,10})?\s+(?:is|are|was|were|does|means|statements?|queries|clauses?|keywords?|commands?|and|or)\b(?![\s\S]*[;=(*])/;

/** True for a text that is meant as a statement on data, whether or not a parser reads it. */
export function looksLikeSql(text: string): boolean {
  if (!SHAPE.test(text) || ABOUT_SQL.test(text)) return false;
  return CODE.test(text) || !readsLikeSentence(text);
}

/** True for a text with words that sentences have, and statements only in quotes. */
export function readsLikeSentence(text: string): boolean {
  return SENTENCE.test(text.replace(/'[^']{0,2000}'|"[^"]{0,2000}"/g, " "));
}

/** True for a text with signs of code, which no sentence has. */
export function hasSignsOfCode(text: string): boolean {
  return CODE.test(text);
}

/** Statements of databases that no rule here reads, by how they begin. */
const COMMANDS: readonly RegExp[] = [
  // Of Teradata and others, for statements that other words begin elsewhere.
  /^(?:sel\s+\S|ins\s+(?:into\s+)?\S+\s*\(|del\s+from\b|upd\s+\S+\s+set\b|upsert\s+(?:into\s+)?\S|perform\s+\w+\s*\()/i,
  /^(?:select|insert\s+into|replace\s+into|delete\s+from)\s*(?:top\b.*)?$|^(?:insert|replace)\s+into\s+\S|^delete\s+from\s+\S/i,
  // Files, copies, other databases.
  /^(?:(?:at|de)tach\s+(?:database|partition|table|'|if\s|\S+\s+as\b)|(?:backup|restore)\s+(?:database|table|log|filelistonly|all\b)|restore\s+\S+\s+from\b|dump\s+(?:database|tran|table)\b|flashback\s+(?:table|database)\b|undrop\s+\S)/i,
  /^(?:load\s+(?:data|xml|table|dictionary)\b|unload\s+(?:table|\()|import\s+foreign\b|exchange\s+partition\b|put\s+'?file:|(?:get|ls|list|rm|remove)\s+@[\w%~"']|create\s+(?:or\s+replace\s+)?(?:public\s+)?(?:synonym|alias|publication|database\s+link)\b)/i,
  // Cursors, procedures, administration.
  /^(?:fetch\s+(?:all|next|prior|first|last|absolute|relative|forward|backward|-?\d+)\s+(?:from\s+|in\s+|-?\d+\s+)*\w+\s*;?\s*$|(?:xp|sp)_\w+|handler\s+\S+\s+(?:open|read)\b|(?:get|set)\s+diagnostics\b|pragma\s+\w+\s*(?:[(=;]|$))/i,
  /^(?:dbcc\s+\w|checksum\s+table\b|(?:rename|repair|optimize|analyze|refresh|truncate|recover|vacuum)\s+table\b|explain\s+(?:analyz|analys|plan\b|extended\b|verbose\b|\()|waitfor\s*\(|msck\s|refresh\s+materialized\b|(?:un)?pivot\s+\S+\s+(?:on|using)\b|(?:import|export)\s+database\b|lock\s+tables?\s|kill\s+(?:query\s+)?\d|(?:alter|drop)\s+(?:table|view|database|schema|session|system|index|role|user|function|procedure)\s+\S)/i,
  // Of clients.
  /^(?:\{\s*(?:\?\s*=\s*)?call\s|\\(?:copy|[a-z]+\+?\s|!)|\.(?:dump|read|import|export|save|backup|schema|tables|mode)\b|:r\s+\S|@@?[\w./]+\.sql\b)/i,
];
/** Verbs with one name behind them: in capitals, or where the name is a table's. */
const BRIEF =
  /^(summari[sz]e|describe|fetch|open|truncate|drop|lock|vacuum|optimize|checksum|dump|unload|cache|refresh|handler|watch|move|receive)\s+([^\s;]+)\s*;?\s*$/i;

/** Verbs of statements in capitals, in a text that has other letters too. */
const CAPITALS =
  /^(?:ALTER|ANALYZE|ATTACH|BACKUP|CALL|CHECKSUM|COMMENT|CREATE|DECLARE|DELETE|DETACH|DFS|DISABLE|DROP|DUMP|ENABLE|EXCHANGE|EXEC|EXECUTE|EXPLAIN|EXPORT|FETCH|GRANT|HANDLER|IMPORT|INSERT|INSTALL|KILL|LISTEN|LOAD|LOCK|MERGE|MOVE|NOTIFY|OPEN|OPTIMIZE|PIVOT|PRAGMA|RAISERROR|READTEXT|RECEIVE|REFRESH|RENAME|REPLACE|RESTORE|REVOKE|SECURITY|SEL|SELECT|SET|SHOW|SUMMARIZE|SYSTEM|TRUNCATE|UNLOAD|UNPIVOT|UPDATE|UPSERT|USE|VACUUM|WAITFOR|WATCH|WITH)\s+["`[(@\w](?=[\s\S]*[a-z])/;

/** True for a text that is meant as a command to a database, of a kind that nobody reads here. */
export function readsLikeCommand(text: string, catalogue: Catalogue): boolean {
  const bare = text.replace(/^(?:\s*--[^\n]*\n|\s*\/\*[\s\S]{0,2000}?\*\/|\s*;)+/, "").trimStart();
  const [, verb = "", name = ""] = BRIEF.exec(bare) ?? [];
  if (ABOUT_SQL.test(bare)) return false;
  if (verb !== "") return verb === verb.toUpperCase() || catalogue(name) !== undefined;
  if (!CAPITALS.test(bare) && !COMMANDS.some((form) => form.test(bare))) return false;
  if (/[.?!]\s*$/.test(bare)) return CODE.test(bare);
  return CODE.test(bare) || !readsLikeSentence(bare);
}

/** Words between statements that are none. */
const BETWEEN = /^(?:go(?:\s+\d+)?|\/|end|exit|quit|delimiter\s+\S+)$/i;

/** True for what stands between semicolons and says nothing. */
export function saysNothing(text: string): boolean {
  return BETWEEN.test(text.trim());
}

/** Evidence of a statement that nobody understands, and that may be one of a database: it is not public, and each of its words counts. */
export function strangeEvidence(text: string, policy: TierPolicy, catalogue: Catalogue): Evidence[] {
  const reason = "a statement is not understood";
  return [unexplained(policy, reason), ...sqlWordsEvidence(text, policy, catalogue)];
}

const MAX_NAMES = 500;
/** Keywords that a table stands behind. */
const TAKES = /^(?:from|join|into|update|table|using|only)$/i;

/** What the words of SQL that could not be read say that it does. */
export function unreadOperation(text: string): "READ" | "EXPORT" | "WRITE" | "DELETE" {
  const [first = ""] = /\b(?:copy|unload|export|outfile|delete|truncate|insert|update|merge|replace|create)\b/i.exec(text) ?? [];
  if (/^(?:copy|unload|export|outfile)$/i.test(first)) return "EXPORT";
  if (/^(?:delete|truncate)$/i.test(first)) return "DELETE";
  return first === "" ? "READ" : "WRITE";
}

/** Evidence of SQL that could not be read: nothing says what it shows, so that it counts as the highest tier; the words in it say what more it may be. */
export function unreadEvidence(texts: readonly string[], reason: string, policy: TierPolicy, catalogue: Catalogue): Evidence[] {
  return [unread(policy, reason), ...texts.flatMap((text) => sqlWordsEvidence(text, policy, catalogue))];
}

/** Evidence of the words in a text with SQL that is read word by word: every name counts as if it were shown, whole if it is a table's. */
export function sqlWordsEvidence(text: string, policy: TierPolicy, catalogue: Catalogue): Evidence[] {
  const names = new Set<string>();
  const tables = new Set<string>();
  const all = sqlTokens(withoutUnicodeEscapes(text));
  const tokens = all.filter(({ text: word }) => !word.startsWith("'"));
  // A table may be given as a text.
  for (const { text: word } of all.slice(0, MAX_NAMES))
    if (word.startsWith("'") && word.length < 200 && catalogue(word.slice(1, -1)) !== undefined) tables.add(word.slice(1, -1));
  let listing = false;
  for (let i = 0; i < tokens.length && names.size < MAX_NAMES; i++) {
    const first = nameIn(tokens[i]?.text);
    if (first === undefined) continue;
    const before = tokens[i - 1]?.text ?? "";
    let name = first;
    for (
      let next = nameIn(tokens[i + 2]?.text);
      tokens[i + 1]?.text === "." && next !== undefined;
      next = nameIn(tokens[i + 2]?.text)
    ) {
      names.add(next);
      name += `.${next}`;
      i += 2;
    }
    names.add(first);
    listing ||= /^from$/i.test(before);
    // `f(x, a)` and `if (a == null)` are no lists of tables.
    const ordinary = name === first && isOrdinary(name) && !(before === "," ? listing : i === 1);
    if (ordinary ? TAKES.test(before) : before === "," || TAKES.test(before)) tables.add(name);
    else if (ordinary) continue;
    else if (catalogue(name) !== undefined) tables.add(name);
    else {
      // The last name may be a column's.
      const table = name.slice(0, Math.max(0, name.lastIndexOf(".")));
      if (table !== "" && catalogue(table) !== undefined) tables.add(table);
    }
  }
  return [
    ...[...tables].flatMap((table) => starEvidence(table, policy, catalogue)),
    ...namesEvidence([...names], [...names].join(" "), policy),
  ];
}

function nameIn(word: string | undefined): string | undefined {
  const plain = word?.replace(/^[`"[]|[`"\]]$/g, "");
  return plain !== undefined && /^[\p{L}_]/u.test(plain) ? plain : undefined;
}
