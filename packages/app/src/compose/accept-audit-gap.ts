import { systemClock } from "@seneschal/adapters/system";
import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import { type AcceptedGap, acceptAuditGap } from "../gateway/index.ts";
import { operateGateway } from "./operate-gateway.ts";
import type { OperateOptions } from "./operator-platform.ts";
import type { ProcessConfig } from "./process-settings.ts";

const LONGEST_REASON = 1000;

/**
 * Accepts a gap of the gateway's whole audit log, as the operator of the instance: see `acceptAuditGap`. An embedded store has one opener: stop the gateway
 * first (`store_locked`). Accepting it again changes nothing.
 */
export async function acceptGap(
  config: ProcessConfig,
  given: { readonly first: number; readonly last: number; readonly reason: string },
  options: OperateOptions,
): Promise<AcceptedGap> {
  checkOptions("options", options, { log: "object", version: "string", operators: "function?" });
  checkArgument("config", config, "object");
  checkArgument("given", given, "object");
  const { first, last, reason } = given;
  if (first < 1 || last < first) throw new CodedError("usage", "a gap goes from its first event, 1 or later, to its last");
  if (reason.trim() === "" || reason.length > LONGEST_REASON)
    throw new CodedError("usage", `a reason has 1 to ${LONGEST_REASON} characters`);
  return operateGateway(config, options, (services) => acceptAuditGap(services, { first, last, reason, now: systemClock.now() }));
}
