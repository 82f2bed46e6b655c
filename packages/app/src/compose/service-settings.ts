import * as z from "zod";
import { gatewaySettings } from "../gateway/ground/index.ts";
import { governanceSettings } from "../governance/settings.ts";
import { storageSettings } from "../storage/settings.ts";
import { databaseSettings, vaultSettings } from "./storage-settings.ts";

/** The settings of each service, and what it stands on. Apart from the services, so that reading a configuration loads none of them. */
export const gatewayServiceSettings = gatewaySettings.extend({ database: databaseSettings, vault: vaultSettings });
export type GatewayServiceConfig = z.output<typeof gatewayServiceSettings>;

export const governanceServiceSettings = governanceSettings.extend({ database: databaseSettings });
export type GovernanceServiceConfig = z.output<typeof governanceServiceSettings>;

export const storageServiceSettings = storageSettings
  .extend({
    database: databaseSettings,
    vault: vaultSettings,
    /** Key services of tenants who bring their own, by tenant; the others' keys are in `vault`. */
    tenant_vaults: z
      .record(
        z.string().min(1).max(128),
        vaultSettings.refine(({ kind }) => kind === "http", { message: "a tenant's own key service is reached over http" }),
      )
      .default({}),
  })
  .refine(({ cluster, database }) => cluster.kind !== "etcd" || database.kind === "postgres", {
    message: "nodes that agree over etcd share their metadata: database.kind must be postgres",
    path: ["database", "kind"],
  });
export type StorageServiceConfig = z.output<typeof storageServiceSettings>;
