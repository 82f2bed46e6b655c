export { answer } from "./answer.ts";
export { type Listener, listener, type RunningServer, type ServeOptions, type TlsOptions } from "./listen.ts";
