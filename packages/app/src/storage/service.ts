import { join } from "node:path";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { vaultCollections } from "@seneschal/adapters/vault";
import { storageContract, storageInfo } from "@seneschal/contract/storage";
import type { ServeNfs } from "@seneschal/core/storage";
import type { AuditEntry, Vault } from "@seneschal/kernel/ports";
import { openDatabase } from "../compose/open-database.ts";
import { openVault } from "../compose/open-vault.ts";
import { type StorageServiceConfig, storageServiceSettings } from "../compose/service-settings.ts";
import { type BuiltService, DEFAULT_INSTANCE, defineService, openAuditSinks, type Platform } from "../platform/index.ts";
import { openClusterLog } from "./cluster/open-cluster-log.ts";
import { openStorage } from "./open-storage.ts";
import { storageSchema } from "./schema.ts";

/**
 * The storage service with its metadata, devices and vault below `dataDir`, for `buildService` or `startService`. `serveNfs`: what serves its
 * exports, `serveNfs` of `@seneschal/server-nfs`.
 */
export function storageService(dataDir: string, serveNfs?: ServeNfs) {
  return defineService({
    name: "storage",
    contract: storageContract,
    settings: storageServiceSettings,
    info: storageInfo,
    livePath: "/health",
    build: (config, platform) => build(config, platform, dataDir, serveNfs),
  });
}

async function build(
  config: StorageServiceConfig,
  platform: Platform,
  dataDir: string,
  serveNfs: ServeNfs | undefined,
): Promise<BuiltService> {
  const { database, vault: vaultConfig, tenant_vaults, ...own } = config;
  const { clock, random } = platform;
  const directory = join(dataDir, "storage");
  const schema = { ...storageSchema, collections: { ...storageSchema.collections, ...vaultCollections } };
  const store = await openDatabase(database, schema, join(directory, "metadata"));
  const instance = own.server.instance_id ?? DEFAULT_INSTANCE;
  let sinks: Awaited<ReturnType<typeof openAuditSinks>> | undefined;
  try {
    // Before the node: one page tells the metrics of both.
    sinks = await openAuditSinks({
      ...{ settings: own.audit_sinks, store, platform, service: "storage", instance },
      describe: (entry) => describeEvent(entry, clock.now()),
    });
    const keyFile = join(dataDir, "unseal.key");
    const vault = await openVault(vaultConfig, keyFile, { store, crypto: nodeCrypto, clock, random });
    const clusterLog = await openClusterLog(own.cluster, directory);
    const tenantVaults = new Map<string, Vault>();
    for (const [tenant, settings] of Object.entries(tenant_vaults))
      tenantVaults.set(tenant, await openVault(settings, keyFile, { store, crypto: nodeCrypto, clock, random }));
    const vaultFor = (tenant: string): Vault => tenantVaults.get(tenant) ?? vault;
    const storage = await openStorage(own, platform, { store, clusterLog, vault, vaultFor, directory, serveNfs });
    return sinks.around({
      ...storage,
      async stop() {
        await storage.stop?.();
        await store.close();
      },
    });
  } catch (error) {
    await sinks?.close();
    await store.close();
    throw error;
  }
}

/** What an event of a storage node says, in the words of all services. One that has no time of its own has that of its telling. */
function describeEvent({ seq, event }: AuditEntry, now: number) {
  const {
    at: time = new Date(now).toISOString(),
    action,
    actor = "",
    outcome = "ok",
  } = event as Readonly<Record<string, string>>;
  return {
    id: String(seq),
    time,
    type: `${action}`,
    actor,
    outcome: outcome === "ok" ? ("success" as const) : ("failure" as const),
  };
}
