import { sqlTokens } from "../sql/split-statements.ts";
import { withoutUnicodeEscapes } from "../sql/unicode-escapes.ts";
import type { Evidence } from "./evidence.ts";
import { namesEvidence } from "./query-code.ts";
import { type Catalogue, starEvidence } from "./sql-evidence.ts";
import { highestTier, type TierPolicy } from "./tiers.ts";

/** Shapes of statements that show, move or change data, or run a text. */
const SHAPE =
  /^(?:\s*(?:--[^\n]*\n|\/\*[\s\S]{0,2000}?\*\/|#[^\n]*\n|\())*\s*(?:select\b|with\s+(?:recursive\s+)?\S{1,100}\s*(?:\([^()]{0,2000}\)\s*)?as\b|insert\s+(?:into|overwrite|all|first|ignore)\b|replace\s+into\b|update\s+\S[\s\S]{0,1000}?\bset\b|delete\s+(?:from\b|\S{1,200}\s+from\b)|merge\s+(?:into\b|\S[\s\S]{0,300}?\busing\b)|\\?copy\s+\S|unload\s*\(|export\s+(?:table|data)\b|exec(?:ute)?\b|call\s+\S{1,100}\s*\(|prepare\s+\S{1,100}\s+(?:from|as)\b|declare\s+\S|do\s+(?:\$|'|language\b)|begin\b|table\s+\S{1,200}\s*;?\s*$|from\s+\S|handler\s+\S|bulk\s+insert\b|create\s[\s\S]{0,1000}?\bas\b|if\s+\S[\s\S]{0,1000}?\b(?:select|exec|insert|delete|update)\b)/i;

/** What sentences do not have: operators, calls, names in snake case, a subquery, keywords in capitals. */
const CODE =
  /[*=@]|;\s*$|\w\((?!e?n?s?\)|in\))|\(\s{0,9}select\b|::|\|\||\w_\w|\$\$|\b(?:SELECT|INSERT INTO|DELETE FROM|UPDATE \S{1,200} SET|EXEC|EXECUTE IMMEDIATE|FROM)\b/;
/** Words of sentences that no statement has outside its quotes. */
const SENTENCE = /\b(?:the|an|your|my|our|his|her|their|this|that|these|those|please|you|we|are|was|were)\b/i;

/** True for a text that is meant as a statement on data, whether or not a parser reads it. */
export function looksLikeSql(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  return CODE.test(text) || !SENTENCE.test(text.replace(/'[^']{0,2000}'|"[^"]{0,2000}"/g, " "));
}

/** True for a text with signs of code, which no sentence has. */
export function hasSignsOfCode(text: string): boolean {
  return CODE.test(text);
}

const MAX_NAMES = 500;

/** What the words of SQL that could not be read say that it does. */
export function unreadOperation(text: string): "READ" | "EXPORT" | "WRITE" | "DELETE" {
  const [first = ""] = /\b(?:copy|unload|export|outfile|delete|truncate|insert|update|merge|replace|create)\b/i.exec(text) ?? [];
  if (/^(?:copy|unload|export|outfile)$/i.test(first)) return "EXPORT";
  if (/^(?:delete|truncate)$/i.test(first)) return "DELETE";
  return first === "" ? "READ" : "WRITE";
}

/** Evidence of SQL that could not be read: nothing says what it shows, so that it counts as the highest tier; the words in it say what more it may be. */
export function unreadEvidence(texts: readonly string[], reason: string, policy: TierPolicy, catalogue: Catalogue): Evidence[] {
  const unread: Evidence = { entity: "UNREAD", tier: highestTier(policy), tags: [], kind: "unread", reason };
  return [unread, ...texts.flatMap((text) => sqlWordsEvidence(text, policy, catalogue))];
}

/** Evidence of the words in a text with SQL that is read word by word: every name counts as if it were shown, whole if it is a table's. */
export function sqlWordsEvidence(text: string, policy: TierPolicy, catalogue: Catalogue): Evidence[] {
  const names = new Set<string>();
  const tables = new Set<string>();
  const tokens = sqlTokens(withoutUnicodeEscapes(text)).filter(({ text: word }) => !word.startsWith("'"));
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
    if (/^(?:from|join|into|update|table|using|only|,)$/i.test(before)) tables.add(name);
    else if (catalogue(name) !== undefined) tables.add(name);
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
