import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { custodyCollections, custodyHandlers } from "./custody/index.ts";
import { type AnyCollection, groundCollections } from "./ground/index.ts";
import { oversightCollections, oversightHandlers } from "./oversight/index.ts";
import { federationReading, messageReading, partnersCollections, partnersHandlers } from "./partners/index.ts";
import { emergencyReading, peopleCollections, peopleHandlers } from "./people/index.ts";
import type { GatewayServices } from "./services.ts";
import { workspaceReading, workspacesCollections, workspacesHandlers } from "./workspaces/index.ts";

/** The handlers of every floor, one for each route of the contract. */
export const gatewayHandlers = {
  ...peopleHandlers,
  ...custodyHandlers,
  ...workspacesHandlers,
  ...partnersHandlers,
  ...oversightHandlers,
} satisfies Handlers<GatewayContract, GatewayServices>;

/** How entities are read whose `GET` does more than that. */
export const entityReadings = {
  "emergency-access": emergencyReading,
  message: messageReading,
  workspace: workspaceReading,
  federation: federationReading,
};

/** Every collection that the gateway keeps. */
export const gatewayCollectionList: readonly AnyCollection[] = [
  ...groundCollections,
  ...peopleCollections,
  ...custodyCollections,
  ...workspacesCollections,
  ...partnersCollections,
  ...oversightCollections,
];
