import { type BackupTarget, directoryBackups } from "@seneschal/adapters/backups";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock } from "@seneschal/adapters/system";
import type { ArchiveExpectations, ArchiveVerdict } from "@seneschal/crypto/audit-log";
import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import { archiveDueEvents, type GatewayServices, gatewayLog } from "../gateway/index.ts";
import { type Governance, governanceLog } from "../governance/index.ts";
import { buildGovernance } from "../governance/service.ts";
import { type ArchivedSegment, type ArchiveSetting, openArchive, verifyArchiveFiles } from "../platform/index.ts";
import { operateGateway } from "./operate-gateway.ts";
import { type OperateOptions, operatorPlatform } from "./operator-platform.ts";
import { namedInstance, preparedInstance } from "./prepare-data.ts";
import type { ProcessConfig } from "./process-settings.ts";

type ServiceWithArchive = "gateway" | "governance";

/** A segment, and whose events it has. */
export interface ArchivedSegmentOf extends ArchivedSegment {
  readonly service: ServiceWithArchive;
}

/**
 * Moves the audit events of the gateway and of data governance that are older than `audit.archive.after` of each into its archive, now and however few they
 * are, as the operator of the instance. An embedded store has one opener: stop the services first (`store_locked`). Throws `usage` when no archive is configured.
 */
export function archiveAudit(config: ProcessConfig, options: OperateOptions): Promise<readonly ArchivedSegmentOf[]> {
  const given = { now: systemClock.now(), few: false };
  return ofEachArchive(config, options, {
    gateway: (services, target, { after: olderThan }) => archiveDueEvents(services, target, { ...given, olderThan }),
    governance: (service) => service.archiveAudit(given),
  });
}

/** A log whose hashes of archived events were made anew. */
export interface MendedLog {
  readonly service: ServiceWithArchive;
  /** The organisation, or `/all`: the log over every one. */
  readonly log: string;
}

/**
 * Makes the hashes that are kept of archived audit events anew from the archives, where they are not what was signed, as the operator of the instance. An
 * embedded store has one opener: stop the services first (`store_locked`). Throws `usage` when no archive is configured, `audit_archive_damaged`.
 */
export function mendAudit(config: ProcessConfig, options: OperateOptions): Promise<readonly MendedLog[]> {
  const named = (logs: readonly string[]) => logs.map((log) => ({ log }));
  return ofEachArchive(config, options, {
    gateway: async (services, target) => named(await services.audit.mend(target)),
    governance: async (service) => named(await service.mendAudit()),
  });
}

async function ofEachArchive<R extends object>(
  config: ProcessConfig,
  options: OperateOptions,
  ask: {
    readonly gateway: (services: GatewayServices, target: BackupTarget, setting: ArchiveSetting) => Promise<readonly R[]>;
    readonly governance: (service: Governance) => Promise<readonly R[]>;
  },
): Promise<readonly (R & { readonly service: ServiceWithArchive })[]> {
  checkOptions("options", options, { log: "object", version: "string", operators: "function?" });
  checkArgument("config", config, "object");
  // Its log is signed under the id that the served one has.
  const { gateway, governance } = namedInstance(config, "governance", await preparedInstance(config.data_dir));
  const setting = gateway.audit.archive;
  const found: (R & { readonly service: ServiceWithArchive })[] = [];
  if (setting === undefined && governance.audit.archive === undefined)
    throw new CodedError("usage", "gateway.audit.archive is not set, nor governance.audit.archive: no event leaves a database");
  if (setting !== undefined) {
    const target = await openArchive(setting.to);
    const done = await operateGateway(config, options, (services) => ask.gateway(services, target, setting));
    found.push(...done.map((one) => ({ service: "gateway" as const, ...one })));
  }
  if (governance.audit.archive !== undefined) {
    const platform = operatorPlatform("governance", options);
    const service = await buildGovernance({ ...governance, log: config.log }, platform, config.data_dir);
    try {
      const done = await ask.governance(service);
      found.push(...done.map((one) => ({ service: "governance" as const, ...one })));
    } finally {
      await service.stop?.();
    }
  }
  return found;
}

/** Verifies an archive of either service that lies in a directory, by its files alone: see `verifyArchiveFiles`. Throws `audit_archive_damaged`. */
export function verifyArchiveDirectory(directory: string, expected: ArchiveExpectations): Promise<ArchiveVerdict> {
  const forms = [gatewayLog((data) => nodeCrypto.hash("sha256", data)), governanceLog];
  return verifyArchiveFiles(directoryBackups(directory), { ...expected, forms });
}
