import { targetGuard } from "@seneschal/adapters/http";
import { checkArgument } from "@seneschal/kernel";
import * as z from "zod";
import { isLoopback } from "../platform/config/loopback.ts";
import { dataPathSettings, parseDataAddress } from "./grpc/data-path-settings.ts";
import { backupSettings } from "./jobs/open-backups.ts";
import { refusedSetting } from "./refused-setting.ts";
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
  const node_id = env["STORE_NODE_ID"] ?? config.node_id;
  if (node_id === "" || node_id.length > 128) throw refusedSetting("storage.node_id", "expected 1 to 128 characters");
  const peer_address = env["STORE_PEER_ADDR"] ?? config.cluster.peer_address;
  checkDataPath(grpc, peer_address);
  const { kind, advertise } = config.cluster;
  for (const name of ["peer", "data"] as const)
    if (advertise[name] !== undefined) addressOf(`storage.cluster.advertise.${name}`, advertise[name]);
  if (kind === "etcd" && grpc.ca === undefined && !grpc.insecure)
    throw refusedSetting("storage.grpc.ca", "nodes that agree over etcd reach each other by mutual TLS: set ca, cert and key");
  const s3 = { cert: config.s3.tls_cert, key: config.s3.tls_key };
  for (const [name, path] of Object.entries(s3))
    if (path === undefined && (s3.cert ?? s3.key) !== undefined)
      throw refusedSetting(`storage.s3.tls_${name}`, "TLS needs both tls_cert and tls_key");
  const guard = targetGuard(config.notifications.allowed_targets);
  for (const [i, { name, url }] of config.notifications.webhooks.entries()) {
    const refusal = guard.refusal(new URL(url));
    if (refusal !== undefined) throw refusedSetting(`storage.notifications.webhooks.${i}.url`, `${name}: ${refusal}`);
  }
  const knobs = env["STORE_ENABLE_TEST_KNOBS"];
  return {
    ...config,
    grpc,
    node_id,
    cluster: { ...config.cluster, peer_address },
    backup: backupInForce(config.backup, env),
    test_knobs: knobs === undefined ? config.test_knobs : knobs === "1",
  };
}

/** Throws for a data path that is half configured, or in the clear for others than this machine. */
function checkDataPath({ ca, cert, key, crl, insecure, address }: StorageConfig["grpc"], peerAddress: string): void {
  const files = Object.entries({ ca, cert, key });
  const given = files.filter(([, path]) => path !== undefined);
  const [missing] = files.find(([, path]) => path === undefined) ?? [];
  if (given.length > 0 && missing !== undefined)
    throw refusedSetting(`storage.grpc.${missing}`, "TLS needs all of ca, cert and key");
  if (given.length > 0 && insecure) throw refusedSetting("storage.grpc.insecure", "it excludes ca, cert and key");
  if (crl !== undefined && given.length === 0 && !insecure)
    throw refusedSetting("storage.grpc.crl", "revocations are of certificates: set ca, cert and key");
  for (const [field, text] of [
    ["storage.grpc.address", address],
    ["storage.cluster.peer_address", peerAddress],
  ] as const) {
    const { host } = addressOf(field, text);
    if (insecure && !isLoopback(host))
      throw refusedSetting(field, `${host} is reached from elsewhere: plaintext is for loopback`);
  }
}

function addressOf(field: string, text: string): ReturnType<typeof parseDataAddress> {
  try {
    return parseDataAddress(text);
  } catch (error) {
    throw refusedSetting(field, (error as Error).message, error);
  }
}

function backupInForce(...given: Parameters<typeof backupSettings>): ReturnType<typeof backupSettings> {
  const inForce = (() => {
    try {
      return backupSettings(...given);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      const [issue] = error.issues;
      throw refusedSetting(
        ["storage.backup", ...(issue?.path ?? [])].join("."),
        issue?.message ?? "expected another value",
        error,
      );
    }
  })();
  const { backend, directory, s3 } = inForce;
  if ((backend === "fs" && directory === undefined) || (backend === "s3" && s3 === undefined))
    throw refusedSetting(
      "storage.backup.backend",
      `${backend} is chosen, and ${backend === "fs" ? "directory" : "s3"} is not set`,
    );
  return inForce;
}
