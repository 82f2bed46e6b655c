import { join, resolve } from "node:path";
import { CodedError } from "@seneschal/kernel";
import type { SchedulerConfig } from "../../scheduler/settings.ts";
import type { StorageConfig } from "../../storage/settings.ts";
import type { ProcessConfig, ServiceName } from "../process-settings.ts";
import type { DatabaseSettings } from "../storage-settings.ts";

/** Where a store or a log lies. */
export type Place =
  | { readonly kind: "level"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: string; readonly namespace?: string }
  | { readonly kind: "etcd"; readonly settings: Pick<SchedulerConfig["storage"], EtcdSetting> };

type EtcdSetting = "endpoints" | "etcd_tls" | "etcd_user" | "etcd_try_timeout" | "etcd_total_timeout" | "prefix";

/** Something that a service keeps, at the place of the one configuration and of the other. */
export interface MigrationPart {
  readonly service: ServiceName;
  /** `database`: documents with audit and changes; `log`: what the scheduler, or a storage cluster, agrees by. */
  readonly what: "database" | "log";
  readonly from: Place;
  readonly to: Place;
}

/** A place in words, without credentials. */
export function placeText(place: Place): string {
  switch (place.kind) {
    case "level":
      return `level ${place.path}`;
    case "postgres": {
      const { host, pathname } = new URL(place.url);
      return `postgres ${host}${pathname} ${place.namespace ?? "seneschal"}`;
    }
    case "etcd":
      return `etcd ${place.settings.prefix} at ${[...place.settings.endpoints].sort().join(", ")}`;
  }
}

/**
 * What has another place in the next configuration, of the services that the present one runs. Throws `config_invalid` where nothing has, and for a place that
 * forgets or that two services would share.
 */
export function planMigration(now: ProcessConfig, next: ProcessConfig): readonly MigrationPart[] {
  if (resolve(now.data_dir) !== resolve(next.data_dir))
    throw new CodedError(
      "config_invalid",
      "data_dir is another in the new configuration: move a directory as it is, with all that is in it",
    );
  const parts = now.services
    .flatMap((service) => partsOf(service, now, next))
    .filter(({ from, to }) => placeText(from) !== placeText(to));
  if (parts.length === 0)
    throw new CodedError("config_invalid", "the new configuration keeps everything where it is: there is nothing to migrate");
  const targets = now.services
    .flatMap((service) => partsOf(service, now, next))
    .map(({ what, to }) => `${what} at ${placeText(to)}`);
  const shared = targets.find((target, at) => targets.indexOf(target) !== at);
  if (shared !== undefined)
    throw new CodedError("config_invalid", `two services would have one ${shared}: give each its own namespace, path or prefix`);
  return parts;
}

function partsOf(service: ServiceName, now: ProcessConfig, next: ProcessConfig): readonly MigrationPart[] {
  const part = (what: MigrationPart["what"], place: (config: ProcessConfig) => Place): MigrationPart => ({
    ...{ service, what },
    ...{ from: place(now), to: place(next) },
  });
  switch (service) {
    case "gateway":
      return [part("database", ({ gateway, data_dir }) => databaseOf(service, gateway.database, join(data_dir, "gateway")))];
    case "governance":
      return [
        part("database", ({ governance, data_dir }) => databaseOf(service, governance.database, join(data_dir, "governance"))),
      ];
    case "scheduler":
      return [part("log", schedulerLog)];
    case "storage":
      return [
        part("database", ({ storage, data_dir }) => databaseOf(service, storage.database, join(data_dir, "storage", "metadata"))),
        part("log", ({ storage, data_dir }) => clusterLog(storage.cluster, data_dir)),
      ];
  }
}

function databaseOf(service: ServiceName, { kind, path, url, namespace }: DatabaseSettings, fallback: string): Place {
  switch (kind) {
    case "memory":
      throw forgets(`${service}.database`);
    case "level":
      return { kind, path: resolve(path ?? fallback) };
    case "postgres":
      return { kind, url: needed(url, `${service}.database.url`), ...(namespace === undefined ? {} : { namespace }) };
  }
}

function schedulerLog({ scheduler: { storage }, data_dir }: ProcessConfig): Place {
  switch (storage.kind) {
    case "memory":
      throw forgets("scheduler.storage");
    case "level":
      return { kind: "level", path: resolve(storage.path ?? join(data_dir, "scheduler"), "log") };
    case "etcd":
      return { kind: "etcd", settings: storage };
    case "postgres":
      return { kind: "postgres", url: needed(storage.url, "scheduler.storage.url") };
  }
}

function clusterLog(cluster: StorageConfig["cluster"], dataDir: string): Place {
  switch (cluster.kind) {
    case "memory":
      throw forgets("storage.cluster");
    case "level":
      return { kind: "level", path: resolve(dataDir, "storage", "cluster-log") };
    case "etcd":
      return { kind: "etcd", settings: cluster };
  }
}

function forgets(setting: string): CodedError {
  return new CodedError("config_invalid", `${setting}.kind: memory forgets, and can be migrated neither from nor to`);
}

function needed(value: string | undefined, setting: string): string {
  if (value === undefined) throw new CodedError("config_invalid", `${setting} is missing`);
  return value;
}
