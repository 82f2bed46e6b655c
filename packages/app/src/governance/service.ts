import { join } from "node:path";
import { openSqlParser } from "@seneschal/adapters/sql-parser";
import { governanceContract, governanceInfo } from "@seneschal/contract/governance";
import type { AuditEntry } from "@seneschal/kernel/ports";
import { openDatabase } from "../compose/open-database.ts";
import { type GovernanceServiceConfig, governanceServiceSettings } from "../compose/service-settings.ts";
import {
  type BuiltService,
  DEFAULT_INSTANCE,
  decisionsOf,
  defineService,
  openArchive,
  openAuditSinks,
  openPolicyEngine,
  type Platform,
} from "../platform/index.ts";
import { openCheckpointSigner } from "./audit/open-checkpoint-signer.ts";
import { type Governance, openGovernance } from "./open-governance.ts";
import { governanceSchema } from "./schema.ts";

/**
 * The data-governance service with its parts below `dataDir`, for `buildService` or `startService`.
 */
export function governanceService(dataDir: string) {
  return defineService({
    name: "governance",
    contract: governanceContract,
    settings: governanceServiceSettings,
    info: governanceInfo,
    livePath: "/health",
    build: (config, platform): Promise<BuiltService> => buildGovernance(config, platform, dataDir),
  });
}

/** Opens store and service; what was opened is closed again by `stop`, and when something fails on the way. */
export async function buildGovernance(config: GovernanceServiceConfig, platform: Platform, dataDir: string): Promise<Governance> {
  const { database, ...own } = config;
  const { clock, random, log, metrics, version, background, health } = platform;
  const policy = await openPolicyEngine(own.policy_engine);
  const store = await openDatabase(database, governanceSchema, join(dataDir, "governance"), log);
  const instance = own.server.instance_id ?? DEFAULT_INSTANCE;
  let sinks: Awaited<ReturnType<typeof openAuditSinks>> | undefined;
  try {
    sinks = await openAuditSinks({
      settings: own.audit_sinks,
      store: async () => store,
      platform,
      service: "governance",
      instance,
      describe: describeEvent,
      decisions: (entries) =>
        decisionsOf(
          store,
          entries.map(({ event }) => `${event["id"]}`),
        ),
    });
    const signer = await openCheckpointSigner(
      database.kind === "memory" ? undefined : join(dataDir, "governance-audit-key.pem"),
      instance,
    );
    const built = await openGovernance({
      store,
      policy,
      sql: await openSqlParser(),
      signer,
      clock,
      random,
      log,
      metrics,
      version,
      background,
      health,
      config: own,
      decisionsTold: sinks.decisionsTold,
      archive: own.audit.archive && (await openArchive(own.audit.archive.to)),
    });
    return sinks.around({
      ...built,
      async stop() {
        await built.stop?.();
        await policy.close();
        await store.close();
      },
    });
  } catch (error) {
    await sinks?.close();
    await policy.close();
    await store.close();
    throw error;
  }
}

/** What an event of data governance says, in the words of all services. */
function describeEvent({ event }: AuditEntry) {
  const { id, timestamp: time, user_id: actor, operation_type, allowed } = event as Readonly<Record<string, string>>;
  const outcome = (allowed as unknown) === false ? ("denied" as const) : ("success" as const);
  return { id: `${id}`, time: `${time}`, type: `${operation_type}`.toLowerCase(), actor: `${actor}`, outcome };
}
