import type { Evidence, EvidenceKind } from "./evidence.ts";

/**
 * Probability that one piece of evidence of a kind gives the right tier. These and the tables below were fitted on the half of the conformance cases whose
 * text hashes even; the other half measures the calibration error.
 */
const RELIABILITY: Readonly<Record<EvidenceKind, number>> = {
  catalogue: 0.97,
  checksum: 0.985,
  context: 0.985,
  pattern: 0.98,
  name: 0.88,
  request: 0.85,
  object: 0.8,
  // Not fitted: how likely it is that something of the tier is behind what is not seen.
  unexplained: 0.4,
  unread: 0.5,
};

/** What an answer is worth beside something that no rule explains. */
const DOUBT = 0.75;

/** What no rule can see in a text: names of people and places. `hidden` grows with the signs of them. */
export type HiddenNames = "none" | "few" | "some" | "many" | "unknown";

/** A prose text in which nothing was found: most such texts that people send do name somebody. */
const NOTHING_FOUND: Readonly<Record<HiddenNames, number>> = { none: 0.4, few: 0.15, some: 0.1, many: 0.03, unknown: 0.09 };

/**
 * Probability that the tier is right: noisy-or over independent evidence for it. Evidence of the same span is one piece. Low tiers and empty results are worth
 * less where names may hide, and any answer where something was not explained (`doubt`).
 */
export function confidenceOf(winning: readonly Evidence[], rank: number, hidden: HiddenNames | undefined, doubt = false): number {
  if (doubt) return confidenceOf(winning, rank, hidden) * DOUBT;
  if (winning.length === 0) return hidden === undefined ? 0.9 : NOTHING_FOUND[hidden];
  const seen = new Set<string>();
  let miss = 1;
  for (const evidence of winning) {
    const key =
      evidence.finding === undefined
        ? `${evidence.kind}/${evidence.path ?? evidence.column ?? evidence.entity}`
        : `${evidence.finding.start}`;
    if (seen.has(key)) continue;
    seen.add(key);
    miss *= 1 - RELIABILITY[evidence.kind];
  }
  const found = Math.min(0.99, 1 - miss);
  const weak = rank <= 1 && winning.every((e) => e.kind === "pattern");
  return weak && hidden === "many" ? 0.4 : found;
}

const OPENERS =
  /^\W*(?:what|how|why|when|where|who|which|is|are|am|was|do|does|did|can|could|would|should|will|please|the|a|an|i|i'm|i'd|my|we|our|you|your|it|this|that|there|hello|hi|excuse|show|list|to|in|on|for|if|as|no|yes|not|need|thanks|tell|give)\b/i;

/** Signs of names in prose: capitalised words inside sentences, a beginning that is no function word, no capitals at all. */
export function hiddenNames(text: string): HiddenNames {
  const head = text.slice(0, 20_000);
  if (head === head.toLowerCase() && /[a-z]{3}/.test(head)) return "unknown";
  let count = 0;
  for (const _ of head.matchAll(/(?<=[\p{Ll}\p{N},;:'")] )\p{Lu}\p{Ll}+/gu)) count++;
  if (count >= 3) return "many";
  if (count === 2) return "some";
  return count === 1 || !OPENERS.test(head) ? "few" : "none";
}
