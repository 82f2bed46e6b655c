import { join, resolve } from "node:path";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import {
  abortVaultMigration,
  initVault,
  initVaultAs,
  type MigratedKeys,
  migrateVault,
  type NewSeal,
  rekeyVault,
  sealOfExport,
  sharesOf,
  type Unseal,
  verifyRekey,
} from "@seneschal/adapters/vault";
import { requireThreshold } from "@seneschal/core/keys";
import { CodedError, checkArgument, type JsonObject } from "@seneschal/kernel";
import type { SealedVault } from "../platform/index.ts";
import { makeUnsealKey } from "./make-unseal-key.ts";
import { connectServer, keptUnseal } from "./open-vault.ts";
import { type SealAct, type SealParts, sealedVault } from "./operators.ts";
import type { ProcessConfig } from "./process-settings.ts";
import { type SealSettings, sealOf } from "./storage-settings.ts";

/** The services that keep an embedded vault in their store. */
export const vaultServices = ["gateway", "storage"] as const;
export type VaultService = (typeof vaultServices)[number];

/** Into how many shares an unseal key is dealt, and how many of them open. */
export interface Dealing {
  readonly shares: number;
  readonly threshold: number;
}

/** Brings the shares of a vault, one after another, until it opens. */
export type BringShares = (vault: SealedVault) => Promise<Uint8Array>;

/** Unseal key shares that were dealt: they are stored nowhere. */
export interface Dealt {
  readonly shares: readonly string[];
  /** False: the seal of before is in force until `verifyVaultRekey` was shown enough of them. */
  readonly in_force: boolean;
}

/**
 * Makes a service's vault with a seal in shares, before its first start. Throws `vault_invalid` when it has keys, `config_invalid` when
 * the configuration has another seal.
 */
export async function initVaultShares(config: ProcessConfig, service: VaultService, dealing: Dealing): Promise<Dealt> {
  checkArgument("config", config, "object");
  checkArgument("service", service, "string");
  checkArgument("dealing", dealing, "object");
  if (sealSettingsOf(config, service).kind !== "shamir")
    throw new CodedError("config_invalid", `${service}.vault.seal.kind is not shamir: another seal is made by the first start`);
  const seal = inShares(dealing);
  return withStore(config, service, async (parts) => {
    const shares = await initVault(parts, seal, parts.audit(act("vault.init", { kind: "shamir", ...dealing })));
    return { shares, in_force: true };
  });
}

/**
 * Makes a service's vault on a clean machine as that of a lost one was, by a backup of it (the text of a gateway's file, or a node's
 * `manifest.json`): the same shares unseal it, and the backup can be restored. Tells how many.
 */
export async function initVaultByBackup(config: ProcessConfig, service: VaultService, backup: string): Promise<Dealing> {
  checkArgument("config", config, "object");
  checkArgument("service", service, "string");
  checkArgument("backup", backup, "string");
  if (sealSettingsOf(config, service).kind !== "shamir")
    throw new CodedError("config_invalid", `${service}.vault.seal.kind is not shamir: another seal is made by the first start`);
  const exported = exportIn(service, backup);
  if (exported === undefined || sealOfExport(exported)["kind"] !== "shamir")
    throw new CodedError("config_invalid", `this is no ${service} backup of a vault in unseal key shares`);
  const { threshold, total: shares } = sharesOf(sealOfExport(exported));
  return withStore(config, service, async (parts) => {
    await initVaultAs(parts, exported, parts.audit(act("vault.init", { kind: "shamir", shares, threshold })));
    return { shares, threshold };
  });
}

/** The keys that a backup carries, as the vault exported them. */
function exportIn(service: VaultService, backup: string): string | undefined {
  try {
    if (service === "storage") return (JSON.parse(backup) as { readonly vault?: string }).vault;
    const [head = "", keys] = backup.split("\n", 2);
    return (JSON.parse(head) as { readonly keys?: boolean }).keys === true ? keys : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Gives a service's vault a new unseal key, under the seal that `next` configures; `config` is what opens it now. A key file that is
 * not there is made. A seal in shares is in force only after {@link verifyVaultRekey}. An embedded store has one opener: stop the
 * service first (`store_locked`); on PostgreSQL it may run on.
 */
export async function rekeyServiceVault(
  config: ProcessConfig,
  service: VaultService,
  next: ProcessConfig,
  given: Dealing & { readonly bring: BringShares },
): Promise<Dealt> {
  checkArgument("config", config, "object");
  checkArgument("service", service, "string");
  checkArgument("next", next, "object");
  checkArgument("given", given, "object");
  const { bring, ...dealing } = given;
  const [from, to] = [sealSettingsOf(config, service), sealSettingsOf(next, service)];
  const fileOf = ({ data_dir }: ProcessConfig, seal: SealSettings): string | undefined =>
    seal.kind === "key_file" ? resolve(seal.key_file ?? join(data_dir, "unseal.key")) : undefined;
  const [oldFile, newFile] = [fileOf(config, from), fileOf(next, to)];
  if (newFile !== undefined && newFile === oldFile)
    throw new CodedError(
      "config_invalid",
      `${service}.vault: name another key file in the new configuration; ${newFile} is in use`,
    );
  const shamir = to.kind === "shamir" ? inShares(dealing) : undefined;
  return withStore(config, service, async (parts) => {
    const unseal: Unseal =
      from.kind === "shamir"
        ? { kind: "shamir", key: await bring(await sealedVault(parts)) }
        : await keptUnseal(from, oldFile ?? "", systemClock);
    if (newFile !== undefined) await makeUnsealKey(newFile, systemRandom);
    const seal: NewSeal =
      shamir ?? (await keptUnseal(to as Exclude<SealSettings, { kind: "shamir" }>, newFile ?? "", systemClock));
    const event = parts.audit(act("vault.rekey", { from: from.kind, to: to.kind }));
    return { shares: await rekeyVault(parts, unseal, seal, event), in_force: to.kind !== "shamir" };
  });
}

/** Puts the shares in force that a rekey dealt, when enough of them are brought: from then on those of before open nothing. */
export async function verifyVaultRekey(config: ProcessConfig, service: VaultService, bring: BringShares): Promise<void> {
  checkArgument("config", config, "object");
  checkArgument("service", service, "string");
  checkArgument("bring", bring, "function");
  await withStore(config, service, async (parts) => {
    const key = await bring(await sealedVault(parts, "verify"));
    await verifyRekey(parts, key, parts.audit(act("vault.rekey", { to: "shamir" })));
  });
}

/** A vault server as the result of a migration names it, and its audit event. */
export function serverName({ address, transit_mount }: ProcessConfig["gateway"]["vault"]): string {
  return `vault ${address} ${transit_mount}`;
}

/**
 * Imports the keys of a service's embedded vault into the vault server that `next` configures; `config` is what opens it now. See `migrateVault`: cut off anywhere
 * it goes on when it is called again, and gives `undefined` when it was done before.
 */
export async function migrateServiceVault(
  config: ProcessConfig,
  service: VaultService,
  next: ProcessConfig,
  bring: BringShares,
): Promise<MigratedKeys | undefined> {
  const from = sealSettingsOf(config, service);
  const to = next[service].vault;
  const connection = await connectServer(to, systemClock);
  try {
    return await withStore(config, service, async (parts) => {
      const unseal: Unseal =
        from.kind === "shamir"
          ? { kind: "shamir", key: await bring(await sealedVault(parts, "move")) }
          : await keptUnseal(from, resolve(join(config.data_dir, "unseal.key")), systemClock);
      const target = { connection, mount: to.transit_mount, name: serverName(to) };
      const at = new Date(systemClock.now()).toISOString();
      return migrateVault(parts, unseal, target, at, (moved) => parts.audit(act("vault.migrate", { to: target.name, ...moved })));
    });
  } finally {
    connection.close();
  }
}

/** Opens a service's embedded vault again whose keys are not all moved; `false`: no move is under way. */
export function abortServiceVault(config: ProcessConfig, service: VaultService): Promise<boolean> {
  return withStore(config, service, abortVaultMigration);
}

function inShares({ shares, threshold }: Dealing): NewSeal {
  requireThreshold(threshold, shares);
  return { kind: "shamir", shares, threshold };
}

function sealSettingsOf(config: ProcessConfig, service: VaultService): SealSettings {
  const seal = sealOf(config[service].vault);
  if (seal === undefined) throw new CodedError("config_invalid", `${service}.vault is a vault server, which has its own seal`);
  return seal;
}

function act(type: SealAct["type"], metadata: JsonObject): SealAct {
  return { type, result: "success", now: systemClock.now(), requestId: "", metadata };
}

async function withStore<R>(
  { gateway, storage, data_dir }: ProcessConfig,
  service: VaultService,
  use: (parts: SealParts) => Promise<R>,
): Promise<R> {
  const { store, audit } =
    service === "gateway" ? await gatewayParts(gateway.database, data_dir) : await storageParts(storage.database, data_dir);
  try {
    return await use({ store, audit, crypto: nodeCrypto, random: systemRandom });
  } finally {
    await store.close();
  }
}

async function gatewayParts(database: ProcessConfig["gateway"]["database"], dataDir: string) {
  const { openGatewayStore } = await import("../gateway/service.ts");
  const { auditGatewaySeal } = await import("../gateway/ground/index.ts");
  return { store: await openGatewayStore(database, dataDir), audit: auditGatewaySeal };
}

async function storageParts(database: ProcessConfig["storage"]["database"], dataDir: string) {
  const { openStorageStore } = await import("../storage/service.ts");
  const { auditStorageSeal } = await import("../storage/audit-seal.ts");
  return { store: await openStorageStore(database, dataDir), audit: auditStorageSeal };
}
