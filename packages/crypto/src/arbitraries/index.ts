/** What property tests of keys and logs need: threshold keys, damaged bytes, sources of randomness, RFC 6962 word by word, and audit logs with what may be done to them. Needs fast-check. */
export { auditRecords, damagedList, type LogDamage, testLogForm } from "./audit-logs.ts";
export { seeded } from "./seeded.ts";
export { slowConsistencyProof, slowInclusionProof, slowRoot } from "./slow-merkle.ts";
export { type DealtKey, flippedBit, randomSources, thresholdKeys } from "./threshold-keys.ts";
