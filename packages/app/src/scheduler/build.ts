import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { oidcKeys, staticKeys, type TokenVerifier, tokenVerifier } from "@seneschal/adapters/jwt";
import { openLevelLog } from "@seneschal/adapters/level";
import { sha256 } from "@seneschal/adapters/log";
import { createMemoryLog } from "@seneschal/adapters/memory";
import { endpoints } from "@seneschal/contract";
import { schedulerContract, schedulerErrors } from "@seneschal/contract/scheduler";
import { CodedError } from "@seneschal/core";
import { openReplicated } from "@seneschal/core/log";
import type { Clock, ReplicatedLog } from "@seneschal/core/ports";
import { checkWeights, type PlanOptions, PROFILES, quotaMachine, type Weights } from "@seneschal/quota";
import { type BuiltService, defineService, type Platform, rateLimiter } from "../platform/index.ts";
import { openAuditSigner } from "./audit-signer.ts";
import { authenticator, authorise } from "./auth/authenticate.ts";
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
import { type Repeat, repeatByTimer } from "./repeat.ts";
import type { SchedulerServices } from "./services.ts";
import { type SchedulerConfig, schedulerSettings } from "./settings.ts";

/** What a test or an embedding process may put in place of the configured parts. */
export interface SchedulerParts {
  readonly openLog?: () => Promise<ReplicatedLog>;
  readonly repeat?: Repeat;
}

/**
 * The scheduler service. Start it with `startService(schedulerService(), config, { serve, ... })`.
 *
 * @example
 * ```ts
 * const service = await startService(schedulerService(), loadConfig(schedulerSettings, { env: process.env }), options);
 * ```
 */
export function schedulerService(parts: SchedulerParts = {}) {
  return defineService({
    name: "scheduler",
    contract: schedulerContract,
    settings: schedulerSettings,
    build: (config, platform) => build(config, platform, parts),
  });
}

const HEARTBEAT_FLUSH_MS = 10_000;

async function build(config: SchedulerConfig, platform: Platform, parts: SchedulerParts): Promise<BuiltService> {
  const { random, log: logger, metrics, version, health } = platform;
  const { clock, advance } = clockOf(config, platform.clock);
  const planOptions = planOptionsOf(config);
  const verifiers = await verifiersOf(config, () => clock.now());
  guardOpenDoors(config, platform);
  const log = await (parts.openLog ?? (() => openLog(config)))();
  const newId = (): string => randomUUID();
  const replicated = await openReplicated({ log, machine: quotaMachine, clock, sha256, newId });
  const quotas = quotasOn(replicated);
  const feed = openFeed(quotas);
  const counts = schedulerMetrics(metrics, () => quotas.state());
  const heartbeats = openHeartbeats(quotas);
  const { cycle: cycleMs, budget_period_days: days, ...scheduling } = config.scheduling;
  const cycle = openCycle({
    quotas,
    now: () => Math.max(clock.now(), quotas.state().at),
    newId,
    plan: planOptions,
    housekeeping: {
      heartbeatTimeoutMs: scheduling.heartbeat_timeout,
      checkpointTimeoutMs: scheduling.checkpoint_timeout,
      keepEndedMs: scheduling.keep_ended,
      listeningSince: clock.now(),
    },
    before: () => heartbeats.flush(newId),
    onReport: (report) => counts.cycle(report),
  });
  const { path } = config.storage;
  const services: SchedulerServices = {
    version,
    config,
    quotas,
    log,
    applied: () => replicated.health().seq,
    cycle,
    planOptions,
    heartbeats,
    feed,
    outputs: undefined,
    backups: config.storage.backups === undefined ? undefined : openBackups(config.storage.backups),
    signer: await openAuditSigner(path === undefined ? undefined : join(path, "audit-key.pem")),
    clock,
    advance,
    random,
    metrics,
    health,
    nodeId: config.server.instance_id,
  };
  const handlers = { ...tenantHandlers, ...allocationHandlers, ...nodeHandlers, ...systemHandlers };
  const repeat = parts.repeat ?? repeatByTimer;
  const loops: ReturnType<Repeat>[] = [];

  return {
    hooks: {
      errors: schedulerErrors,
      authenticate: authenticator(config.tokens, verifiers),
      authorise,
      rateLimit: rateLimiter(
        {
          authenticated: rateOf(config.rate_limit.authenticated),
          anonymous: rateOf(config.rate_limit.anonymous),
          exempt: ["healthz", "health", "metrics"],
        },
        () => platform.clock.now(),
        random(32),
      ),
      badParams: "validation_failed",
    },
    endpoints: (hooks) => endpoints(schedulerContract, handlers, services, hooks),
    checks: [
      {
        name: "log",
        check: async () => {
          const { ready, reason } = replicated.health();
          if (!ready || !(await log.status()).available) throw new Error(reason ?? "the log is not available");
        },
      },
    ],
    async start() {
      if (days !== undefined && (await quotas.read()).system.budgetPeriodDays !== days)
        await quotas.propose({ kind: "system.update", id: newId(), by: "system", why: "configuration", budgetPeriodDays: days });
      const guarded = (work: () => Promise<unknown>) => async (): Promise<void> => {
        await work().catch((error: unknown) => {
          counts.cycleFailed();
          logger.warn({ error }, "background work failed");
        });
      };
      loops.push(
        repeat(
          cycleMs,
          guarded(() => cycle.run()),
        ),
      );
      loops.push(
        repeat(
          HEARTBEAT_FLUSH_MS,
          guarded(() => heartbeats.flush(newId)),
        ),
      );
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await heartbeats.flush(newId).catch((error: unknown) => logger.warn({ error }, "the last heartbeats were not reported"));
      feed.close();
      await replicated.close();
      await log.close();
    },
  };
}

async function openLog({ storage: { kind, path } }: SchedulerConfig): Promise<ReplicatedLog> {
  if (kind === "memory") return createMemoryLog().open();
  if (path === undefined) throw new CodedError("config_invalid", "storage.path: a durable log needs a directory");
  return openLevelLog({ path: join(path, "log") });
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
  return { weights };
}

async function verifiersOf({ auth: { jwt, oidc } }: SchedulerConfig, now: () => number): Promise<readonly TokenVerifier[]> {
  const verifiers: TokenVerifier[] = [];
  if (jwt.enabled && jwt.public_key !== undefined)
    verifiers.push(
      tokenVerifier({
        keys: staticKeys(await readFile(jwt.public_key, "utf8")),
        issuer: jwt.issuer ?? "",
        audiences: jwt.audiences,
        clockSkewMs: jwt.clock_skew,
        now,
      }),
    );
  if (oidc.enabled && oidc.issuer_url !== undefined && oidc.client_id !== undefined)
    verifiers.push(
      tokenVerifier({
        keys: oidcKeys(
          {
            issuerUrl: oidc.issuer_url,
            clientId: oidc.client_id,
            jwksRefreshMs: oidc.jwks_refresh,
            allowHttp: oidc.allow_http,
          },
          now,
        ).keys,
        issuer: oidc.issuer_url,
        audiences: [oidc.client_id],
        clockSkewMs: jwt.clock_skew,
        now,
      }),
    );
  return verifiers;
}

/** Without anybody to trust, only this machine may knock; every guarded route then answers 401. */
function guardOpenDoors({ auth, tokens, server }: SchedulerConfig, { log }: Platform): void {
  if (auth.jwt.enabled || auth.oidc.enabled || tokens.length > 0) return;
  if (!["127.0.0.1", "::1", "localhost"].includes(server.host))
    throw new CodedError("config_invalid", "server.host: without authentication the scheduler listens on loopback only");
  log.warn({}, "no authentication is configured: every guarded route answers 401");
}

function rateOf({ limit, window }: { readonly limit: number; readonly window: number }): { limit: number; windowMs: number } {
  return { limit, windowMs: window };
}
