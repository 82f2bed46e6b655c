export { admitCaller, identityAdmissions, requireAllowedByPolicy } from "./admissions.ts";
export {
  admissions,
  consentId,
  type DeletionConsent,
  dekUseId,
  dekUseRecords,
  deletionConsents,
  invitations,
  joinRequests,
  type Participation,
  participationId,
  participations,
  policies,
  rotationPolicies,
  workspaces,
  workspacesCollections,
} from "./collections.ts";
export { requireCompiles, requireRouteAllowed } from "./policies.ts";
export { type PolicyGate, policyGate } from "./policy-gate.ts";
export type { WorkspaceReplication } from "./replication.ts";
export { workspacesHandlers } from "./resources.ts";
export type { WorkspaceServices } from "./services.ts";
export { findOwnWorkspace, findVisibleWorkspace, findWorkspace } from "./workspaces/access.ts";
export type { BundleContent } from "./workspaces/bundle-content.ts";
export { makeWorkspace, type NewWorkspace, saveWorkspace } from "./workspaces/carry-out.ts";
export { dekRing, dekUses } from "./workspaces/dek-ring.ts";
export { workspaceReading } from "./workspaces/handlers.ts";
export { breathe, openKeys, sealKeys } from "./workspaces/sealed-keys.ts";
export { checkWorkspaceSignature } from "./workspaces/sign.ts";
export { replicatedPolicies, replicatedWorkspace, stateHash, storedWorkspace } from "./workspaces/transfer.ts";
export { type DataItem, decryptItems, encryptItems } from "./workspaces/use-key.ts";
