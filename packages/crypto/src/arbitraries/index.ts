/** What property tests of keys and logs need: threshold keys, damaged bytes, sources of randomness, and RFC 6962 word by word. Needs fast-check. */
export { seeded } from "./seeded.ts";
export { slowConsistencyProof, slowInclusionProof, slowRoot } from "./slow-merkle.ts";
export { type DealtKey, flippedBit, randomSources, thresholdKeys } from "./threshold-keys.ts";
