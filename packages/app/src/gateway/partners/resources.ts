import { cardHandlers } from "./cards.ts";
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
