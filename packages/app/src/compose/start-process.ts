import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { roomAt } from "@seneschal/adapters/files";
import { type Logger, setLogLevel } from "@seneschal/adapters/logging";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { openTelemetry } from "@seneschal/adapters/telemetry";
import type { Serve, ServeOptions, ServerProcesses, TlsOptions } from "@seneschal/contract";
import type { ServeAdminService } from "@seneschal/contract/scheduler";
import type { ServeGrpc, ServeNfs, ServeS3 } from "@seneschal/core/storage";
import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import type { CertificateRenewal } from "../gateway/service.ts";
import {
  type AuthSettings,
  inRanges,
  keyProblem,
  measureProcesses,
  processesCheck,
  type RunningService,
  type ServiceDefinition,
  startService,
} from "../platform/index.ts";
import { dataPathSettings } from "../storage/grpc/data-path-settings.ts";
import { certificateFiles } from "./certificate-files.ts";
import { diskCheck } from "./free-space.ts";
import { nameSetting } from "./name-setting.ts";
import { filesChanged, filesHeld, needsRestart } from "./needs-restart.ts";
import { openRates } from "./open-rates.ts";
import { namedInstance, preparedInstance } from "./prepare-data.ts";
import type { ProcessConfig, ServiceName } from "./process-settings.ts";
import { servedAlone } from "./served-alone.ts";

/** A process with its services. */
export interface RunningProcess {
  readonly services: readonly RunningService[];
  /**
   * Puts what can change while it runs in force: certificates, trusted CAs, revocation lists, limits, authorisation policies, audit sinks, the
   * level of the log. All of it or nothing: throws when something cannot be used. Settings that need a start anew stay as they were, and the log
   * names those that differ.
   */
  reload(config: ProcessConfig): Promise<void>;
  /** Stops the services in reverse order. Idempotent. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  readonly serve: Serve;
  /** Serves by so many processes in front of this one, where `server.processes` of a service says so. */
  readonly serveByProcesses?: (count: number) => Serve;
  readonly log: Logger;
  readonly version: string;
  /** Serves the buckets of the storage service, which does not start without. */
  readonly serveS3?: ServeS3;
  /** Serves the exports of the storage service. */
  readonly serveNfs?: ServeNfs;
  /** Serves the gRPC data path of the storage service. */
  readonly serveGrpc?: ServeGrpc;
  /** Serves the gRPC AdminService of the scheduler. */
  readonly serveAdminService?: ServeAdminService;
  /** Told whenever a service waits for the operators of its vault. */
  readonly whenSealed?: (service: { readonly name: ServiceName; readonly url: string }) => void;
  /** Ends a start that waits. */
  readonly signal?: AbortSignal;
}

/** Starts the configured services, each on its own port; when one fails, those that run already are stopped again. */
export async function startProcess(config: ProcessConfig, options: ProcessOptions): Promise<RunningProcess> {
  checkOptions("options", options, {
    serve: "function",
    serveByProcesses: "function?",
    log: "object",
    version: "string",
    serveS3: "function?",
    serveNfs: "function?",
    serveGrpc: "function?",
    serveAdminService: "function?",
    whenSealed: "function?",
    signal: "object?",
  });
  checkArgument("config", config, "object");
  const { log, version, signal } = options;
  const { endpoint, headers, sample_ratio: sampleRatio } = config.telemetry;
  const onProblem = (problem: string): void => log.warn({ problem }, "traces are not sent");
  const telemetry =
    endpoint === undefined ? undefined : await openTelemetry({ endpoint, headers, sampleRatio, version, onProblem });
  const failed = new AbortController();
  const signals = signal === undefined ? failed.signal : AbortSignal.any([failed.signal, signal]);
  const prepared = await preparedInstance(config.data_dir);
  let inForce = config;
  const held = await filesHeld(config);
  /** Says when certificates end: in the metrics, and in the log of those that end soon. */
  const watchEnds = async (current: ProcessConfig, service: ServiceName, metrics: RunningService["metrics"]): Promise<void> => {
    const files = await certificateFiles(current, service);
    metrics.certificateEnds(Object.fromEntries(files.map(({ setting, notAfter }) => [setting, notAfter / 1000])));
    for (const { setting, path, notAfter } of files) {
      if (notAfter - systemClock.now() > SOON) continue;
      log.warn({ service, setting, path, expires: new Date(notAfter).toISOString() }, "a certificate ends soon, or has ended");
    }
  };

  let begun: (() => void) | undefined;
  const whole = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const renewal = {
    files: () => ownCertificates(inForce),
    async renewed() {
      await whole;
      await inTurn(() => inForce);
    },
  };
  const start = async (name: ServiceName): Promise<RunningService> => {
    const {
      definition,
      config: own,
      server,
      database,
      trustedCa,
    } = await parts[name](namedInstance(config, name, prepared), options, renewal);
    const alone = servedAlone(config, name);
    if (alone.length > 0)
      log.warn({ setting: `${name}.server.processes`, ports: alone }, "these ports have no processes in front of them");
    let service: RunningService | undefined;
    const processes = (): ServerProcesses | undefined => service?.server.processes?.();
    service = await startService(definition, own, {
      serve: serveOf(name, server, options),
      clock: systemClock,
      random: systemRandom,
      log,
      version,
      listen: await listenOptions(name, server, config.auth, trustedCa),
      rates: () => openRates(database, systemRandom),
      trustedProxies: server.trusted_proxies,
      owners: { named: config.metrics.owners, most: config.metrics.max_other_owners },
      checks: [
        ...(config.disk.min_free_bytes === 0 ? [] : [diskCheck(resolve(config.data_dir), config.disk.min_free_bytes)]),
        ...(server.processes === 0 ? [] : [processesCheck(processes)]),
      ],
      wait: { atMost: config.start_timeout, signal: signals },
      whenSealed: (url) => options.whenSealed?.({ name, url }),
      async whenBuilt(metrics) {
        metrics.watchDisk(async () => (await roomAt(resolve(config.data_dir))).freeBytes);
        if (server.processes > 0) measureProcesses(metrics, processes);
        await watchEnds(inForce, name, metrics);
      },
    });
    return service;
  };
  // Together: one that waits for its database keeps no other from its work.
  const started = await Promise.allSettled(
    config.services.map((name) =>
      start(name).catch((error: unknown) => {
        failed.abort();
        throw error;
      }),
    ),
  );
  const running = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const stop = async (): Promise<void> => {
    for (const service of running.splice(0).reverse()) await service.stop();
    await telemetry?.close();
  };
  const reasons = started.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  if (reasons.length > 0) {
    await stop();
    throw nameSetting(
      reasons.find((reason) => (reason as { readonly name?: unknown }).name !== "AbortError") ?? reasons[0],
      config,
    );
  }
  const takeIn = async (next: ProcessConfig): Promise<void> => {
    if (next.services.join() !== config.services.join())
      throw new CodedError("config_invalid", "services are not begun or ended while the process runs");
    const apply: (() => Promise<void>)[] = [];
    for (const [index, name] of config.services.entries()) {
      const { config: own, server, trustedCa } = await parts[name](namedInstance(next, name, prepared), options);
      const change = await running[index]?.prepareReload(own, await listenOptions(name, server, next.auth, trustedCa));
      if (change !== undefined) apply.push(change);
    }
    const applied = apply.map((change) => change());
    setLogLevel(log, next.log.level);
    inForce = next;
    await Promise.all(applied);
    const settings = [...new Set([...needsRestart(config, next), ...filesChanged(held, await filesHeld(next))])];
    if (settings.length > 0) log.warn({ settings }, "settings have changed that are taken up by a restart alone");
    for (const { name, metrics } of running) await watchEnds(next, name as ServiceName, metrics);
  };
  let last: Promise<void> = Promise.resolve();
  // One after another: a configuration of before is not put in force behind a newer one.
  const inTurn = (next: () => ProcessConfig): Promise<void> => {
    const done = last.then(async () => {
      const asked = next();
      await takeIn(asked).catch((error: unknown) => Promise.reject(nameSetting(error, asked)));
    });
    last = done.catch(() => undefined);
    return done;
  };
  begun?.();
  return { services: [...running], reload: (next) => inTurn(() => next), stop };
}

/** The certificates of the ports of a process, with those of S3. */
function ownCertificates({ services, ...config }: ProcessConfig): readonly string[] {
  const paths = services.map((service) => config[service].server.tls_cert);
  const s3 = services.includes("storage") ? config.storage.s3.tls_cert : undefined;
  return [...paths, s3].filter((path) => path !== undefined);
}

const SOON = 30 * 86_400_000;

/** What a service is started with. */
interface Parts {
  // biome-ignore lint/suspicious/noExplicitAny: each definition is given the configuration that stands beside it
  readonly definition: ServiceDefinition<any>;
  readonly config: object;
  readonly server: ServerSettings;
  readonly database: Parameters<typeof openRates>[0];
  /** A CA of its own for client certificates. */
  readonly trustedCa?: string | undefined;
}

/** What speaks the protocols of services beside HTTP. */
type Servers = Pick<ProcessOptions, "serveS3" | "serveNfs" | "serveGrpc" | "serveAdminService">;

/** A service is loaded when it is started: one that is not configured costs nothing. */
const parts: Readonly<
  Record<ServiceName, (config: ProcessConfig, servers: Servers, renewal?: CertificateRenewal) => Promise<Parts>>
> = {
  gateway: async ({ gateway, auth, data_dir }, _, renewal) => {
    const { gatewayService } = await import("../gateway/service.ts");
    return { definition: gatewayService(data_dir, renewal), config: { ...gateway, auth }, ...gateway };
  },
  governance: async ({ governance, log, data_dir }) => {
    const { governanceService } = await import("../governance/service.ts");
    return { definition: governanceService(data_dir), config: { ...governance, log }, ...governance };
  },
  scheduler: async ({ scheduler, auth, log, scheduling, data_dir }, { serveAdminService }) => {
    const { schedulerService } = await import("../scheduler/build.ts");
    const database = { ...scheduler.storage, path: scheduler.storage.path ?? join(data_dir, "scheduler") };
    const config = { ...scheduler, storage: database, auth, log, scheduling };
    return { definition: schedulerService({ serveAdminService }), config, server: scheduler.server, database };
  },
  storage: async ({ storage, data_dir }, { serveS3, serveNfs, serveGrpc }) => {
    if (serveS3 === undefined) throw new CodedError("config_invalid", "storage: this process was built without an S3 server");
    const { storageService } = await import("../storage/service.ts");
    // Admins of the cluster have certificates of the cluster's CA.
    const { ca } = dataPathSettings(storage.grpc, process.env);
    const { server, database } = storage;
    const definition = storageService(data_dir, { serveS3, serveNfs, serveGrpc });
    return { definition, config: storage, server, database, trustedCa: ca };
  },
};

type ServerSettings = ProcessConfig["gateway"]["server"];

/** What a service is served by: this process alone, or others in front of it. */
function serveOf(service: ServiceName, { processes }: ServerSettings, { serve, serveByProcesses }: ProcessOptions): Serve {
  if (processes === 0) return serve;
  if (serveByProcesses === undefined)
    throw new CodedError("config_invalid", `${service}.server.processes: this process was built without a multiprocess server`);
  return serveByProcesses(processes);
}

/**
 * Where and how a service listens; with TLS when it has a certificate, and then it asks for one, of `trustedCa` (a path) or of the
 * CA of `auth.mtls`. Throws `config_invalid` for a key that is not the certificate's.
 */
async function listenOptions(
  service: ServiceName,
  server: ServerSettings,
  { mtls }: AuthSettings,
  trustedCa?: string,
): Promise<ServeOptions> {
  const { host, port, read_timeout, idle_timeout, shutdown_timeout, tls_cert, tls_key } = server;
  const base = {
    host,
    port,
    requestTimeout: read_timeout,
    idleTimeout: idle_timeout,
    grace: shutdown_timeout,
    ...(server.proxy_protocol.length === 0 ? {} : { proxyProtocol: inRanges(server.proxy_protocol) }),
  };
  if (tls_cert === undefined || tls_key === undefined) return base;
  const path = trustedCa ?? mtls.trusted_ca;
  const trusted = path === undefined ? undefined : await readFile(path, "utf8");
  const tls: TlsOptions = {
    cert: await readFile(tls_cert, "utf8"),
    key: await readFile(tls_key, "utf8"),
    ...(mtls.enabled || trustedCa !== undefined ? { requestCert: true, ca: trusted === undefined ? [] : [trusted] } : {}),
  };
  const problem = keyProblem(tls.cert, tls.key);
  if (problem !== undefined) throw new CodedError("config_invalid", `${service}.server.tls_key: ${tls_key} ${problem}`);
  return { ...base, tls };
}
