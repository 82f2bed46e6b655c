import { targetGuard } from "@seneschal/adapters/http";
import { CodedError, checkArgument } from "@seneschal/kernel";
import { dataPathSettings } from "./grpc/data-path-settings.ts";
import { backupSettings } from "./jobs/open-backups.ts";
import type { StorageConfig } from "./settings.ts";

/**
 * The settings of a node with the environment's `STORE_*` over them, checked as a start would: what is in force. Throws
 * `config_invalid`.
 */
export function storageInForce<Config extends StorageConfig>(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Config {
  checkArgument("config", config, "object");
  checkArgument("env", env, "object");
  const grpc = dataPathSettings(config.grpc, env);
  const { ca, cert, key } = grpc;
  const given = [ca, cert, key].filter((path) => path !== undefined).length;
  if (given === 1 || given === 2)
    throw new CodedError(
      "config_invalid",
      "the data path needs all of storage.grpc.ca, cert and key (STORE_CA_PATH, STORE_CERT_PATH, STORE_KEY_PATH)",
    );
  if ((config.s3.tls_cert === undefined) !== (config.s3.tls_key === undefined))
    throw new CodedError("config_invalid", "storage.s3 needs both tls_cert and tls_key");
  const guard = targetGuard(config.notifications.allowed_targets);
  for (const [i, { name, url }] of config.notifications.webhooks.entries()) {
    const refusal = guard.refusal(new URL(url));
    const field = `storage.notifications.webhooks.${i}.url`;
    if (refusal !== undefined) throw new CodedError("config_invalid", `${field}: ${name}: ${refusal}`, { field });
  }
  const knobs = env["STORE_ENABLE_TEST_KNOBS"];
  return {
    ...config,
    grpc,
    node_id: env["STORE_NODE_ID"] ?? config.node_id,
    cluster: { ...config.cluster, peer_address: env["STORE_PEER_ADDR"] ?? config.cluster.peer_address },
    backup: backupInForce(config.backup, env),
    test_knobs: knobs === undefined ? config.test_knobs : knobs === "1",
  };
}

function backupInForce(...given: Parameters<typeof backupSettings>): ReturnType<typeof backupSettings> {
  try {
    return backupSettings(...given);
  } catch (error) {
    throw new CodedError("config_invalid", `storage.backup (STORE_BACKUP_*): ${(error as Error).message}`, {}, error);
  }
}
