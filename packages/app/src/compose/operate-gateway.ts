import type { GatewayServices } from "../gateway/index.ts";
import { buildGateway } from "../gateway/service.ts";
import { type OperateOptions, operatorPlatform } from "./operator-platform.ts";
import type { ProcessConfig } from "./process-settings.ts";

/**
 * Lends the gateway's services to whoever operates the instance, without listening. An embedded store has one opener: stop the
 * gateway first (`store_locked`).
 */
export async function operateGateway<R>(
  config: ProcessConfig,
  options: OperateOptions,
  use: (services: GatewayServices) => Promise<R>,
): Promise<R> {
  const gateway = await buildGateway(
    { ...config.gateway, auth: config.auth },
    operatorPlatform("gateway", options),
    config.data_dir,
  );
  try {
    return await use(gateway.services);
  } finally {
    await gateway.stop?.();
  }
}
