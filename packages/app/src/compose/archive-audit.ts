import { directoryBackups } from "@seneschal/adapters/backups";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock } from "@seneschal/adapters/system";
import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import { archiveDueEvents, gatewayLog } from "../gateway/index.ts";
import { governanceLog } from "../governance/index.ts";
import { buildGovernance } from "../governance/service.ts";
import {
  type ArchivedSegment,
  type ArchiveExpectations,
  type ArchiveVerdict,
  openArchive,
  verifyArchive,
} from "../platform/index.ts";
import { operateGateway } from "./operate-gateway.ts";
import { type OperateOptions, operatorPlatform } from "./operator-platform.ts";
import type { ProcessConfig } from "./process-settings.ts";

/** A segment, and whose events it has. */
export interface ArchivedSegmentOf extends ArchivedSegment {
  readonly service: "gateway" | "governance";
}

/**
 * Moves the audit events of the gateway and of data governance that are older than `audit.archive.after` of each into its archive, now and however few they
 * are, as the operator of the instance. An embedded store has one opener: stop the services first (`store_locked`). Throws `usage` when no archive is configured.
 */
export async function archiveAudit(config: ProcessConfig, options: OperateOptions): Promise<readonly ArchivedSegmentOf[]> {
  checkOptions("options", options, { log: "object", version: "string", operators: "function?" });
  checkArgument("config", config, "object");
  const given = { now: systemClock.now(), few: false };
  const segments: ArchivedSegmentOf[] = [];
  const { gateway, governance } = config;
  if (gateway.audit.archive === undefined && governance.audit.archive === undefined)
    throw new CodedError("usage", "gateway.audit.archive is not set, nor governance.audit.archive: no event leaves a database");
  if (gateway.audit.archive !== undefined) {
    const { to, after: olderThan } = gateway.audit.archive;
    const target = await openArchive(to);
    const archived = await operateGateway(config, options, (services) =>
      archiveDueEvents(services, target, { ...given, olderThan }),
    );
    segments.push(...archived.map((segment) => ({ service: "gateway" as const, ...segment })));
  }
  if (governance.audit.archive !== undefined) {
    const service = await buildGovernance(
      { ...governance, log: config.log },
      operatorPlatform("governance", options),
      config.data_dir,
    );
    try {
      const archived = await service.archiveAudit(given);
      segments.push(...archived.map((segment) => ({ service: "governance" as const, ...segment })));
    } finally {
      await service.stop?.();
    }
  }
  return segments;
}

/** Verifies an archive of either service that lies in a directory, by its files alone: see `verifyArchive`. Throws `audit_archive_damaged`. */
export function verifyArchiveDirectory(directory: string, expected: Omit<ArchiveExpectations, "forms">): Promise<ArchiveVerdict> {
  const forms = [gatewayLog((data) => nodeCrypto.hash("sha256", data)), governanceLog];
  return verifyArchive(directoryBackups(directory), { ...expected, forms });
}
