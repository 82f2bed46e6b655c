import { checkArgument } from "@seneschal/kernel";
import { LEXICON } from "../classification/lexicon.ts";
import { DEFAULT_RECOGNISERS } from "../classification/recognisers/index.ts";
import { policyOf, type TierPolicy, tierRank } from "../classification/tiers.ts";
import { governanceError } from "../errors.ts";

/** What becomes of a value; the words are Presidio's where it has them. */
export const REDACTION_OPERATORS = ["mask", "replace", "hash", "generalise", "tokenise", "encrypt", "drop", "keep"] as const;
export type RedactionOperator = (typeof REDACTION_OPERATORS)[number];

/** Which values are treated how. A rule without `entity` and `tier` is for all. */
export interface RedactionRule {
  readonly entity?: string;
  /** Values of this tier or a higher one. */
  readonly tier?: string;
  readonly operator: RedactionOperator;
  /** Characters at the end that a mask leaves, at most four; a value of at most twice as many is masked whole. */
  readonly keepLast?: number;
}

const BUILT_IN: ReadonlySet<string> = new Set([...DEFAULT_RECOGNISERS, ...LEXICON].map(({ entity }) => entity));

/** True for an entity that the tiers speak of or that a recogniser finds, built-in or `configured`: a rule for another one would do nothing. */
export function isKnownEntity(
  policy: Pick<TierPolicy, "entities">,
  entity: string,
  configured: readonly { readonly entity: string }[] = [],
): boolean {
  checkArgument("policy", policy, "object");
  checkArgument("entity", entity, "string");
  return Object.hasOwn(policy.entities, entity) || BUILT_IN.has(entity) || configured.some((each) => each.entity === entity);
}

/** The member of a rule that names no tier of the scale, or an entity that nothing finds; `undefined` where both are known. */
export function unknownInRule(
  given: { readonly entity?: string | undefined; readonly tier?: string | undefined },
  policy: Pick<TierPolicy, "entities" | "tiers">,
  configured: readonly { readonly entity: string }[] = [],
): "entity" | "tier" | undefined {
  checkArgument("given", given, "object");
  checkArgument("policy", policy, "object");
  const { entity, tier } = given;
  if (tier !== undefined && !policy.tiers.includes(tier)) return "tier";
  return entity !== undefined && !isKnownEntity(policy, entity, configured) ? "entity" : undefined;
}

/**
 * A rule as one text: `PERSON=tokenise`, `CREDIT_CARD=mask:4`, `RESTRICTED=drop`, `*=hash`. A name that is no tier is an entity's, known or not. `undefined` for what is no rule.
 *
 * @example
 * ```ts
 * import { DEFAULT_TIER_POLICY, parseRedactionRule } from "@seneschal/governance";
 * console.log(parseRedactionRule("CREDIT_CARD=mask:4", DEFAULT_TIER_POLICY)); // { operator: 'mask', entity: 'CREDIT_CARD', keepLast: 4 }
 * ```
 */
export function parseRedactionRule(text: string, policy: Pick<TierPolicy, "tiers">): RedactionRule | undefined {
  checkArgument("text", text, "string");
  checkArgument("policy", policy, "object");
  const [, name = "", operatorName = "", keep] = /^([^=]{1,64})=([a-z]+)(?::([0-4]))?$/.exec(text) ?? [];
  const operator = REDACTION_OPERATORS.find((known) => known === operatorName);
  if (operator === undefined) return undefined;
  return {
    operator,
    ...(name === "*" ? {} : policy.tiers.includes(name) ? { tier: name } : { entity: name }),
    ...(keep === undefined ? {} : { keepLast: Number(keep) }),
  };
}

const MEMBERS: ReadonlySet<string> = new Set(["entity", "tier", "operator", "keepLast"] satisfies (keyof RedactionRule)[]);

/**
 * Throws `validation_failed`, naming the member, for a rule that would do nothing or something else than it says: of an entity that nothing finds, a
 * tier or operator that is none, a member that is unknown.
 */
export function checkRedactionRules(
  rules: readonly RedactionRule[],
  policy: Pick<TierPolicy, "entities" | "tiers">,
  recognisers: readonly { readonly entity: string }[],
): void {
  for (const [i, rule] of rules.entries()) {
    checkArgument(`rules.${i}`, rule, "object");
    const refuse = (member: string, why: string): never => {
      throw governanceError("validation_failed", `rules.${i}.${member}: ${why}`, { field: `rules.${i}.${member}` });
    };
    for (const member of Object.keys(rule)) if (!MEMBERS.has(member)) refuse(member, "is no member of a rule");
    if (!REDACTION_OPERATORS.includes(rule.operator)) refuse("operator", `expected one of ${REDACTION_OPERATORS.join(", ")}`);
    const unknown = unknownInRule(rule, policy, recognisers);
    if (unknown === "tier") refuse("tier", `expected one of ${policy.tiers.join(", ")}`);
    if (unknown === "entity") refuse("entity", `no recogniser finds ${rule.entity}`);
  }
}

/**
 * The rule for a value that is one of these entities, the likeliest first: the first rule that fits any of them, `keep` only where it fits all. Where none does, values of the
 * third tier and above are replaced and others kept: dates and places alone identify nobody.
 */
export function redactionRuleFor(
  policy: TierPolicy,
  rules: readonly RedactionRule[],
  ...entities: readonly [string, ...string[]]
): RedactionRule {
  checkArgument("policy", policy, "object");
  checkArgument("rules", rules, "array");
  const ranks = entities.map((entity) => tierRank(policy, policyOf(policy, entity).tier));
  for (const rule of rules) {
    const fits = (entity: string, i: number): boolean =>
      (rule.entity === undefined || rule.entity === entity) &&
      (rule.tier === undefined || (ranks[i] ?? 0) >= tierRank(policy, rule.tier));
    if (rule.operator === "keep" ? entities.every(fits) : entities.some(fits)) return rule;
  }
  return { operator: Math.max(...ranks) >= Math.min(2, policy.tiers.length - 1) ? "replace" : "keep" };
}
