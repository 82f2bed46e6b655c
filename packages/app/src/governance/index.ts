export { createApiKey, hashKey, type IssuedKey, revokeApiKey, rotateApiKey } from "./api-keys.ts";
export type { CheckpointSigner } from "./audit/audit-log.ts";
export type { Who } from "./audit/event.ts";
export { type GovernanceOptions, openGovernance, tierPolicyOf } from "./open-governance.ts";
export { probeRecogniser } from "./recogniser.ts";
export { governanceSchema } from "./schema.ts";
export { governanceService } from "./service.ts";
export { type GovernanceConfig, governanceSettings } from "./settings.ts";
export { probeSource } from "./sources/open-source.ts";
