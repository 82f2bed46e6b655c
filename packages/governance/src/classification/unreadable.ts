import { checkArgument } from "@seneschal/kernel";
import type { ClassificationResult } from "./classifier.ts";
import { highestTier, type TierPolicy } from "./tiers.ts";

/** What is said of a text that could not be read: it may hold anything, so it is of the highest tier. `why` names no value of the text. */
export function unreadable(policy: TierPolicy, why: string): ClassificationResult {
  checkArgument("policy", policy, "object");
  checkArgument("why", why, "string");
  const tier = highestTier(policy);
  return {
    tier,
    confidence: 0,
    tags: [],
    reasoning: `${tier}: the text could not be read: ${why}`,
    classifier_used: "heuristic",
    form: "text",
    findings: [],
  };
}
