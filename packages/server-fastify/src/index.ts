export type { RunningServer, ServeOptions, TlsOptions } from "@seneschal/server-node";
export { plugin, serve } from "./serve.ts";
