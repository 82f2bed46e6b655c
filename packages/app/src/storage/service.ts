import { join } from "node:path";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { vaultCollections } from "@seneschal/adapters/vault";
import { storageContract, storageHttpErrors } from "@seneschal/contract/storage";
import type { Vault } from "@seneschal/core/ports";
import { openDatabase } from "../compose/open-database.ts";
import { openVault } from "../compose/open-vault.ts";
import { type StorageServiceConfig, storageServiceSettings } from "../compose/service-settings.ts";
import { type BuiltService, defineService, type Platform } from "../platform/index.ts";
import { openClusterLog } from "./cluster/open-cluster-log.ts";
import { openStorage } from "./open-storage.ts";
import { storageSchema } from "./schema.ts";

/** The storage service with its metadata, devices and vault below `dataDir`, for `buildService` or `startService`. */
export function storageService(dataDir: string) {
  return defineService({
    name: "storage",
    contract: storageContract,
    settings: storageServiceSettings,
    errors: storageHttpErrors,
    livePath: "/health",
    build: (config, platform) => build(config, platform, dataDir),
  });
}

async function build(config: StorageServiceConfig, platform: Platform, dataDir: string): Promise<BuiltService> {
  const { database, vault: vaultConfig, tenant_vaults, ...own } = config;
  const { clock, random } = platform;
  const directory = join(dataDir, "storage");
  const schema = { ...storageSchema, collections: { ...storageSchema.collections, ...vaultCollections } };
  const store = await openDatabase(database, schema, join(directory, "metadata"));
  try {
    const keyFile = join(dataDir, "unseal.key");
    const vault = await openVault(vaultConfig, keyFile, { store, crypto: nodeCrypto, clock, random });
    const clusterLog = await openClusterLog(own.cluster, directory);
    const tenantVaults = new Map<string, Vault>();
    for (const [tenant, settings] of Object.entries(tenant_vaults))
      tenantVaults.set(tenant, await openVault(settings, keyFile, { store, crypto: nodeCrypto, clock, random }));
    const vaultFor = (tenant: string): Vault => tenantVaults.get(tenant) ?? vault;
    const storage = await openStorage(own, platform, { store, clusterLog, vault, vaultFor, directory });
    return {
      ...storage,
      async stop() {
        await storage.stop?.();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
