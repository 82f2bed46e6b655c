import { resolve } from "node:path";
import * as z from "zod";
import type { auditSetting } from "../platform/audit-log/index.ts";
import { authSettings, duration, logSettings, telemetrySettings } from "../platform/index.ts";
import { schedulerSettings } from "../scheduler/settings.ts";
import { gatewayServiceSettings, governanceServiceSettings, storageServiceSettings } from "./service-settings.ts";

/** The services that one process can run, in the order in which they start. */
export const serviceNames = ["gateway", "governance", "scheduler", "storage"] as const;
export type ServiceName = (typeof serviceNames)[number];

/**
 * The configuration of a process. `auth` and `scheduling` stand at the top under the names of the interface documents and
 * hold for every service that knows them; what belongs to one service stands below its name.
 */
export const processSettings = z
  .strictObject({
    services: z
      .array(z.enum(serviceNames))
      .min(1)
      .default([...serviceNames]),
    data_dir: z.string().min(1).default("./data"),
    /** The framework that binds the contracts; both answer alike. */
    http: z.enum(["fastify", "express"]).default("fastify"),
    /** How long a start waits for a database or a vault that does not answer, listening but not ready; `0s`: not at all. */
    start_timeout: duration("5m"),
    /** How often the files that the configuration names are looked at, to take in those that changed; `0s`: on SIGHUP only. */
    reload_interval: duration("30s"),
    /** With less free space than this where the data is, health says so; `0`: it is not asked. */
    disk: z
      .strictObject({
        min_free_bytes: z
          .int()
          .min(0)
          .default(256 * 2 ** 20),
      })
      .prefault({}),
    /** Whose requests are counted by themselves: those that are named, and so many others in the order in which they come. */
    metrics: z
      .strictObject({
        owners: z.array(z.string().min(1).max(128)).max(1000).default([]),
        max_other_owners: z.int().min(0).max(1000).default(50),
      })
      .prefault({}),
    log: logSettings,
    telemetry: telemetrySettings,
    auth: authSettings,
    scheduling: schedulerSettings.shape.scheduling,
    gateway: gatewayServiceSettings.omit({ auth: true }).prefault({}),
    governance: governanceServiceSettings.omit({ log: true }).prefault({}),
    scheduler: schedulerSettings.omit({ auth: true, log: true, scheduling: true }).prefault({}),
    storage: storageServiceSettings.prefault({}),
  })
  .refine(
    ({ gateway, governance }) => placeOf(gateway.audit) === undefined || placeOf(gateway.audit) !== placeOf(governance.audit),
    {
      path: ["governance", "audit", "archive", "to"],
      message: "the gateway's archive is there: each has a place of its own",
    },
  );

/** Where an archive is; two of one place would take each other's segments for their own. */
function placeOf({ archive }: z.output<typeof auditSetting>): string | undefined {
  if (archive === undefined) return undefined;
  const { directory, s3 } = archive.to;
  return directory === undefined ? `${s3?.endpoint} ${s3?.bucket}` : resolve(directory);
}

export type ProcessConfig = z.output<typeof processSettings>;
