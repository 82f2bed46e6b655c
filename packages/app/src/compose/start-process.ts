import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "@seneschal/adapters/logging";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import type { Serve, ServeOptions, TlsOptions } from "@seneschal/contract";
import { governanceService } from "../governance/index.ts";
import { type AuthSettings, type RunningService, type StartOptions, startService } from "../platform/index.ts";
import { schedulerService } from "../scheduler/index.ts";
import { gatewayService } from "./gateway-service.ts";
import type { ProcessConfig, ServiceName } from "./process-settings.ts";
import { storageService } from "./storage-service.ts";

/** A process with its services. */
export interface RunningProcess {
  readonly services: readonly RunningService[];
  /** Stops the services in reverse order. Idempotent. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  readonly serve: Serve;
  readonly log: Logger;
  readonly version: string;
}

/** Starts the configured services, each on its own port; when one fails, those that run already are stopped again. */
export async function startProcess(config: ProcessConfig, { serve, log, version }: ProcessOptions): Promise<RunningProcess> {
  const running: RunningService[] = [];
  const stop = async (): Promise<void> => {
    for (const service of running.splice(0).reverse()) await service.stop();
  };
  try {
    for (const name of config.services) {
      const options = (listen: ServeOptions): StartOptions => ({
        ...{ serve, listen, clock: systemClock, random: systemRandom, log, version },
      });
      running.push(await starters[name](config, options));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { services: [...running], stop };
}

type Starter = (config: ProcessConfig, options: (listen: ServeOptions) => StartOptions) => Promise<RunningService>;

const starters: Readonly<Record<ServiceName, Starter>> = {
  gateway: async ({ gateway, auth, data_dir }, options) =>
    startService(gatewayService(data_dir), { ...gateway, auth }, options(await listenOptions(gateway.server, auth))),
  governance: async ({ governance, auth, log, data_dir }, options) =>
    startService(governanceService(data_dir), { ...governance, log }, options(await listenOptions(governance.server, auth))),
  scheduler: async ({ scheduler, auth, log, scheduling, data_dir }, options) => {
    const storage = { ...scheduler.storage, path: scheduler.storage.path ?? join(data_dir, "scheduler") };
    const config = { ...scheduler, storage, auth, log, scheduling };
    return startService(schedulerService(), config, options(await listenOptions(scheduler.server, auth)));
  },
  storage: async ({ storage, auth, data_dir }, options) =>
    startService(storageService(data_dir), storage, options(await listenOptions(storage.server, auth))),
};

type ServerSettings = ProcessConfig["gateway"]["server"];

/** Where and how a service listens; with TLS when it has a certificate, and then it asks for one. */
export async function listenOptions(server: ServerSettings, { mtls }: AuthSettings): Promise<ServeOptions> {
  const { host, port, read_timeout, idle_timeout, shutdown_timeout, tls_cert, tls_key } = server;
  const base = { host, port, requestTimeout: read_timeout, idleTimeout: idle_timeout, grace: shutdown_timeout };
  if (tls_cert === undefined || tls_key === undefined) return base;
  const trusted = mtls.trusted_ca === undefined ? undefined : await readFile(mtls.trusted_ca, "utf8");
  const tls: TlsOptions = {
    cert: await readFile(tls_cert, "utf8"),
    key: await readFile(tls_key, "utf8"),
    ...(mtls.enabled ? { requestCert: true, ca: trusted === undefined ? [] : [trusted] } : {}),
  };
  return { ...base, tls };
}
