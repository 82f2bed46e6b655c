export {
  type ObjectAddress,
  type ObjectClient,
  type ObjectClientOptions,
  openObjectClient,
  type RemoteObject,
} from "./object-client.ts";
export {
  type DataCall,
  type DataFailure,
  type DataHandler,
  type DataPeer,
  type DataServer,
  type DataServerOptions,
  type Message,
  openDataServer,
} from "./open-data-server.ts";
export { type DataServices, dataServices, HEALTH_PROTO, STORAGE_PROTO } from "./services.ts";
