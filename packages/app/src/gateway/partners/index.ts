export {
  dispatches,
  edgeSyncs,
  edges,
  federationIdentities,
  federations,
  logWitnesses,
  messageReceipts,
  messages,
  receiptId,
  replicaId,
  replicas,
  type StoredFederation,
  seenCards,
  shares,
  witnessedLogs,
} from "./collections.ts";
export { federationChannels } from "./federation/channel.ts";
export { findFederation } from "./federation/find.ts";
export { federationReading } from "./federation/handlers.ts";
export { hostOf } from "./federation/host-of.ts";
export { type PartnerStates, partnerStates } from "./federation/partner-states.ts";
export { partnerRefusals } from "./federation/refusals.ts";
export { federationView } from "./federation/view.ts";
export { watchPartners } from "./federation/watch-partners.ts";
export { messageLanes, messageReading, purgeMessages } from "./messages.ts";
export { dispatchLanes } from "./replication/deliver-dispatch.ts";
export { endReplica } from "./replication/end-replica.ts";
export { workspaceReplication } from "./replication/workspace-replication.ts";
export { partnersCollections, partnersHandlers } from "./resources.ts";
export type { PartnerServices } from "./services.ts";
export { cosignedCheckpoints, witnessRounds } from "./witnesses.ts";
