export { type EmbeddedPolicyOptions, embeddedPolicyEngine } from "./embedded.ts";
