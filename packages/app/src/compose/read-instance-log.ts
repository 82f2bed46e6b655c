import { checkArgument, checkOptions } from "@seneschal/kernel";
import type { AuditEvent } from "../gateway/index.ts";
import { instanceStream } from "../gateway/index.ts";
import { operateGateway } from "./operate-gateway.ts";
import type { OperateOptions } from "./operator-platform.ts";
import type { ProcessConfig } from "./process-settings.ts";

/** An event that belongs to no organisation, with its number in the log of the whole instance. */
export type InstanceEvent = AuditEvent & { readonly seq: number };

const PAGE = 1000;

/**
 * Events of the gateway that belong to no organisation (failed log-ins, certificates of the instance, seals, accepted gaps), oldest first, from behind
 * number `after` on: for whoever operates the instance, since no admin of an organisation may read them. An embedded store has one opener: stop
 * the gateway first (`store_locked`). What was archived is in the archive.
 */
export async function readInstanceLog(
  config: ProcessConfig,
  given: { readonly after: number; readonly limit: number },
  options: OperateOptions,
): Promise<readonly InstanceEvent[]> {
  checkOptions("options", options, { log: "object", version: "string", operators: "function?" });
  checkArgument("config", config, "object");
  checkArgument("given", given, "object");
  const { after, limit } = given;
  return operateGateway(config, options, async ({ store }) => {
    const found: InstanceEvent[] = [];
    for (let at = after; found.length < limit; ) {
      const entries = await store.auditRead(at, PAGE);
      const last = entries.at(-1);
      if (last === undefined) break;
      for (const { seq, stream, event } of entries)
        if (stream === instanceStream && found.length < limit) found.push({ seq, ...(event as unknown as AuditEvent) });
      at = last.seq;
    }
    return found;
  });
}
