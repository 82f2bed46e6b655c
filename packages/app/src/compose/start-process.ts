import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "@seneschal/adapters/logging";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { openTelemetry } from "@seneschal/adapters/telemetry";
import type { Serve, ServeOptions, TlsOptions } from "@seneschal/contract";
import { type AuthSettings, type RunningService, type StartOptions, startService } from "../platform/index.ts";
import { openRates } from "./open-rates.ts";
import { preparedInstance } from "./prepare-data.ts";
import type { ProcessConfig, ServiceName } from "./process-settings.ts";

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
  const { endpoint, headers, sample_ratio: sampleRatio } = config.telemetry;
  const onProblem = (problem: string): void => log.warn({ problem }, "traces are not sent");
  const telemetry =
    endpoint === undefined ? undefined : await openTelemetry({ endpoint, headers, sampleRatio, version, onProblem });
  const stop = async (): Promise<void> => {
    for (const service of running.splice(0).reverse()) await service.stop();
    await telemetry?.close();
  };
  try {
    const common = { serve, clock: systemClock, random: systemRandom, log, version };
    const prepared = await preparedInstance(config.data_dir);
    for (const name of config.services) {
      running.push(
        await starters[name](named(config, name, prepared), async (server, database, trustedCa) => ({
          ...common,
          listen: await listenOptions(server, config.auth, trustedCa),
          rates: await openRates(database, systemRandom),
          trustedProxies: server.trusted_proxies,
        })),
      );
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { services: [...running], stop };
}

/** How a service is started, by where it listens, where it keeps its records, and a CA of its own for client certificates. */
type Options = (
  server: ServerSettings,
  database: Parameters<typeof openRates>[0],
  trustedCa?: string | undefined,
) => Promise<StartOptions>;
type Starter = (config: ProcessConfig, options: Options) => Promise<RunningService>;

/** A service is loaded when it is started: one that is not configured costs nothing. */
const starters: Readonly<Record<ServiceName, Starter>> = {
  gateway: async ({ gateway, auth, data_dir }, options) => {
    const { gatewayService } = await import("./gateway-service.ts");
    return startService(gatewayService(data_dir), { ...gateway, auth }, await options(gateway.server, gateway.database));
  },
  governance: async ({ governance, log, data_dir }, options) => {
    const { governanceService } = await import("../governance/service.ts");
    const config = { ...governance, log };
    return startService(governanceService(data_dir), config, await options(governance.server, governance.database));
  },
  scheduler: async ({ scheduler, auth, log, scheduling, data_dir }, options) => {
    const { schedulerService } = await import("../scheduler/build.ts");
    const storage = { ...scheduler.storage, path: scheduler.storage.path ?? join(data_dir, "scheduler") };
    const config = { ...scheduler, storage, auth, log, scheduling };
    return startService(schedulerService(), config, await options(scheduler.server, storage));
  },
  storage: async ({ storage, data_dir }, options) => {
    const { storageService } = await import("./storage-service.ts");
    const { dataPathSettings } = await import("../storage/grpc/open-data-path.ts");
    // Admins of the cluster have certificates of the cluster's CA.
    const { ca } = dataPathSettings(storage.grpc, process.env);
    return startService(storageService(data_dir), storage, await options(storage.server, storage.database, ca));
  },
};

/** The gateway keeps its id with its records. The others take that of their data directory. */
function named(config: ProcessConfig, service: ServiceName, prepared: string | undefined): ProcessConfig {
  const { server } = config[service];
  if (service === "gateway" || prepared === undefined || server.instance_id !== undefined) return config;
  return { ...config, [service]: { ...config[service], server: { ...server, instance_id: prepared } } };
}

type ServerSettings = ProcessConfig["gateway"]["server"];

/**
 * Where and how a service listens; with TLS when it has a certificate, and then it asks for one, of `trustedCa` (a path) or of the
 * CA of `auth.mtls`.
 */
async function listenOptions(server: ServerSettings, { mtls }: AuthSettings, trustedCa?: string): Promise<ServeOptions> {
  const { host, port, read_timeout, idle_timeout, shutdown_timeout, tls_cert, tls_key } = server;
  const base = { host, port, requestTimeout: read_timeout, idleTimeout: idle_timeout, grace: shutdown_timeout };
  if (tls_cert === undefined || tls_key === undefined) return base;
  const path = trustedCa ?? mtls.trusted_ca;
  const trusted = path === undefined ? undefined : await readFile(path, "utf8");
  const tls: TlsOptions = {
    cert: await readFile(tls_cert, "utf8"),
    key: await readFile(tls_key, "utf8"),
    ...(mtls.enabled || trustedCa !== undefined ? { requestCert: true, ca: trusted === undefined ? [] : [trusted] } : {}),
  };
  return { ...base, tls };
}
