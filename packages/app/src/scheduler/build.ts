import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { circuitBreaker, sha256 } from "@seneschal/adapters/log";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { nextTurn } from "@seneschal/adapters/system";
import { endpoints, type Hooks } from "@seneschal/contract";
import { type ServeAdminService, schedulerContract, schedulerErrors, schedulerInfo } from "@seneschal/contract/scheduler";
import { CodedError } from "@seneschal/kernel";
import { openReplicated } from "@seneschal/kernel/log";
import type { Clock, ReplicatedLog } from "@seneschal/kernel/ports";
import { checkWeights, type PlanOptions, PROFILES, quotaMachine, type Weights } from "@seneschal/quota";
import {
  type BuiltService,
  DEFAULT_INSTANCE,
  defineService,
  liveVerifiers,
  openAuthorisation,
  type Platform,
  type RateLimits,
  type Repeat,
  repeatByTimer,
} from "../platform/index.ts";
import { openAuditArchive } from "./audit/open-audit-archive.ts";
import { openAuditSigner } from "./audit/open-audit-signer.ts";
import { toldToSinks } from "./audit/told-to-sinks.ts";
import { authenticator } from "./auth/authenticate.ts";
import { authoriser } from "./auth/authorise.ts";
import { background, readRpcTls } from "./background.ts";
import { openBackups } from "./backups.ts";
import { openCycle } from "./cycle/cycle.ts";
import { openHeartbeats } from "./cycle/heartbeats.ts";
import { openFeed } from "./events/feed.ts";
import { allocationHandlers } from "./handlers/allocations.ts";
import { nodeHandlers } from "./handlers/nodes.ts";
import { systemHandlers } from "./handlers/system.ts";
import { tenantHandlers } from "./handlers/tenants.ts";
import { schedulerMetrics } from "./metrics.ts";
import { quotasOn } from "./quotas.ts";
import { openOutputs } from "./runner/outputs.ts";
import type { SchedulerServices } from "./services.ts";
import { type SchedulerConfig, schedulerSettings } from "./settings.ts";
import { forwarding } from "./storage/forward.ts";
import { instanceName } from "./storage/instance-name.ts";
import { openLogSpace, WARN_AT } from "./storage/log-space.ts";
import { type Lease, openLease, openLog, openNameLease } from "./storage/open-log.ts";

/** What serves the AdminService, and what a test or an embedding process may put in place of the configured parts. */
export interface SchedulerParts {
  readonly openLog?: () => Promise<ReplicatedLog>;
  readonly openNameLease?: () => Promise<Lease>;
  readonly repeat?: Repeat;
  /** `serveAdminService` of `@seneschal/server-grpc`, where gRPC is enabled. */
  readonly serveAdminService?: ServeAdminService | undefined;
}

/**
 * The scheduler service, for `buildService` or `startService`.
 *
 * @example
 * ```ts
 * import { buildService } from "@seneschal/app";
 * import { schedulerService } from "@seneschal/app/scheduler";
 * const scheduler = await buildService(schedulerService(), { auth: {}, storage: { path: "./data/scheduler" } });
 * await scheduler.start();
 * await scheduler.stop();
 * ```
 */
export function schedulerService(parts: SchedulerParts = {}) {
  return defineService({
    name: "scheduler",
    contract: schedulerContract,
    settings: schedulerSettings,
    info: schedulerInfo,
    livePath: "/healthz",
    owner: "tenant",
    build: (config, platform) => build(config, platform, parts),
  });
}

function limitsOf({ rate_limit }: SchedulerConfig): RateLimits {
  return { ...rate_limit, ofType: { service: rate_limit.service, device: rate_limit.agent } };
}

const handlers = { ...tenantHandlers, ...allocationHandlers, ...nodeHandlers, ...systemHandlers };

async function build(config: SchedulerConfig, platform: Platform, parts: SchedulerParts): Promise<BuiltService> {
  const { random, metrics, version, health } = platform;
  if (config.grpc.enabled && parts.serveAdminService === undefined)
    throw new CodedError("config_invalid", "scheduler.grpc.enabled: this process was built without a gRPC server");
  const { clock, advance } = clockOf(config, platform.clock);
  const planOptions = planOptionsOf(config);
  const verifiers = await liveVerifiers(config.auth, () => clock.now());
  guardOpenDoors(config, platform);
  const authorisation = await openAuthorisation({
    engine: embeddedPolicyEngine(),
    service: "scheduler",
    source: config.authorization_policy,
  });
  const authorise = authoriser(authorisation);
  const { path, backups } = config.storage;
  const signer = await openAuditSigner(path === undefined ? undefined : join(path, "audit-key.pem"));
  const newId = (): string => randomUUID();
  const nodeId = config.server.instance_id ?? DEFAULT_INSTANCE;

  const log = circuitBreaker(await (parts.openLog ?? (() => openLog(config.storage)))(), {
    onChange: (available) => {
      if (available) platform.log.info({}, "the log answers again");
      else platform.log.warn({}, "the log does not answer with a quorum: writes and exact reads are refused until it does");
    },
  });
  const replicated = openReplicated({ log, machine: quotaMachine, clock, sha256, newId, pause: nextTurn });
  // A start that fails leaves nothing behind that asks on.
  const local = await replicated.catch(async (error: unknown) => {
    await log.close();
    throw error;
  });
  const { address, token, timeout: timeoutMs } = config.cluster;
  const self = address === undefined ? undefined : { id: nodeId, address };
  const lease = self === undefined || token === undefined ? undefined : await openLease(config.storage, self);
  const cluster =
    lease === undefined || self === undefined || token === undefined
      ? undefined
      : await forwarding({ replicated: local, lease, self, token, timeoutMs, background: platform.background });
  const quotas = quotasOn(cluster ?? local);

  const processId = newId();
  const name = instanceName({
    lease: await (
      parts.openNameLease ?? (() => openNameLease(config.storage, { id: processId, address: address ?? "" }, nodeId))
    )(),
    process: processId,
    instance: nodeId,
    now: () => platform.clock.now(),
    log: platform.log,
  });
  const space = openLogSpace(log, platform.log);
  const counts = schedulerMetrics({ metrics, state: () => quotas.state(), space, log, name });
  const feed = openFeed(quotas);
  const heartbeats = openHeartbeats(quotas);
  const outputs = config.runner.enabled ? openOutputs(() => clock.now()) : undefined;
  const cycle = openCycle({
    quotas,
    now: () => Math.max(clock.now(), quotas.state().at),
    newId,
    plan: planOptions,
    housekeeping: {
      heartbeatTimeoutMs: config.scheduling.heartbeat_timeout,
      checkpointTimeoutMs: config.scheduling.checkpoint_timeout,
      ...(config.scheduling.end_at_walltime ? { walltimeGraceMs: config.scheduling.walltime_grace } : {}),
      keepEndedMs: config.scheduling.keep_ended,
      listeningSince: clock.now(),
    },
    before: () => heartbeats.flush(newId),
    onReport: (report) => counts.cycle(report),
  });
  const services: SchedulerServices = {
    version,
    config,
    quotas,
    log,
    space,
    proposeHere: (commands) => local.propose(commands),
    holder: () => cluster?.holder(),
    applied: () => local.health().seq,
    cycle,
    planOptions,
    heartbeats,
    feed,
    name,
    outputs,
    backups: backups === undefined ? undefined : openBackups(backups),
    signer,
    auditArchive: openAuditArchive({ quotas, log, keep: config.storage.audit_kept }),
    clock,
    advance,
    random,
    metrics,
    health,
    nodeId,
  };
  const tokens = token === undefined ? config.tokens : [...config.tokens, peerToken(token)];
  const authenticate = authenticator(tokens, verifiers.list);
  /** Made by the platform from `limits`; the RPC server counts with the same one. */
  let rateLimit: Hooks["rateLimit"] = "off";
  const work = background({
    services,
    door: {
      authenticate,
      authorise,
      rateLimit: (wire, ref, principal) => (rateLimit === "off" ? undefined : rateLimit(wire, ref, principal)),
    },
    counts,
    newId,
    log: platform.log,
    steps: platform.background,
    runner: outputs?.runner,
    repeat: parts.repeat ?? repeatByTimer,
    serveAdminService: parts.serveAdminService,
  });

  const built: BuiltService = {
    hooks: {
      errors: schedulerErrors,
      authenticate,
      authorise,
      badParams: "validation_failed",
    },
    limits: limitsOf(config),
    async reload(next: SchedulerConfig) {
      guardOpenDoors(next, platform);
      const issuers = await verifiers.prepare(next.auth);
      const allowed = await authorisation.prepare(next.authorization_policy);
      const tls = await readRpcTls(next);
      return {
        limits: limitsOf(next),
        apply() {
          issuers();
          allowed();
          // The same files are the HTTP port's, whose reload has judged them.
          if (tls !== undefined) work.setSecureContext(tls);
          Object.assign(services, { config: { ...services.config, auth: next.auth } });
        },
      };
    },
    endpoints: (hooks) => {
      rateLimit = hooks.rateLimit;
      return endpoints(schedulerContract, handlers, services, hooks);
    },
    checks: [
      {
        name: "log",
        check: async () => {
          const { ready, reason } = local.health();
          if (!ready || !log.available() || !(await log.status()).available)
            throw new Error(reason ?? "the log is not available");
        },
      },
      {
        name: "log_space",
        required: false,
        check: async () => {
          if (space.fraction() >= WARN_AT) throw new Error("the log's storage fills up");
        },
      },
      {
        name: "instance_id",
        required: false,
        check: async () => {
          if (name.shared()) throw new Error("another process on this log has the same instance_id");
        },
      },
    ],
    start: () => work.start(),
    listeners: () => work.listeners(),
    async stop() {
      await work.stop();
      feed.close();
      await (cluster ?? local).close();
      await lease?.close?.();
      await name.close();
      await log.close();
    },
  };
  return toldToSinks(built, { config, platform, instance: nodeId, quotas, archive: services.auditArchive });
}

/** With the test control on, time can be moved forward; never back. */
function clockOf(config: SchedulerConfig, clock: Clock): { clock: Clock; advance: ((ms: number) => void) | undefined } {
  if (!config.test_clock) return { clock, advance: undefined };
  let ahead = 0;
  return {
    clock: { now: () => clock.now() + ahead },
    advance: (ms) => {
      ahead += ms;
    },
  };
}

function planOptionsOf({ scheduling }: SchedulerConfig): PlanOptions {
  const weights: Record<string, Weights> = {};
  for (const [vcluster, given] of Object.entries(scheduling.weights)) {
    const chosen = typeof given === "string" ? PROFILES[given] : given;
    checkWeights(`scheduling.weights.${vcluster}`, chosen);
    weights[vcluster] = chosen;
  }
  const { reservations, preemption, preemption_exempt: preemptionExemptMs } = scheduling;
  return { weights, reservations, preemption, preemptionExemptMs };
}

/** Without anybody to trust, only this machine may knock; every guarded route then answers 401. */
function guardOpenDoors({ auth, tokens, server }: SchedulerConfig, { log }: Platform): void {
  if (auth.jwt.enabled || auth.oidc.enabled || tokens.length > 0) return;
  if (!["127.0.0.1", "::1", "localhost"].includes(server.host))
    throw new CodedError("config_invalid", "server.host: without authentication the scheduler listens on loopback only");
  log.warn({}, "no authentication is configured: every guarded route answers 401");
}

function peerToken(token: string) {
  return { id: "peer", role: "peer" as const, tenant: "", sha256: sha256(token) };
}
