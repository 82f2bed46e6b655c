import type { Logger } from "@seneschal/adapters/logging";
import type { NfsServer, ServeNfs } from "@seneschal/core/storage";
import { checkOptions } from "@seneschal/kernel";
import type { Authorisation } from "../../platform/index.ts";
import type { StorageNode } from "../node.ts";
import { openFileService } from "./open-file-service.ts";
import type { NfsConfig } from "./settings.ts";

/** Serves the exports of a node, counted and logged as its other gateways are. */
export async function openNfs(given: {
  readonly config: NfsConfig;
  readonly node: StorageNode;
  readonly authorisation: Authorisation;
  readonly log: Logger;
  readonly serveNfs: ServeNfs;
}): Promise<NfsServer> {
  checkOptions("given", given, {
    config: "object",
    node: "object",
    authorisation: "object",
    log: "object",
    serveNfs: "function",
  });
  const { config, node, authorisation, log, serveNfs } = given;
  const { metrics, background, devices } = node;
  const files = openFileService({ services: node.objects, devices, authorisation, background, config });
  const labels = { transport: "nfs" };
  let open = 0;
  const server = await serveNfs({
    files,
    host: config.host,
    port: config.port,
    maxConnections: config.max_connections,
    idleTimeoutMs: config.idle_timeout,
    onCall({ procedure, status, seconds }) {
      metrics.gatewayRequests.inc({ protocol: "nfs", method: procedure, status });
      metrics.gatewayDuration.observe({ protocol: "nfs", method: procedure }, seconds);
      if (status === "EACCES") metrics.authFailures.inc({ surface: "nfs", reason: procedure });
    },
    onFailure: (error, procedure) => log.error({ error, procedure }, "nfs call failed"),
    onConnection(change, { received, sent }) {
      open += change;
      node.connections.set("nfs", open);
      metrics.transportActive.set(labels, open);
      metrics.transportBytes.inc({ ...labels, direction: "rx" }, received);
      metrics.transportBytes.inc({ ...labels, direction: "tx" }, sent);
    },
  });
  return {
    port: server.port,
    async close() {
      await server.close();
      await files.close();
    },
  };
}
