import { join } from "node:path";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { openSqlParser } from "@seneschal/adapters/sql-parser";
import { governanceContract, governanceInfo } from "@seneschal/contract/governance";
import { openDatabase } from "../compose/open-database.ts";
import { type GovernanceServiceConfig, governanceServiceSettings } from "../compose/service-settings.ts";
import { type BuiltService, DEFAULT_INSTANCE, defineService, type Platform } from "../platform/index.ts";
import { openCheckpointSigner } from "./audit/open-checkpoint-signer.ts";
import { openGovernance } from "./open-governance.ts";
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
    build: (config, platform) => build(config, platform, dataDir),
  });
}

async function build(config: GovernanceServiceConfig, platform: Platform, dataDir: string): Promise<BuiltService> {
  const { database, ...own } = config;
  const { clock, random, log, metrics, version, background, health } = platform;
  const store = await openDatabase(database, governanceSchema, join(dataDir, "governance"));
  const policy = embeddedPolicyEngine();
  try {
    const signer = await openCheckpointSigner(
      database.kind === "memory" ? undefined : join(dataDir, "governance-audit-key.pem"),
      own.server.instance_id ?? DEFAULT_INSTANCE,
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
    });
    return {
      ...built,
      async stop() {
        await built.stop?.();
        await policy.close();
        await store.close();
      },
    };
  } catch (error) {
    await policy.close();
    await store.close();
    throw error;
  }
}
