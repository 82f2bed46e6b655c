import { createSecureContext } from "node:tls";
import type { Logger } from "@seneschal/adapters/logging";
import { openMemoryRates } from "@seneschal/adapters/memory";
import { type Metrics, openMetrics } from "@seneschal/adapters/metrics";
import { nextTurn } from "@seneschal/adapters/system";
import { inServerSpan, inSpan } from "@seneschal/adapters/telemetry";
import {
  type Contract,
  type Dispatch,
  dispatcher,
  type Endpoint,
  type ErrorTable,
  type Hooks,
  type RunningServer,
  type Serve,
  type ServeOptions,
  type TlsOptions,
} from "@seneschal/contract";
import { CodedError } from "@seneschal/core";
import type { Clock, Random, RateCounter } from "@seneschal/core/ports";
import type { z } from "zod";
import { type Background, openBackground } from "./background.ts";
import { clientAddress } from "./client-address.ts";
import { checkHealth, type Health, type HealthCheck, withBackground } from "./health.ts";
import { observeRequests } from "./observe-requests.ts";
import { pooledRandom } from "./pooled-random.ts";
import { type RateLimits, rateLimiter } from "./rate-limit/rate-limiter.ts";
import { notYet, untilThere, type Waiting } from "./wait-for-needs.ts";

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
  /** Reads anew what can change while it runs; throws, and then nothing has changed, when something of it cannot be used. */
  reload?(config: object): Promise<Reloaded>;
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

/** What a reload found, not yet in force. */
export interface Reloaded {
  readonly limits?: RateLimits;
  /** Puts the rest in force. Never fails. */
  apply?(): void;
}

/** A kind of service: its name (also the prefix of its metrics), contract, settings, and how it is put together. */
export interface ServiceDefinition<Schema extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly contract: Contract;
  readonly settings: Schema;
  /** How it names failures, already before it is built. */
  readonly errors?: ErrorTable;
  /** Where it is asked whether its process lives; default `/live`. */
  readonly livePath?: string;
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
  /**
   * Prepares what a configuration and the files that it names say now: certificates, trusted CAs, limits, policies. What comes back puts
   * it in force, for connections and requests from then on; no connection is dropped. Throws when something of it cannot be used.
   */
  prepareReload(config: object, listen: Parameters<Serve>[1]): Promise<() => void>;
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
  readonly rates?: RateCounter | (() => Promise<RateCounter>);
  /** How long a database or vault that does not answer is waited for; default: not at all. */
  readonly wait?: Waiting;
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
  const { serve, listen, clock, random, log: root, version, wait, trustedProxies = [] } = options;
  const { name } = definition;
  const log = root.child({ service: name });
  let metrics = openMetrics({ prefix: name, version });
  let checks: readonly HealthCheck[] = [];
  let server: RunningServer | undefined;
  let background = openBackground(log, metrics);
  let limit: Hooks["rateLimit"] = "off";
  let replaceLimits = (_: RateLimits): void => {};
  const health = async (): Promise<Health> => {
    const components = await checkHealth(checks, (component, error) => log.warn({ component, error }, "component is unhealthy"));
    return withBackground(components, background.failing());
  };

  let built: BuiltService | undefined;
  let rates: RateCounter | undefined;
  const addressOf = clientAddress(trustedProxies);
  let dispatch: Dispatch = notYet(definition.errors, definition.livePath ?? "/live");
  const listening = (tls: ServeOptions): Promise<RunningServer> =>
    serve(
      (incoming) =>
        inServerSpan(incoming.method, incoming.headers, { "seneschal.service": name }, () =>
          dispatch({ ...incoming, remoteAddress: addressOf(incoming.remoteAddress, incoming.headers["x-forwarded-for"]) }),
        ),
      tls,
    );
  try {
    const build = async (): Promise<BuiltService> => {
      rates ??= typeof options.rates === "function" ? await options.rates() : (options.rates ?? openMemoryRates(random));
      // What an attempt that failed has registered is not registered twice.
      metrics = openMetrics({ prefix: name, version });
      background = openBackground(log, metrics);
      return definition.build(config, { clock, random, log, metrics, version, background, health, server: () => server });
    };
    built = await untilThere(build, wait, log, async () => {
      server ??= await listening(listen);
    });
    const counter = rates ?? openMemoryRates(random);
    checks = built.checks ?? [];
    const { authorise } = built.hooks;
    const ids = pooledRandom(random);
    limit = built.limits === "off" ? "off" : rateLimiter(name, built.limits, counter, () => clock.now());
    replaceLimits = (limits) => {
      limit = rateLimiter(name, limits, counter, () => clock.now());
    };
    const hooks: Hooks = {
      ...built.hooks,
      ...(authorise && { authorise: (input) => inSpan("policy authorise", {}, () => authorise(input)) }),
      now: () => clock.now(),
      requestId: () => Buffer.from(ids(16)).toString("hex"),
      pause: nextTurn,
      rateLimit: limit === "off" ? "off" : (wire, ref, principal) => (limit === "off" ? undefined : limit(wire, ref, principal)),
      observe: observeRequests(metrics, log),
      onError: (error, { id }, requestId) => log.error({ error, route: id, request_id: requestId }, "request failed"),
    };
    dispatch = dispatcher(built.endpoints(hooks), hooks);
    const complete = await withAnchors(listen, built);
    if (server === undefined) server = await listening(complete);
    else if (complete.tls !== undefined) server.setSecureContext(complete.tls);
    await built.start?.();
  } catch (error) {
    await server?.close();
    await built?.stop?.();
    await rates?.close();
    throw error;
  }
  const running = server;
  const whole = built;
  const measured = metrics;
  const { stop: stopBuilt } = built;
  log.info({ url: running.url, version }, "listening");
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await running.close();
    await stopBuilt?.();
    await rates?.close();
    log.info({}, "stopped");
  };
  return {
    name,
    url: running.url,
    port: running.port,
    listeners: built.listeners?.() ?? {},
    server: running,
    metrics: measured,
    health,
    async prepareReload(next, nextListen) {
      const reloaded = (await whole.reload?.(next)) ?? {};
      const { tls } = await withAnchors(nextListen, whole);
      if ((tls === undefined) !== (listen.tls === undefined))
        throw new CodedError("config_invalid", `${name}: TLS is not turned on or off while it runs`);
      if (tls !== undefined) requireUsable(tls);
      return () => {
        if (tls !== undefined) running.setSecureContext(tls);
        if (reloaded.limits !== undefined) replaceLimits(reloaded.limits);
        reloaded.apply?.();
      };
    },
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

/** Throws `config_invalid` for a certificate that TLS would not take, such as one of another key. */
function requireUsable({ cert, key, ca }: TlsOptions): void {
  try {
    createSecureContext({ cert, key, ...(ca === undefined ? {} : { ca: [...ca] }) });
  } catch (error) {
    throw new CodedError("config_invalid", "the certificate cannot be used with its key", {}, error);
  }
}
