import { dataPathSettings } from "../storage/grpc/data-path-settings.ts";
import type { ProcessConfig, ServiceName } from "./process-settings.ts";

/** The ports of a service, by their settings, that `server.processes` has no effect on: the process that holds the store serves them by itself. */
export function servedAlone(config: ProcessConfig, service: ServiceName): readonly string[] {
  if (config[service].server.processes === 0) return [];
  switch (service) {
    case "scheduler":
      return config.scheduler.grpc.enabled ? ["scheduler.grpc"] : [];
    case "storage": {
      const { nfs } = config.storage;
      const { cert, insecure } = dataPathSettings(config.storage.grpc, process.env);
      return [
        "storage.s3",
        ...(nfs.exports.length > 0 ? ["storage.nfs"] : []),
        ...(insecure || cert !== undefined ? ["storage.grpc"] : []),
      ];
    }
    default:
      return [];
  }
}
