import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkOptions } from "@seneschal/kernel";
import { type DevCredentialsFile, type DevOptions, prepareDev } from "./prepare-dev.ts";
import type { ProcessConfig } from "./process-settings.ts";
import { type ProcessOptions, type RunningProcess, startProcess } from "./start-process.ts";

/** A development instance that listens. */
export interface RunningDev extends RunningProcess {
  readonly config: ProcessConfig;
  readonly credentials: DevCredentialsFile;
  /** `DIR/dev/credentials.json`. */
  readonly file: string;
}

/**
 * Prepares a directory for development, starts the services on it, and writes who may call them where to `DIR/dev/credentials.json`.
 * `change` has the last word on the configuration.
 */
export async function startDev(
  options: DevOptions & ProcessOptions & { readonly change?: (config: ProcessConfig) => ProcessConfig },
): Promise<RunningDev> {
  checkOptions("options", options, {
    dataDir: "string",
    portBase: "any",
    log: "object",
    version: "string",
    http: ["express", "fastify", undefined],
    organizations: "array?",
    serve: "function",
    serveByProcesses: "function?",
    serveS3: "function?",
    serveNfs: "function?",
    serveGrpc: "function?",
    serveAdminService: "function?",
    whenSealed: "function?",
    signal: "object?",
    change: "function?",
  });
  const { change = (config) => config, ...rest } = options;
  const { serve, serveByProcesses, serveS3, serveNfs, serveGrpc, serveAdminService, whenSealed, signal, ...directory } = rest;
  const { dataDir, portBase, http, organizations, ...process } = rest;
  const prepared = await prepareDev(directory);
  const config = change(prepared.config);
  const running = await startProcess(config, process);
  try {
    const at = (url: string): string => url.replace(/127\.0\.0\.1|\[::1\]/, "localhost");
    const listeners = Object.assign({}, ...running.services.map((service) => service.listeners)) as Record<string, string>;
    const credentials: DevCredentialsFile = {
      ...prepared.credentials,
      base_urls: {
        ...Object.fromEntries(running.services.map(({ name, url }) => [name, at(url)])),
        ...(listeners["s3"] === undefined ? {} : { s3: at(listeners["s3"]) }),
      },
      storage: { ...prepared.credentials.storage, data_address: at(listeners["data"] ?? "") },
    };
    const file = join(config.data_dir, "dev", "credentials.json");
    await writeFile(file, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
    return { ...running, config, credentials, file };
  } catch (error) {
    await running.stop();
    throw error;
  }
}
