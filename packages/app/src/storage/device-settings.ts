import { join } from "node:path";
import type { StorageConfig } from "./settings.ts";

/** The configured devices, or six directories of 1 GiB in the first pool; `directory`: the service's own. */
export function deviceList(config: StorageConfig, directory: string): StorageConfig["devices"] {
  if (config.devices.length > 0) return config.devices;
  // Device ids are the cluster's: nodes that share a log must not give the same ones.
  const prefix = config.cluster.kind === "etcd" ? `${config.node_id}-` : "";
  return Array.from({ length: 6 }, (_, i) => ({
    id: `${prefix}disk-${i}`,
    pool: config.pools[0]?.id ?? "default",
    directory: join(directory, "devices", `disk-${i}`),
    capacity_bytes: 1 << 30,
  }));
}

/** The setting of a member of a device, by its place in the list; `data_dir` for those that no setting says. */
export function deviceSetting({ devices }: StorageConfig, index: number, member: keyof StorageConfig["devices"][number]): string {
  return devices.length > 0 ? `storage.devices.${index}.${member}` : "data_dir";
}
