export { answer, beside, incoming, type Place } from "./answer.ts";
export { handler, type NodeHandler, serve } from "./handler.ts";
export { type Listener, listener } from "./listen.ts";
export { serveByProcesses } from "./processes/serve-by-processes.ts";
export { acceptProxies, addressOf } from "./proxy-protocol.ts";
export { brokenBy, hostOf, originForm } from "./request-head.ts";
