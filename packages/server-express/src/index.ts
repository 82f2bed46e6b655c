export type { RunningServer, ServeOptions, TlsOptions } from "@seneschal/server-node";
export { middleware, serve } from "./serve.ts";
