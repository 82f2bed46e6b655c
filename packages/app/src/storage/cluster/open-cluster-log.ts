import { join } from "node:path";
import { openLevelLog } from "@seneschal/adapters/level";
import { createMemoryLog } from "@seneschal/adapters/memory";
import { checkArgument } from "@seneschal/kernel";
import type { ReplicatedLog } from "@seneschal/kernel/ports";
import { etcdOptions } from "../../platform/index.ts";
import { refusedSetting } from "../refused-setting.ts";
import type { StorageConfig } from "../settings.ts";

/** The configured log of the cluster. Throws `config_invalid`, and what the adapters throw. */
export async function openClusterLog(settings: StorageConfig["cluster"], directory: string): Promise<ReplicatedLog> {
  checkArgument("settings", settings, "object");
  checkArgument("directory", directory, "string");
  switch (settings.kind) {
    case "memory":
      return createMemoryLog().open();
    case "level":
      return openLevelLog({ path: join(directory, "cluster-log") });
    case "etcd": {
      if (settings.endpoints.length === 0) throw refusedSetting("storage.cluster.endpoints", "etcd needs them");
      // Loaded when it is wanted: the client takes several megabytes.
      const { openEtcdLog } = await import("@seneschal/adapters/etcd");
      return openEtcdLog({ ...etcdOptions(settings), prefix: settings.prefix });
    }
  }
}
