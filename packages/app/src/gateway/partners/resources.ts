import type { AnyCollection } from "../ground/index.ts";
import { seenCards } from "./cards/collections.ts";
import { cardHandlers } from "./cards/handlers.ts";
import { edgeSyncs, edges } from "./edges/collections.ts";
import { edgeHandlers } from "./edges/handlers.ts";
import { federationIdentities, federations } from "./federation/collections.ts";
import { federationHandlers } from "./federation/handlers.ts";
import { peerHandlers } from "./federation/peer-handlers.ts";
import { messageReceipts, messages } from "./messages/collections.ts";
import { messageHandlers } from "./messages/handlers.ts";
import { dispatches, replicas, shares } from "./replication/collections.ts";
import { replicationHandlers } from "./replication/peer-handlers.ts";
import { logWitnesses, witnessedLogs } from "./witnesses/collections.ts";
import { witnessHandlers } from "./witnesses/peer-handlers.ts";

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
