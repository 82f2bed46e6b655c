import { directoryBackups } from "@seneschal/adapters/backups";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock } from "@seneschal/adapters/system";
import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import { archiveDueEvents, gatewayLog } from "../gateway/index.ts";
import {
  type ArchivedSegment,
  type ArchiveExpectations,
  type ArchiveVerdict,
  openArchive,
  verifyArchive,
} from "../platform/index.ts";
import { type OperateOptions, operateGateway } from "./operate-gateway.ts";
import type { ProcessConfig } from "./process-settings.ts";

/**
 * Moves the gateway's audit events that are older than `gateway.audit.archive.after` into its archive, now and however few they are, as the operator of the
 * instance. An embedded store has one opener: stop the gateway first (`store_locked`). Throws `usage` when no archive is configured.
 */
export async function archiveAudit(config: ProcessConfig, options: OperateOptions): Promise<readonly ArchivedSegment[]> {
  checkOptions("options", options, { log: "object", version: "string", operators: "function?" });
  checkArgument("config", config, "object");
  const { archive } = config.gateway.audit;
  if (archive === undefined) throw new CodedError("usage", "gateway.audit.archive is not set: no event leaves the database");
  const target = await openArchive(archive.to);
  return operateGateway(config, options, (services) =>
    archiveDueEvents(services, target, { olderThan: archive.after, now: systemClock.now(), few: false }),
  );
}

/** Verifies an archive that lies in a directory, by its files alone: see `verifyArchive`. Throws `audit_archive_damaged`. */
export function verifyArchiveDirectory(directory: string, expected: Omit<ArchiveExpectations, "forms">): Promise<ArchiveVerdict> {
  return verifyArchive(directoryBackups(directory), {
    ...expected,
    forms: [gatewayLog((data) => nodeCrypto.hash("sha256", data))],
  });
}
