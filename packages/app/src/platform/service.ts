import { createSecureContext } from "node:tls";
import { type Logger, openLogger } from "@seneschal/adapters/logging";
import { openMemoryRates } from "@seneschal/adapters/memory";
import { type Metrics, type Owners, openMetrics } from "@seneschal/adapters/metrics";
import { nextTurn, systemClock, systemRandom } from "@seneschal/adapters/system";
import { inServerSpan, inSpan } from "@seneschal/adapters/telemetry";
import {
  type Contract,
  type Dispatch,
  dispatcher,
  documentContract,
  type Endpoint,
  type ErrorTable,
  endpoints,
  type Hooks,
  type Incoming,
  type OpenApiInfo,
  type RouteRef,
  type RunningServer,
  type Serve,
  type ServeOptions,
  sealContract,
  type TlsOptions,
  type WireResponse,
} from "@seneschal/contract";
import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import type { Clock, Random, RateCounter } from "@seneschal/kernel/ports";
import type * as z from "zod";
import { type Background, openBackground } from "./background.ts";
import { clientAddress } from "./client-address.ts";
import { keyProblem } from "./config/own-certificate.ts";
import { parseSettings } from "./config/parse-settings.ts";
import { documentHandlers } from "./docs/document-handlers.ts";
import { checkHealth, type Health, type HealthCheck, withBackground } from "./health.ts";
import { observeRequests } from "./observe-requests.ts";
import { phases } from "./phases.ts";
import { pooledRandom } from "./pooled-random.ts";
import { type RateLimits, rateLimiter } from "./rate-limit/rate-limiter.ts";
import { type Seal, type SealedVault, sealEndpoints, sealErrors, sealLimits, whileSealed } from "./sealed.ts";
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
  /** Lets the operators of a sealed vault come; gives its unseal key. Absent where nothing listens for them. */
  readonly operators?: (vault: SealedVault) => Promise<Uint8Array>;
}

/** What a service provides around its routes; the platform adds time, request ids, rate limits, metrics and logs. */
export type ServiceHooks = Omit<Hooks, "available" | "now" | "requestId" | "pause" | "rateLimit" | "observe" | "onError">;

/** A service put together, not yet listening. */
export interface BuiltService {
  readonly hooks: ServiceHooks;
  /** How often who may call; "off": as often as they like. */
  readonly limits: RateLimits | "off";
  /** What it serves, for its OpenAPI document; default: the contract of its definition. */
  readonly contract?: Contract;
  /** `(hooks) => endpoints(contract, handlers, services, hooks)`; several contracts may be concatenated. */
  readonly endpoints: (hooks: Hooks) => readonly Endpoint[];
  /** Reads anew what can change while it runs; throws, and then nothing has changed, when something of it cannot be used. */
  reload?(config: object): Promise<Reloaded>;
  /** Asked before anything of a request is looked at: throws `service_unavailable` for a route that is not answered for now. */
  admits?(ref: RouteRef): void;
  readonly checks?: readonly HealthCheck[];
  /** Of its embedded vault: served to the operators. */
  readonly seal?: Seal;
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
  /** Puts the rest in force, before it first waits for anything. Never fails. */
  apply?(): void | Promise<void>;
}

/** A kind of service: its name (also the prefix of its metrics), contract, settings, and how it is put together. */
export interface ServiceDefinition<Schema extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly contract: Contract;
  readonly settings: Schema;
  /** What its OpenAPI document says of it as a whole, and how it names failures, already before it is built. Without it, it serves no document. */
  readonly info?: Omit<OpenApiInfo, "version">;
  /** What its callers belong to, by which its requests are counted; default `organization`. */
  readonly owner?: "organization" | "tenant";
  /** Where it is asked whether its process lives; default `/live`. */
  readonly livePath?: string;
  build(config: z.output<Schema>, platform: Platform): Promise<BuiltService>;
}

/** Keeps the types of a definition together. */
export function defineService<Schema extends z.ZodObject>(definition: ServiceDefinition<Schema>): ServiceDefinition<Schema> {
  return definition;
}

/** A service with everything around it, in the hands of whoever serves it. */
export interface Service {
  readonly name: string;
  /** Answers requests, once started: for `middleware`, `plugin`, `handler`, `fetchHandler` or `serve` of a server package. */
  readonly dispatch: Dispatch;
  readonly metrics: Metrics;
  health(): Promise<Health>;
  /** Begins background work and the listeners that the service has beside HTTP. Until then every request is answered 503. */
  start(): Promise<void>;
  /** Where it listens beside HTTP, once started: by name (`grpc`, `s3`, `data`, `peers`), a URL or `host:port`. */
  listeners(): Readonly<Record<string, string>>;
  /** PEM of CAs of its own, whose client certificates the port that it is served on has to accept beside those that are configured. */
  clientAnchors(): Promise<readonly string[]>;
  /**
   * Prepares what settings and the files that they name say now: limits, policies, lists. What comes back puts it in force, for
   * requests from then on, and resolves when that is written down. Throws when something of it cannot be used.
   */
  prepareReload(settings: object): Promise<() => Promise<void>>;
  /** Takes no more requests, lets those in flight finish (`graceMs`), then closes what the service holds. Idempotent. */
  stop(graceMs?: number): Promise<void>;
}

/** What a service is given. Everything has a safe default; what is left out is left out by name, `"off"`. */
export interface BuildOptions {
  /** Default: JSON lines on standard output. */
  readonly log?: Logger;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Default: the machine's. */
  readonly random?: Random;
  /** What the service says of itself. */
  readonly version?: string;
  /** Counts requests against the service's limits; default: in this process alone. Closed with the service. */
  readonly rates?: RateCounter;
  /** "off": the limits in the service's settings do not hold, somebody else counts. */
  readonly rateLimits?: "off";
  /** "off": requests are in no metric and no log, somebody else observes them. What fails is logged all the same. */
  readonly observation?: "off";
  /** Ranges of the reverse proxies that are believed about where a request comes from; default none. */
  readonly trustedProxies?: readonly string[];
  /** Which organisations or tenants have a series of their own in the metrics always, and how many others may; default none and 50. */
  readonly owners?: Pick<Owners, "named" | "most">;
  /** What else its health depends on. */
  readonly checks?: readonly HealthCheck[];
  /** Milliseconds that `stop` waits for requests in flight; default 10,000. */
  readonly grace?: number;
  /** The server that it is served by, once there is one: connections of a certificate that is revoked are dropped there. */
  readonly server?: () => RunningServer | undefined;
  /** For a vault that operators unseal; without them such a service is not built. */
  readonly operators?: {
    /** Serves `answers` until it resolves with the unseal key of the vault. */
    wait(vault: SealedVault, answers: Dispatch): Promise<Uint8Array>;
    /** An operator has sealed the vault: the service is to be stopped. */
    sealed(): void;
  };
}

/**
 * Builds a service with all that belongs around it: authentication, authorisation, rate limits, refusal of cross-site changes, audit,
 * metrics, logs, health, background work. When anything fails on the way, what was opened is closed again. Throws `config_invalid` naming every setting that is
 * wrong, unknown or missing.
 *
 * @example
 * ```ts
 * import { buildService } from "@seneschal/app";
 * import { governanceService } from "@seneschal/app/governance";
 * const service = await buildService(governanceService("./data"), { database: { kind: "memory" } });
 * await service.start();
 * const { status } = await service.dispatch({ method: "GET", target: "/health", headers: {}, body: new Uint8Array(), remoteAddress: "::1" });
 * console.log(status); // 200
 * await service.stop();
 * ```
 */
export async function buildService<Schema extends z.ZodObject>(
  definition: ServiceDefinition<Schema>,
  settings: z.input<Schema>,
  options: BuildOptions = {},
): Promise<Service> {
  checkOptions("options", options, {
    log: "object?",
    clock: "object?",
    random: "function?",
    version: "string?",
    rates: "object?",
    rateLimits: ["off", undefined],
    observation: ["off", undefined],
    trustedProxies: "array?",
    checks: "array?",
    grace: "number?",
    server: "function?",
    operators: "object?",
    owners: "object?",
  });
  checkArgument("definition", definition, "object");
  checkArgument("settings", settings, "object");
  const service = await assembleService(definition, parseSettings(definition.settings, settings), options);
  return { ...service, prepareReload: async (next) => service.prepareReload(parseSettings(definition.settings, next)) };
}

/** {@link buildService} of settings that were parsed. */
export async function assembleService<Schema extends z.ZodObject>(
  definition: ServiceDefinition<Schema>,
  config: z.output<Schema>,
  options: BuildOptions = {},
): Promise<Service> {
  const { clock = systemClock, random = systemRandom, version = "embedded", trustedProxies = [] } = options;
  const { rates = openMemoryRates(random), server = () => undefined } = options;
  const { name } = definition;
  const log = (options.log ?? openLogger()).child({ service: name });
  const owners = { kind: definition.owner ?? "organization", named: [], most: 50, ...options.owners } as const;
  const metrics = openMetrics({ prefix: name, version, owners });
  const background = openBackground(log, metrics);
  let checks: readonly HealthCheck[] = [];
  const health = async (): Promise<Health> => {
    const components = await checkHealth(checks, (component, error) => log.warn({ component, error }, "component is unhealthy"));
    return withBackground(components, background.failing());
  };

  let built: BuiltService | undefined;
  try {
    const now = (): number => clock.now();
    const limiter = (of: RateLimits) => rateLimiter(name, of, rates, now);
    const ids = pooledRandom(random);
    const observed: Omit<Hooks, "errors" | "rateLimit"> = {
      now,
      requestId: () => Buffer.from(ids(16)).toString("hex"),
      pause: nextTurn,
      observe: options.observation ?? observeRequests(metrics, log),
      onError: (error, { id }, requestId) => log.error({ error, route: id, request_id: requestId }, "request failed"),
    };
    const sealLimit = options.rateLimits ?? limiter(sealLimits);
    const addressOf = clientAddress(trustedProxies);
    const errors = definition.info?.errors;
    const operators = async (door: NonNullable<BuildOptions["operators"]>, errors: ErrorTable, vault: SealedVault) => {
      const hooks = { ...observed, errors, rateLimit: sealLimit };
      const sealed = whileSealed(vault, { hooks, version, livePath: definition.livePath ?? "/live" });
      const answer = (incoming: Incoming) =>
        sealed({ ...incoming, remoteAddress: addressOf(incoming.remoteAddress, incoming.headers["x-forwarded-for"]) });
      return door.wait(vault, Object.assign(answer, { serves: sealed.serves }));
    };
    const { operators: door } = options;
    const listening =
      door === undefined || errors === undefined ? {} : { operators: (vault: SealedVault) => operators(door, errors, vault) };
    built = await definition.build(config, { clock, random, log, metrics, version, background, health, server, ...listening });
    checks = [...(built.checks ?? []), ...(options.checks ?? [])];
    const limits = options.rateLimits ?? built.limits;
    let limit = limits === "off" ? undefined : limiter(limits);
    const { authorise } = built.hooks;
    const phase = phases(name, options.grace);
    const hooks: Hooks = {
      ...built.hooks,
      ...(authorise && { authorise: (input) => inSpan("policy authorise", {}, () => authorise(input)) }),
      ...observed,
      available(ref) {
        phase.check();
        built?.admits?.(ref);
      },
      rateLimit: limit === undefined ? "off" : (...call) => limit?.(...call),
    };
    const inner = dispatcher(
      [
        ...built.endpoints(hooks),
        ...documentOf({ ...definition, ...built }, version, hooks),
        ...sealOf(built.seal, options, version, { ...hooks, available: phase.check, rateLimit: sealLimit }),
      ],
      hooks,
    );
    const dispatch = (incoming: Incoming): Promise<WireResponse> =>
      phase.during(
        inServerSpan(incoming.method, incoming.headers, { "seneschal.service": name }, () =>
          inner({ ...incoming, remoteAddress: addressOf(incoming.remoteAddress, incoming.headers["x-forwarded-for"]) }),
        ),
      );
    const whole = built;
    return {
      name,
      dispatch: Object.assign(dispatch, { serves: inner.serves }),
      metrics,
      health,
      start: () => phase.start(async () => whole.start?.()),
      listeners: () => whole.listeners?.() ?? {},
      clientAnchors: async () => (await whole.clientAnchors?.()) ?? [],
      async prepareReload(next) {
        const { limits: nextLimits, apply } = (await whole.reload?.(next)) ?? {};
        return async () => {
          if (nextLimits !== undefined && limit !== undefined) limit = limiter(nextLimits);
          await apply?.();
        };
      },
      stop: (graceMs) =>
        phase.stop(async () => {
          await whole.stop?.();
          await rates.close();
        }, graceMs),
    };
  } catch (error) {
    await built?.stop?.();
    await rates.close();
    throw error;
  }
}

/** The endpoint of the service's own OpenAPI document. */
function documentOf(
  { contract, info, seal }: Pick<ServiceDefinition, "contract" | "info"> & Pick<BuiltService, "seal">,
  version: string,
  hooks: Hooks,
): readonly Endpoint[] {
  if (info === undefined) return [];
  const whole = seal === undefined ? contract : { ...contract, ...sealContract };
  const errors = seal === undefined ? info.errors : sealErrors(info.errors);
  return endpoints(documentContract, documentHandlers(whole, { ...info, errors, version }), undefined, hooks);
}

/** The routes of the seal of its vault. */
function sealOf(seal: Seal | undefined, { operators }: BuildOptions, version: string, hooks: Hooks): readonly Endpoint[] {
  if (seal === undefined) return [];
  const whole: Seal = {
    ...seal,
    async seal(given) {
      if (operators === undefined) throw new CodedError("seal_conflict", "nothing here would listen for the operators then");
      const state = await seal.seal(given);
      operators.sealed();
      return state;
    },
  };
  return sealEndpoints(whole, version, hooks);
}

/** A service that listens. */
export interface RunningService extends Pick<Service, "name" | "metrics" | "health" | "stop"> {
  readonly url: string;
  readonly port: number;
  /** Where it listens beside `url`: by name (`grpc`, `s3`, `data`, `peers`), a URL or `host:port`. */
  readonly listeners: Readonly<Record<string, string>>;
  readonly server: RunningServer;
  /**
   * Prepares what a configuration and the files that it names say now: certificates, trusted CAs, limits, policies. What comes back puts
   * it in force, for connections and requests from then on; no connection is dropped. Throws when something of it cannot be used.
   */
  prepareReload(config: object, listen: Parameters<Serve>[1]): Promise<() => Promise<void>>;
}

export interface StartOptions extends Omit<BuildOptions, "grace" | "server" | "rates" | "operators"> {
  readonly serve: Serve;
  readonly listen: Parameters<Serve>[1];
  readonly log: Logger;
  readonly version: string;
  /** Counts requests against the service's limits, opened for each attempt; default: in this process alone. Closed with the service. */
  readonly rates?: () => Promise<RateCounter>;
  /** How long a database or vault that does not answer is waited for; default: not at all. Operators of a sealed vault have no limit. */
  readonly wait?: Waiting;
  /** Called when the service was built, and again after its vault was sealed and unsealed: its metrics are then others. */
  readonly whenBuilt?: (metrics: Metrics) => Promise<void>;
  /** Called with its address whenever the service waits for the operators of its vault. */
  readonly whenSealed?: (url: string) => void;
}

/**
 * Builds a service as {@link buildService} does and lets it listen. When anything fails on the way, what was opened is closed again
 * and the error goes to the caller. While the vault of the service is sealed, it listens for its operators and does nothing else; a
 * service whose vault an operator seals is stopped, and begins anew.
 */
export async function startService<Schema extends z.ZodObject>(
  definition: ServiceDefinition<Schema>,
  config: z.output<Schema>,
  options: StartOptions,
): Promise<RunningService> {
  checkOptions("options", options, {
    serve: "function",
    listen: "object",
    log: "object",
    version: "string",
    rates: "function?",
    wait: "object?",
    whenBuilt: "function?",
    whenSealed: "function?",
    owners: "object?",
    random: "function?",
    checks: "array?",
    clock: "object?",
    rateLimits: ["off", undefined],
    observation: ["off", undefined],
    trustedProxies: "array?",
  });
  checkArgument("definition", definition, "object");
  checkArgument("config", config, "object");
  const { serve, listen, version, wait, rates, whenBuilt, whenSealed, ...given } = options;
  const { name } = definition;
  const log = options.log.child({ service: name });
  const waiting = notYet(definition.info?.errors, definition.livePath ?? "/live");
  const ended = new AbortController();
  const signal = wait?.signal === undefined ? ended.signal : AbortSignal.any([wait.signal, ended.signal]);
  let inForce = { config, listen };
  let server: RunningServer | undefined;
  let service: Service | undefined;
  let dispatch = waiting;
  const listening = (to: ServeOptions): Promise<RunningServer> => {
    const whatIsThere = (incoming: Incoming): Promise<WireResponse> => dispatch(incoming);
    return serve(Object.assign(whatIsThere, { serves: () => true }), to);
  };
  /** Builds the service, waits for what it needs, and lets it work. */
  const begin = async (): Promise<Service> => {
    let key: Uint8Array | undefined;
    const build = async (anew: () => void): Promise<Service> =>
      assembleService(definition, inForce.config, {
        ...given,
        version,
        grace: 0,
        server: () => server,
        ...(rates === undefined ? {} : { rates: await rates() }),
        operators: {
          async wait(vault, answers) {
            // An attempt that fails for another reason does not call the operators again.
            if (key !== undefined && (await vault.opens(key))) return key;
            dispatch = answers;
            server ??= await listening(inForce.listen);
            log.warn({ url: server.url }, "the vault is sealed: the service waits for its operators");
            whenSealed?.(server.url);
            key = await unlessAborted(vault.opened, signal);
            log.warn({}, "the vault is unsealed");
            dispatch = waiting;
            anew();
            return key;
          },
          sealed: reseal,
        },
      });
    const built = await untilThere(build, { ...wait, atMost: wait?.atMost ?? 0, signal }, log, async () => {
      server ??= await listening(inForce.listen);
    });
    try {
      const complete = await withAnchors(inForce.listen, built);
      dispatch = built.dispatch;
      if (server === undefined) server = await listening(complete);
      else if (complete.tls !== undefined) server.setSecureContext(complete.tls);
      await built.start();
      await whenBuilt?.(built.metrics);
    } catch (error) {
      dispatch = waiting;
      await built.stop();
      throw error;
    }
    service = built;
    return built;
  };
  let resealing = Promise.resolve();
  function reseal(): void {
    const open = service;
    if (open === undefined) return;
    service = undefined;
    dispatch = waiting;
    log.warn({}, "the vault was sealed by an operator");
    resealing = (async () => {
      await open.stop(inForce.listen.grace ?? USUAL_GRACE_MS);
      whole = await begin();
    })().catch((error: unknown) => {
      if (!ended.signal.aborted) log.error({ error }, "the service did not come back after its vault was sealed: start it again");
    });
  }
  let whole: Service;
  try {
    whole = await begin();
  } catch (error) {
    await server?.close();
    throw error;
  }
  const running = server as unknown as RunningServer;
  log.info({ url: running.url, version }, "listening");
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    ended.abort();
    await running.close();
    await resealing;
    await whole.stop();
    log.info({}, "stopped");
  };
  return {
    name,
    url: running.url,
    port: running.port,
    get listeners() {
      return whole.listeners();
    },
    server: running,
    get metrics() {
      return whole.metrics;
    },
    health: async () =>
      service?.health() ?? {
        status: "degraded",
        ready: false,
        components: { vault: { status: "unhealthy", message: "sealed" } },
      },
    async prepareReload(next, nextListen) {
      // While the vault is sealed there is no service: it will begin with what is in force then.
      const open = service;
      const apply = await open?.prepareReload(next);
      const { tls } = open === undefined ? nextListen : await withAnchors(nextListen, open);
      if ((tls === undefined) !== (listen.tls === undefined))
        throw new CodedError("config_invalid", `${name}: TLS is not turned on or off while it runs`);
      if (tls !== undefined) requireUsable(tls);
      return async () => {
        inForce = { config: next as z.output<Schema>, listen: nextListen };
        if (tls !== undefined) running.setSecureContext(tls);
        await apply?.();
      };
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

const USUAL_GRACE_MS = 10_000;

/** What a promise gives, or the reason of the signal that came before. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** A service that is a CA itself trusts its own root, whatever else it is told to trust. */
async function withAnchors<L extends StartOptions["listen"]>(listen: L, service: Service): Promise<L> {
  const { tls } = listen;
  if (tls?.requestCert !== true) return listen;
  return { ...listen, tls: { ...tls, ca: [...(tls.ca ?? []), ...(await service.clientAnchors())] } };
}

/** Throws `config_invalid` for a certificate that TLS would not take, such as one of another key. */
function requireUsable({ cert, key, ca = [] }: TlsOptions): void {
  const problem = keyProblem(cert, key);
  if (problem !== undefined) throw new CodedError("config_invalid", `the key ${problem}`);
  try {
    createSecureContext({ ca: [...ca] });
  } catch (error) {
    throw new CodedError("config_invalid", "the authorities of clients cannot be used", {}, error);
  }
}
