import type { Logger } from "@seneschal/adapters/logging";
import { openMetrics } from "@seneschal/adapters/metrics";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { openBackground, type Platform } from "../platform/index.ts";

/** How a service is lent to whoever operates it. */
export interface OperateOptions {
  readonly log: Logger;
  readonly version: string;
  /** Brings the shares of a vault that operators unseal. */
  readonly operators?: NonNullable<Platform["operators"]>;
}

/** What a service is built on that nobody listens for. */
export function operatorPlatform(prefix: string, { log, version, operators }: OperateOptions): Platform {
  const metrics = openMetrics({ prefix, version });
  return {
    clock: systemClock,
    random: systemRandom,
    log,
    metrics,
    background: openBackground(log, metrics),
    version,
    health: async () => ({ status: "healthy", ready: true, components: {} }),
    server: () => undefined,
    ...(operators === undefined ? {} : { operators }),
  };
}
