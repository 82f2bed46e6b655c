import type { Logger } from "@seneschal/adapters/logging";
import { openMemoryRates } from "@seneschal/adapters/memory";
import { type Metrics, openMetrics } from "@seneschal/adapters/metrics";
import { nextTurn } from "@seneschal/adapters/system";
import { inServerSpan, inSpan } from "@seneschal/adapters/telemetry";
import { type Contract, dispatcher, type Endpoint, type Hooks, type RunningServer, type Serve } from "@seneschal/contract";
import type { Clock, Random, RateCounter } from "@seneschal/core/ports";
import type { z } from "zod";
import { type Background, openBackground } from "./background.ts";
import { clientAddress } from "./client-address.ts";
import { checkHealth, type Health, type HealthCheck, withBackground } from "./health.ts";
import { observeRequests } from "./observe-requests.ts";
import { pooledRandom } from "./pooled-random.ts";
import { type RateLimits, rateLimiter } from "./rate-limit/rate-limiter.ts";

/** What the process gives to every service. */
export interface Platform {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  /** Does the service's background work, each step for itself; what fails is in its metrics and its health. */
  readonly background: Background;
  /** The health of the service itself, for its own routes. */
  readonly health: () => Promise<Health>;
  /** The server it runs on, once it listens: to reload certificates and to drop connections. */
  readonly server: () => RunningServer | undefined;
}

/** What a service provides around its routes; the platform adds time, request ids, rate limits, metrics and logs. */
export type ServiceHooks = Omit<Hooks, "now" | "requestId" | "pause" | "rateLimit" | "observe" | "onError">;

/** A service put together, not yet listening. */
export interface BuiltService {
  readonly hooks: ServiceHooks;
  /** How often who may call; "off": as often as they like. */
  readonly limits: RateLimits | "off";
  /** `(hooks) => endpoints(contract, handlers, services, hooks)`; several contracts may be concatenated. */
  readonly endpoints: (hooks: Hooks) => readonly Endpoint[];
  readonly checks?: readonly HealthCheck[];
  /** PEM of CAs of its own, whose client certificates its port accepts beside those that are configured. */
  clientAnchors?(): Promise<readonly string[]>;
  /** Background work, begun once the port listens: nothing may keep a service from listening. */
  start?(): Promise<void>;
  /** Where it listens beside its HTTP port, once started: by name, a URL or `host:port`. */
  listeners?(): Readonly<Record<string, string>>;
  /** Called when no request is in flight any more. Closes what `build` opened. */
  stop?(): Promise<void>;
}

/** A kind of service: its name (also the prefix of its metrics), contract, settings, and how it is put together. */
export interface ServiceDefinition<Schema extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly contract: Contract;
  readonly settings: Schema;
  build(config: z.output<Schema>, platform: Platform): Promise<BuiltService>;
}

/** Keeps the types of a definition together. */
export function defineService<Schema extends z.ZodObject>(definition: ServiceDefinition<Schema>): ServiceDefinition<Schema> {
  return definition;
}

/** A service that listens. */
export interface RunningService {
  readonly name: string;
  readonly url: string;
  readonly port: number;
  /** Where it listens beside `url`: by name (`grpc`, `s3`, `data`, `peers`), a URL or `host:port`. */
  readonly listeners: Readonly<Record<string, string>>;
  readonly server: RunningServer;
  readonly metrics: Metrics;
  health(): Promise<Health>;
  /** Stops listening, lets requests finish, then closes what the service holds. Idempotent. */
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly serve: Serve;
  readonly listen: Parameters<Serve>[1];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly version: string;
  /** Counts requests against the service's limits; default: in this process alone. Closed with the service. */
  readonly rates?: RateCounter;
  /** Ranges of the reverse proxies that are believed about where a request comes from; default none. */
  readonly trustedProxies?: readonly string[];
}

/**
 * Builds a service and lets it listen. When anything fails on the way, what was opened is closed again and the error goes to the
 * caller.
 */
export async function startService<Schema extends z.ZodObject>(
  definition: ServiceDefinition<Schema>,
  config: z.output<Schema>,
  options: StartOptions,
): Promise<RunningService> {
  const { serve, listen, clock, random, log: root, version, rates = openMemoryRates(random), trustedProxies = [] } = options;
  const { name } = definition;
  const log = root.child({ service: name });
  const metrics = openMetrics({ prefix: name, version });
  let checks: readonly HealthCheck[] = [];
  let server: RunningServer | undefined;
  const background = openBackground(log, metrics);
  const health = async (): Promise<Health> => {
    const components = await checkHealth(checks, (component, error) => log.warn({ component, error }, "component is unhealthy"));
    return withBackground(components, background.failing());
  };

  let built: BuiltService | undefined;
  try {
    built = await definition.build(config, { clock, random, log, metrics, version, background, health, server: () => server });
    checks = built.checks ?? [];
    const { authorise } = built.hooks;
    const ids = pooledRandom(random);
    const hooks: Hooks = {
      ...built.hooks,
      ...(authorise && { authorise: (input) => inSpan("policy authorise", {}, () => authorise(input)) }),
      now: () => clock.now(),
      requestId: () => Buffer.from(ids(16)).toString("hex"),
      pause: nextTurn,
      rateLimit: built.limits === "off" ? "off" : rateLimiter(name, built.limits, rates, () => clock.now()),
      observe: observeRequests(metrics, log),
      onError: (error, { id }, requestId) => log.error({ error, route: id, request_id: requestId }, "request failed"),
    };
    const dispatch = dispatcher(built.endpoints(hooks), hooks);
    const addressOf = clientAddress(trustedProxies);
    server = await serve(
      (incoming) =>
        inServerSpan(incoming.method, incoming.headers, { "seneschal.service": name }, () =>
          dispatch({ ...incoming, remoteAddress: addressOf(incoming.remoteAddress, incoming.headers["x-forwarded-for"]) }),
        ),
      await withAnchors(listen, built),
    );
    await built.start?.();
  } catch (error) {
    await server?.close();
    await built?.stop?.();
    await rates.close();
    throw error;
  }
  const running = server;
  const { stop: stopBuilt } = built;
  log.info({ url: running.url, version }, "listening");
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await running.close();
    await stopBuilt?.();
    await rates.close();
    log.info({}, "stopped");
  };
  return {
    name,
    url: running.url,
    port: running.port,
    listeners: built.listeners?.() ?? {},
    server: running,
    metrics,
    health,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** A service that is a CA itself trusts its own root, whatever else it is told to trust. */
async function withAnchors<L extends StartOptions["listen"]>(listen: L, { clientAnchors }: BuiltService): Promise<L> {
  const { tls } = listen;
  if (tls?.requestCert !== true || clientAnchors === undefined) return listen;
  return { ...listen, tls: { ...tls, ca: [...(tls.ca ?? []), ...(await clientAnchors())] } };
}
