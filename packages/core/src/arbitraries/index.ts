/** What property tests of the domain need: people, and inputs of the state machines. Needs fast-check. */

export {
  clusterCommands,
  clusterStates,
  joinOf,
  keptBackups,
  maintenanceRequests,
  nodeViews,
  organizationalUnits,
  tenantCommands,
} from "./cluster.ts";
export { fileCallers, fileSettings, knownFiles } from "./files.ts";
export { jobEvents } from "./jobs.ts";
export {
  deliveries,
  dispatches,
  emergencyInputs,
  federationInputs,
  invitationsOf,
  offeredCheckpoints,
  ownerStates,
  people,
  policyAnswers,
  policyVerdicts,
  serviceCredentials,
  signedConsents,
  storedDocuments,
  vaultAnswers,
  workspaceInputs,
} from "./keys.ts";
export {
  deletions,
  lifecycleRules,
  objectKeys,
  objectVersions,
  placedVersions,
  queuePages,
  replicationRules,
  sendings,
  uploadParts,
  versionings,
  waitingCopies,
} from "./objects.ts";
