import { join } from "node:path";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { vaultCollections } from "@seneschal/adapters/vault";
import { storageContract, storageInfo } from "@seneschal/contract/storage";
import type { ServeGrpc, ServeNfs, ServeS3 } from "@seneschal/core/storage";
import { checkOptions } from "@seneschal/kernel";
import type { AuditEntry, Vault } from "@seneschal/kernel/ports";
import { openDatabase } from "../compose/open-database.ts";
import { openVault, openVaultServer } from "../compose/open-vault.ts";
import { type StorageServiceConfig, storageServiceSettings } from "../compose/service-settings.ts";
import { type BuiltService, DEFAULT_INSTANCE, defineService, openAuditSinks, type Platform } from "../platform/index.ts";
import { auditStorageSeal } from "./audit-seal.ts";
import { openClusterLog } from "./cluster/cluster-control.ts";
import { openStorage } from "./open-storage.ts";
import { storageSchema } from "./schema.ts";

/** What speaks the protocols of a storage node's ports. */
export interface StorageServers {
  /** `serveS3` of `@seneschal/server-s3`. */
  readonly serveS3: ServeS3;
  /** `serveNfs` of `@seneschal/server-nfs`, where something is exported. */
  readonly serveNfs?: ServeNfs | undefined;
  /** `serveGrpc` of `@seneschal/server-grpc`, where the data path is configured. */
  readonly serveGrpc?: ServeGrpc | undefined;
}

/** The storage service with its metadata, devices and vault below `dataDir`, for `buildService` or `startService`. */
export function storageService(dataDir: string, servers: StorageServers) {
  checkOptions("servers", servers, { serveS3: "function", serveNfs: "function?", serveGrpc: "function?" });
  return defineService({
    name: "storage",
    contract: storageContract,
    settings: storageServiceSettings,
    info: storageInfo,
    livePath: "/health",
    owner: "tenant",
    build: (config, platform) => build(config, platform, dataDir, servers),
  });
}

/** The node's metadata, with the embedded vault in it. */
export function openStorageStore(database: StorageServiceConfig["database"], dataDir: string, log?: Platform["log"]) {
  const schema = { ...storageSchema, collections: { ...storageSchema.collections, ...vaultCollections } };
  return openDatabase(database, schema, join(dataDir, "storage", "metadata"), log);
}

async function build(
  config: StorageServiceConfig,
  platform: Platform,
  dataDir: string,
  servers: StorageServers,
): Promise<BuiltService> {
  const { database, vault: vaultConfig, tenant_vaults, ...own } = config;
  const { clock, random, operators } = platform;
  const directory = join(dataDir, "storage");
  const store = await openStorageStore(database, dataDir, platform.log);
  let closeVault: (() => void) | undefined;
  const instance = own.server.instance_id ?? DEFAULT_INSTANCE;
  let sinks: Awaited<ReturnType<typeof openAuditSinks>> | undefined;
  try {
    // Before the node: one page tells the metrics of both.
    sinks = await openAuditSinks({
      settings: own.audit_sinks,
      store: async () => store,
      platform,
      service: "storage",
      instance,
      describe: (entry) => describeEvent(entry, clock.now()),
    });
    const keyFile = join(dataDir, "unseal.key");
    const needs = { store, crypto: nodeCrypto, clock, random, operators, audit: auditStorageSeal };
    const { vault, seal, close } = await openVault(vaultConfig, keyFile, needs);
    closeVault = close;
    const clusterLog = await openClusterLog(own.cluster, directory);
    const tenantVaults = new Map<string, Vault>();
    for (const [tenant, settings] of Object.entries(tenant_vaults))
      tenantVaults.set(tenant, await openVaultServer(settings, clock));
    const vaultFor = (tenant: string): Vault => tenantVaults.get(tenant) ?? vault;
    const storage = await openStorage(own, platform, { store, clusterLog, vault, vaultFor, directory, ...servers });
    return sinks.around({
      ...storage,
      ...(seal === undefined ? {} : { seal }),
      async stop() {
        await storage.stop?.();
        close();
        await store.close();
      },
    });
  } catch (error) {
    await sinks?.close();
    closeVault?.();
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
