import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkArgument } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import { newInstanceId } from "../gateway/ground/index.ts";
import { makeUnsealKey } from "./make-unseal-key.ts";
import type { ProcessConfig, ServiceName } from "./process-settings.ts";

/** What `prepareData` found or made. */
export interface PreparedData {
  /** Path of the key that unseals the vault. */
  readonly unsealKey: string;
  /** The name of the instance; `undefined` for a directory of before there were any, whose services go on under their old one. */
  readonly instanceId: string | undefined;
  readonly made: boolean;
}

/** Makes what must exist before the first start, unless it is there: the unseal key, and an instance id that nobody else has. */
export async function prepareData(dataDir: string, random: Random): Promise<PreparedData> {
  checkArgument("dataDir", dataDir, "string");
  checkArgument("random", random, "function");
  const { path, made } = await makeUnsealKey(join(dataDir, "unseal.key"), random);
  if (made) await writeFile(join(dataDir, FILE), `${newInstanceId(random)}\n`, { mode: 0o600, flag: "wx" });
  return { unsealKey: path, instanceId: await preparedInstance(dataDir), made };
}

/** The instance id that was made for a data directory. */
export async function preparedInstance(dataDir: string): Promise<string | undefined> {
  try {
    return (await readFile(join(dataDir, FILE), "utf8")).trim() || undefined;
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Settings of a service that takes the id of its data directory where none is set. The gateway keeps its id with its records. */
export function namedInstance(config: ProcessConfig, service: ServiceName, prepared: string | undefined): ProcessConfig {
  const { server } = config[service];
  if (service === "gateway" || prepared === undefined || server.instance_id !== undefined) return config;
  return { ...config, [service]: { ...config[service], server: { ...server, instance_id: prepared } } };
}

const FILE = "instance-id";
