import { systemClock } from "@seneschal/adapters/system";
import { isOrganizationId } from "@seneschal/core/keys";
import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import { ensureOrganization, isAnchor, systemCall } from "../gateway/index.ts";
import { operateGateway } from "./operate-gateway.ts";
import type { OperateOptions } from "./operator-platform.ts";
import type { ProcessConfig } from "./process-settings.ts";

/**
 * Creates an organisation straight in the gateway's store, as the operator of the instance, with its audit event. An
 * embedded store has one opener: stop the gateway first (`store_locked`). Creating it again changes nothing.
 */
export async function createOrganization(
  config: ProcessConfig,
  given: { readonly id: string; readonly anchor: string | null },
  options: OperateOptions,
): Promise<{ readonly id: string }> {
  checkOptions("options", options, { log: "object", version: "string", operators: "function?" });
  checkArgument("config", config, "object");
  checkArgument("given", given, "object");
  const { id, anchor } = given;
  requireOrganizationId(id);
  if (anchor !== null && !isAnchor(anchor))
    throw new CodedError("usage", "a root key is the 32 bytes of an Ed25519 key in base64");
  return operateGateway(config, options, async (services) => {
    await services.transact(systemCall("system:operator", id, systemClock.now()), async (unit) => {
      await ensureOrganization(unit, id, "configuration", anchor);
    });
    return { id };
  });
}

/** Throws `usage`. */
export function requireOrganizationId(id: string): void {
  if (!isOrganizationId(id)) throw new CodedError("usage", "an organisation id has 1 to 128 printable characters without /");
}
