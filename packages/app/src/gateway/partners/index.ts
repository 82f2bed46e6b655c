export {
  dispatches,
  edgeSyncs,
  edges,
  federationIdentities,
  federations,
  logWitnesses,
  messageReceipts,
  messages,
  partnersCollections,
  receiptId,
  replicaId,
  replicas,
  seenCards,
  shares,
  witnessedLogs,
} from "./collections.ts";
export { federationChannels, hostOf } from "./federation/channel.ts";
export { findFederation } from "./federation/find.ts";
export { federationReading, federationView } from "./federation/handlers.ts";
export { watchPartners } from "./federation/health.ts";
export { type PartnerStates, partnerStates } from "./federation/partner-states.ts";
export { partnerRefusals } from "./federation/refusals.ts";
export { messageLanes, messageReading, purgeMessages } from "./messages.ts";
export { dispatchLanes } from "./replication/dispatch.ts";
export { destroyReplica } from "./replication/replica.ts";
export { workspaceReplication } from "./replication/workspace-replication.ts";
export { partnersHandlers } from "./resources.ts";
export type { PartnerServices } from "./services.ts";
export { cosignedCheckpoints, witnessRounds } from "./witnesses.ts";
