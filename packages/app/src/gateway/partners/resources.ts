import type { AnyCollection } from "../ground/index.ts";
import { cardHandlers } from "./cards.ts";
import {
  dispatches,
  edgeSyncs,
  edges,
  federationIdentities,
  federations,
  logWitnesses,
  messageReceipts,
  messages,
  replicas,
  seenCards,
  shares,
  witnessedLogs,
} from "./collections.ts";
import { edgeHandlers } from "./edges.ts";
import { federationHandlers } from "./federation/handlers.ts";
import { peerHandlers } from "./federation/peer-handlers.ts";
import { messageHandlers } from "./messages.ts";
import { replicationHandlers } from "./replication/peer-handlers.ts";
import { witnessHandlers } from "./witnesses.ts";

export const partnersHandlers = {
  ...federationHandlers,
  ...peerHandlers,
  ...replicationHandlers,
  ...witnessHandlers,
  ...cardHandlers,
  ...messageHandlers,
  ...edgeHandlers,
};

export const partnersCollections: readonly AnyCollection[] = [
  dispatches,
  edgeSyncs,
  edges,
  federationIdentities,
  federations,
  logWitnesses,
  messageReceipts,
  messages,
  replicas,
  seenCards,
  shares,
  witnessedLogs,
];
