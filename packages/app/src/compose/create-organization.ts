import type { Logger } from "@seneschal/adapters/logging";
import { openMetrics } from "@seneschal/adapters/metrics";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { CodedError } from "@seneschal/core";
import { isOrganizationId } from "@seneschal/core/keys";
import { ensureOrganization, isAnchor, systemCall } from "../gateway/index.ts";
import { openBackground } from "../platform/index.ts";
import { buildGateway } from "./gateway-service.ts";
import type { ProcessConfig } from "./process-settings.ts";

/**
 * Creates an organisation straight in the gateway's store, as the operator of the instance, with its audit event. An
 * embedded store has one opener: stop the gateway first (`store_locked`). Creating it again changes nothing.
 */
export async function createOrganization(
  config: ProcessConfig,
  { id, anchor }: { readonly id: string; readonly anchor: string | null },
  { log, version }: { readonly log: Logger; readonly version: string },
): Promise<{ readonly id: string }> {
  if (!isOrganizationId(id)) throw new CodedError("usage", "an organisation id has 1 to 128 printable characters without /");
  if (anchor !== null && !isAnchor(anchor))
    throw new CodedError("usage", "a root key is the 32 bytes of an Ed25519 key in base64");
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
    },
    config.data_dir,
  );
  try {
    await gateway.services.transact(systemCall("system:operator", id, systemClock.now()), async (unit) => {
      await ensureOrganization(unit, id, "configuration", anchor);
    });
    return { id };
  } finally {
    await gateway.stop?.();
  }
}
