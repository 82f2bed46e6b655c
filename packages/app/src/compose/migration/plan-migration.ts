import { join, resolve } from "node:path";
import { CodedError } from "@seneschal/kernel";
import type { SchedulerConfig } from "../../scheduler/settings.ts";
import type { StorageConfig } from "../../storage/settings.ts";
import { type VaultService, vaultServices } from "../operate-vault.ts";
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

/** What a migration moves. */
export interface Plan {
  readonly parts: readonly MigrationPart[];
  /** Services whose embedded vault's keys go to a vault server. */
  readonly vaults: readonly VaultService[];
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
 * What is another in the next configuration, of the services that the present one runs. Throws `config_invalid` where nothing is, for a place that forgets or that
 * two services would share, and for vaults whose keys cannot be had.
 */
export function planMigration(now: ProcessConfig, next: ProcessConfig): Plan {
  const invalid = (message: string) => new CodedError("config_invalid", message);
  if (resolve(now.data_dir) !== resolve(next.data_dir))
    throw invalid("data_dir is another in the new configuration: move a directory as it is, with all that is in it");
  const all = now.services.flatMap((service) => partsOf(service, now, next));
  const parts = all.filter(({ from, to }) => placeText(from) !== placeText(to));
  const vaults = vaultServices.filter(
    (service) => now.services.includes(service) && now[service].vault.kind !== next[service].vault.kind,
  );
  for (const service of vaults) {
    if (now[service].vault.kind === "http")
      throw invalid(
        `${service}.vault: a vault server gives no key out, so that nothing can be moved from it into an embedded vault`,
      );
    if (parts.some((part) => part.service === service && part.what === "database"))
      throw invalid(`${service}: the embedded vault lies in the database: move one of them first, then the other`);
  }
  if (parts.length + vaults.length === 0)
    throw invalid("the new configuration keeps everything where it is: there is nothing to migrate");
  const targets = all.map(({ what, to }) => `${what} at ${placeText(to)}`);
  const shared = targets.find((target, at) => targets.indexOf(target) !== at);
  if (shared !== undefined) throw invalid(`two services would have one ${shared}: give each its own namespace, path or prefix`);
  return { parts, vaults };
}

function partsOf(service: ServiceName, now: ProcessConfig, next: ProcessConfig): readonly MigrationPart[] {
  const part = (what: MigrationPart["what"], place: (config: ProcessConfig) => Place): MigrationPart => ({
    service,
    what,
    from: place(now),
    to: place(next),
  });
  switch (service) {
    case "gateway":
    case "governance":
      return [part("database", (config) => databasePlace(service, config))];
    case "scheduler":
      return [part("log", schedulerLog)];
    case "storage":
      return [
        part("database", (config) => databasePlace(service, config)),
        part("log", ({ storage, data_dir }) => clusterLog(storage.cluster, data_dir)),
      ];
  }
}

/** Where a service has its documents. */
export function databasePlace(service: Exclude<ServiceName, "scheduler">, config: ProcessConfig): Place {
  const below = { gateway: ["gateway"], governance: ["governance"], storage: ["storage", "metadata"] }[service];
  return databaseOf(service, config[service].database, join(config.data_dir, ...below));
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
