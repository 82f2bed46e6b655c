/** What property tests of quota rules need: commands and histories, and the definitions that are slow and obvious. Needs fast-check. */
export { anyCommand, anyHistory, type Step } from "./commands.ts";
export { type Draft, INVENTORY, REQUEST } from "./drafts.ts";
export { slowGpus, slowHolding, slowUsage } from "./slow-quota.ts";
export { slowFree, slowPenalty, slowTerms } from "./slow-score.ts";
