import { businessEvidence, type Evidence } from "./evidence.ts";
import { namesBusiness, termOf, wordsOf } from "./lexicon.ts";
import { policyOf, type TierPolicy } from "./tiers.ts";

/** How queries of languages begin that no parser here reads: GraphQL, the shells of document stores, Cypher, Gremlin, pipelines of logs. */
const FORMS: readonly RegExp[] = [
  /^\s*(?:query|mutation|subscription|fragment)\b[^{}"']{0,400}\{/,
  /^\s*\{\s*[A-Za-z_]\w{0,80}\s*(?:\([^{}]{0,400}\)\s*)?\{[^;]*\}\s*\}\s*$/,
  /^\s*db\s*\.\s*\w/,
  /^\s*(?:optional\s+match|match|merge|create|unwind)\s*\(\s*\w{0,80}\s*[:){]/i,
  /^\s*g\s*\.\s*[VE]\s*\(/,
  /^[^|\n]{1,400}\|\s*(?:where|project|extend|summarize|table|fields|stats|eval|dedup)\s/i,
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
  for (const name of names) {
    const term = termOf(name, about);
    if (term === undefined || found.some((e) => e.entity === term.entity)) continue;
    const { tier, tags } = policyOf(policy, term.entity);
    found.push({ entity: term.entity, tier, tags, kind: "name", reason: `the query names ${term.term}`, column: name });
  }
  if (namesBusiness(wordsOf(about))) {
    found.push(businessEvidence(policyOf(policy, "BUSINESS_OBJECT").tier, "the query names business data"));
  }
  return found;
}
