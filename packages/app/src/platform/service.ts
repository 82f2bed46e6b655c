import type { Logger } from "@seneschal/adapters/logging";
import { type Metrics, openMetrics } from "@seneschal/adapters/metrics";
import { type Contract, dispatcher, type Endpoint, type Hooks, type RunningServer, type Serve } from "@seneschal/contract";
import type { Clock, Random } from "@seneschal/core/ports";
import type { z } from "zod";
import { checkHealth, type Health, type HealthCheck } from "./health.ts";
import { observeRequests } from "./observe-requests.ts";

/** What the process gives to every service. */
export interface Platform {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  /** The health of the service itself, for its own routes. */
  readonly health: () => Promise<Health>;
  /** The server it runs on, once it listens: to reload certificates and to drop connections. */
  readonly server: () => RunningServer | undefined;
}

/** What a service provides around its routes; the platform adds time, request ids, metrics and logs. */
export type ServiceHooks = Omit<Hooks, "now" | "requestId" | "observe" | "onError">;

/** A service put together, not yet listening. */
export interface BuiltService {
  readonly hooks: ServiceHooks;
  /** `(hooks) => endpoints(contract, handlers, services, hooks)`; several contracts may be concatenated. */
  readonly endpoints: (hooks: Hooks) => readonly Endpoint[];
  readonly checks?: readonly HealthCheck[];
  /** Background work, begun once the port listens: nothing may keep a service from listening. */
  start?(): Promise<void>;
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
}

/**
 * Builds a service and lets it listen. When anything fails on the way, what was opened is closed again and the error goes to the
 * caller.
 */
export async function startService<Schema extends z.ZodObject>(
  definition: ServiceDefinition<Schema>,
  config: z.output<Schema>,
  { serve, listen, clock, random, log: root, version }: StartOptions,
): Promise<RunningService> {
  const { name } = definition;
  const log = root.child({ service: name });
  const metrics = openMetrics({ prefix: name, version });
  let checks: readonly HealthCheck[] = [];
  let server: RunningServer | undefined;
  const health = (): Promise<Health> =>
    checkHealth(checks, (component, error) => log.warn({ component, error }, "component is unhealthy"));

  const built = await definition.build(config, { clock, random, log, metrics, version, health, server: () => server });
  try {
    checks = built.checks ?? [];
    const hooks: Hooks = {
      ...built.hooks,
      now: () => clock.now(),
      requestId: () => Buffer.from(random(16)).toString("hex"),
      observe: observeRequests(metrics, log),
      onError: (error, { id }, requestId) => log.error({ error, route: id, request_id: requestId }, "request failed"),
    };
    server = await serve(dispatcher(built.endpoints(hooks), hooks), listen);
    await built.start?.();
  } catch (error) {
    await server?.close();
    await built.stop?.();
    throw error;
  }
  const running = server;
  log.info({ url: running.url, version }, "listening");
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await running.close();
    await built.stop?.();
    log.info({}, "stopped");
  };
  return {
    name,
    url: running.url,
    port: running.port,
    server: running,
    metrics,
    health,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}
