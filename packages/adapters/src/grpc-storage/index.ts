export { type DataChannel, type DataChannelOptions, openDataChannel } from "./data-channel.ts";
export { type ObjectAddress, type ObjectClient, openObjectClient, PIECE_BYTES, type RemoteObject } from "./object-client.ts";
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
export { openRemoteDevices, type RemoteDevices } from "./remote-devices.ts";
export { CLUSTER_PROTO, type DataServices, dataServices, HEALTH_PROTO, STORAGE_PROTO } from "./services.ts";
