import type { Logger } from "@seneschal/adapters/logging";
import { openMetrics } from "@seneschal/adapters/metrics";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import type { GatewayServices } from "../gateway/index.ts";
import { buildGateway } from "../gateway/service.ts";
import { openBackground, type Platform } from "../platform/index.ts";
import type { ProcessConfig } from "./process-settings.ts";

/** How the gateway's services are lent. */
export interface OperateOptions {
  readonly log: Logger;
  readonly version: string;
  /** Brings the shares of a vault that operators unseal. */
  readonly operators?: NonNullable<Platform["operators"]>;
}

/**
 * Lends the gateway's services to whoever operates the instance, without listening. An embedded store has one opener: stop the
 * gateway first (`store_locked`).
 */
export async function operateGateway<R>(
  config: ProcessConfig,
  { log, version, operators }: OperateOptions,
  use: (services: GatewayServices) => Promise<R>,
): Promise<R> {
  const metrics = openMetrics({ prefix: "gateway", version });
  const gateway = await buildGateway(
    { ...config.gateway, auth: config.auth },
    {
      clock: systemClock,
      random: systemRandom,
      log,
      metrics,
      background: openBackground(log, metrics),
      version,
      health: async () => ({ status: "healthy", ready: true, components: {} }),
      server: () => undefined,
      ...(operators === undefined ? {} : { operators }),
    },
    config.data_dir,
  );
  try {
    return await use(gateway.services);
  } finally {
    await gateway.stop?.();
  }
}
