import { randomUUID } from "node:crypto";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import type { Handlers } from "@seneschal/contract";
import type { GovernanceContract, redactionRule } from "@seneschal/contract/governance";
import {
  maxTier,
  type RedactionRule,
  redactionKeys,
  redactionRuleFor,
  restore,
  type TierPolicy,
  tagsOf,
  unknownInRule,
} from "@seneschal/governance";
import type { AuditDraft } from "@seneschal/kernel/ports";
import type * as z from "zod";
import { auditOf, type Who } from "../audit/event.ts";
import { invalid } from "../fault.ts";
import { narrowingIn } from "../narrowing.ts";
import { configuredEntities } from "../recogniser.ts";
import type { GovernanceServices } from "../services.ts";
import { NOBODY, ownerOf, whoOf } from "../who.ts";

type Routes = Pick<GovernanceContract, "redact" | "restore">;

export const redactionHandlers: Handlers<Routes, GovernanceServices> = {
  async redact({ classifier, store, tiers, config, redactionKey }, input) {
    const { text, format, country, about, rules, entities } = input.body;
    const configured = configuredEntities(config.classification);
    for (const [i, rule] of rules.entries()) {
      const unknown = unknownInRule(rule, tiers, configured);
      if (unknown === "tier") throw invalid(`rules[${i}].tier`, `expected one of ${tiers.tiers.join(", ")}`);
      if (unknown === "entity") throw invalid(`rules[${i}].entity`, "expected an entity of GET /api/v1/tiers or of a recogniser");
    }
    const key = await redactionKey(input.principal?.org ?? NOBODY);
    const narrowing = narrowingIn(input.body, tiers, configured);
    const ruled = config.redaction.rules.map(ruleOf);
    // What the deployment hides is hidden, whatever a caller allows.
    const always = [...new Set([...Object.keys(tiers.entities), ...configured.map(({ entity }) => entity)])].filter((entity) =>
      ruled.some((rule) => rule.operator !== "keep" && redactionRuleFor(tiers, [rule, { operator: "keep" }], entity) === rule),
    );
    const task = {
      text,
      format,
      // What the deployment rules comes first: a caller fills in, and takes nothing back.
      rules: [...ruled, ...rules.map(ruleOf), ...(entities === undefined ? [] : [{ operator: "replace" as const }])],
      key: [...key],
      ...countryOf(country),
      ...(about === undefined ? {} : { about }),
      ...(narrowing === undefined ? {} : { narrowing: { ...narrowing, always } }),
    };
    const { text: redacted, redactions } = await classifier.redact(task, ownerOf(input));
    const tier = redactions.reduce((highest, one) => maxTier(tiers, highest, one.tier), tiers.tiers[0] ?? "");
    const redactedEntities = redactions.map(({ entity }) => entity);
    await store.commit({
      commitId: randomUUID(),
      audit: [
        redactionRecord(whoOf(input), tiers, { resource: format, tier, entities: redactedEntities, count: redactions.length }),
      ],
    });
    return {
      text: redacted,
      redactions: redactions.map(({ entity, tier, operator, start, end, redactedStart, redactedEnd }) => ({
        entity,
        tier,
        operator,
        start,
        end,
        redacted_start: redactedStart,
        redacted_end: redactedEnd,
      })),
    };
  },

  async restore({ store, tiers, random, redactionKey }, input) {
    const keys = redactionKeys(nodeCrypto, await redactionKey(input.principal?.org ?? NOBODY), random);
    const { text, count } = restore(input.body.text, tiers, keys);
    // Recorded before anybody sees it.
    await store.commit({
      commitId: randomUUID(),
      audit: [restorationRecord(whoOf(input), tiers, { resource: "text", count })],
    });
    return { text, count };
  },
};

/** What the audit log says of a text or a file that was redacted: which entities, and no value. */
export function redactionRecord(
  who: Who,
  policy: TierPolicy,
  {
    resource,
    tier,
    entities,
    count,
  }: { readonly resource: string; readonly tier: string; readonly entities: readonly string[]; readonly count: number },
): AuditDraft {
  const told = new Set(entities);
  return auditOf(who, {
    operation: "REDACT",
    resource,
    tier,
    tags: tagsOf(policy, told),
    reasoning: `${count} values of ${[...told].sort().join(", ") || "no entity"} were redacted`,
  });
}

/** What the audit log says of a text or a file whose values were restored. */
export function restorationRecord(
  who: Who,
  policy: TierPolicy,
  { resource, count }: { readonly resource: string; readonly count: number },
): AuditDraft {
  return auditOf(who, {
    operation: "RESTORE",
    resource,
    tier: policy.tiers.at(-1) ?? "",
    reasoning: `${count} redacted values were restored`,
  });
}

/** The recognisers know the United Kingdom as people call it. */
export function countryOf(country: string | undefined): { readonly country?: string } {
  if (country === undefined) return {};
  return { country: country.toLowerCase() === "gb" ? "uk" : country.toLowerCase() };
}

export function ruleOf({ entity, tier, operator, keep_last }: z.output<typeof redactionRule>): RedactionRule {
  return {
    operator,
    ...(entity === undefined ? {} : { entity }),
    ...(tier === undefined ? {} : { tier }),
    ...(keep_last === undefined ? {} : { keepLast: keep_last }),
  };
}
