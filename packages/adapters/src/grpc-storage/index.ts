export { type DataChannel, type DataChannelOptions, openDataChannel } from "./data-channel.ts";
export { type ObjectAddress, type ObjectClient, openObjectClient, type RemoteObject } from "./object-client.ts";
export { openRemoteDevices, type RemoteDevices } from "./remote-devices.ts";
export { CLUSTER_PROTO, type DataServices, dataServices, HEALTH_PROTO, STORAGE_PROTO } from "./services.ts";
