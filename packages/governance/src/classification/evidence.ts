import { DEFAULT_RECOGNISERS } from "./recognisers/index.ts";
import { COUNTS_FROM } from "./search/odds.ts";
import { recognise } from "./search/recognise.ts";
import type { Finding } from "./search/recogniser.ts";
import { type EntityPolicy, highestTier, maxTier, policyOf, type TierPolicy, unclassifiedTier } from "./tiers.ts";

/** How an entity became known; each kind has its own reliability. */
export type EvidenceKind =
  | "checksum"
  | "context"
  | "pattern"
  | "name"
  | "request"
  | "catalogue"
  | "object"
  /** Of a statement that was read but for some names. */
  | "unexplained"
  /** Of a statement that was not read. */
  | "unread";

/** One reason for a tier. */
export interface Evidence {
  readonly entity: string;
  readonly tier: string;
  readonly tags: readonly string[];
  readonly kind: EvidenceKind;
  /** What a person reads: rule and place, never a value. */
  readonly reason: string;
  readonly finding?: Finding;
  /** JSON path or column of the place. */
  readonly path?: string;
  readonly column?: string;
}

/** What a value has to be treated as: what it is called, and every other reading that is at least one in four likely. */
export function entitiesOf({ entity, alternatives = [] }: Pick<Finding, "entity" | "alternatives">): readonly string[] {
  return [entity, ...alternatives.filter(({ probability }) => probability >= COUNTS_FROM).map((other) => other.entity)];
}

/** The highest tier and all tags of what a value may be. */
export function policyOfFinding(policy: TierPolicy, finding: Pick<Finding, "entity" | "alternatives">): EntityPolicy {
  return entitiesOf(finding)
    .map((entity) => policyOf(policy, entity))
    .reduce((a, b) => ({ tier: maxTier(policy, a.tier, b.tier), tags: [...new Set([...a.tags, ...b.tags])] }));
}

/** How a finding is called in reasons: with its odds where it may be something else. */
export function nameOfFinding({ entity, probability, alternatives = [] }: Finding, called = entity): string {
  const likely = (p: number) => `${Math.round(p * 100)} %`;
  if (probability === undefined) return called;
  return [
    `${called} (${likely(probability)})`,
    ...alternatives.map((other) => `${other.entity} (${likely(other.probability)})`),
  ].join(" or ");
}

/** That business data is meant, of whatever kind: it says nothing about persons. */
export function businessEvidence(tier: string, reason: string): Evidence {
  return { entity: "BUSINESS_OBJECT", tier, tags: [], kind: "object", reason };
}

/** That nobody explains a part of what was read: it is not public, and lowers the confidence. */
export function unexplained(policy: TierPolicy, reason: string): Evidence {
  return { entity: "UNEXPLAINED", tier: unclassifiedTier(policy), tags: [], kind: "unexplained", reason };
}

/** That nobody could read a part, or knows what it reaches: it may be anything, so that it counts as the highest tier. */
export function unread(policy: TierPolicy, reason: string): Evidence {
  return { entity: "UNREAD", tier: highestTier(policy), tags: [], kind: "unread", reason };
}

/** That a name may mean data about persons, and nothing beside it says so: it is not public. */
export function mayNameEvidence(policy: TierPolicy, place: string, term: string): Evidence {
  return unexplained(policy, `${place} may name ${term}`);
}

const WITHHELD = "(name withheld)";

/** A name that may be repeated to people: an identifier, not a value in disguise. */
export function safeName(text: string): string {
  const short = text.length > 64 ? `${text.slice(0, 61)}...` : text;
  if (!/^[\p{L}_$][\p{L}\p{N}_$ .-]*$/u.test(short) || (short.match(/\d/g)?.length ?? 0) > 5) return WITHHELD;
  if ((short.length >= 16 || /\d/.test(short)) && recognise(text, DEFAULT_RECOGNISERS).length > 0) return WITHHELD;
  return short;
}
