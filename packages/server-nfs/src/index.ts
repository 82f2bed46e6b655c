export { type NfsProcedure, nfsProcedures } from "./nfs3/procedures.ts";
export { type NfsStatusName, nfsStatus } from "./nfs3/status.ts";
export { type NfsClient, type NfsClientOptions, openNfsClient } from "./open-nfs-client.ts";
export { serveNfs } from "./serve-nfs.ts";
export type { NfsProtocolCode } from "./xdr/protocol-error.ts";
