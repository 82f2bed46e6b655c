import type { Caller, GrpcCall, GrpcHandler, GrpcMessage } from "@seneschal/core/storage";
import { isCoded, type JsonObject } from "@seneschal/kernel";
import { type Actor, commit, type StorageContext } from "../context.ts";

/** A change by an admin: in the audit log whether it succeeded or not, and counted. */
export function auditedCall(
  context: StorageContext,
  authenticate: (call: GrpcCall) => Promise<Caller>,
  op: string,
  work: (request: GrpcMessage, actor: Actor) => Promise<GrpcMessage>,
): GrpcHandler {
  return async function run(call) {
    const caller = await authenticate(call);
    const actor = { id: caller.id, source: call.peer.address };
    const record = async (outcome: string): Promise<void> => {
      context.metrics.adminCalls.inc({ op, outcome: outcome === "ok" ? "ok" : "refused" });
      const at = new Date(context.clock.now()).toISOString();
      const event: JsonObject = {
        action: `op.${op}`,
        at,
        actor: actor.id,
        source: actor.source,
        parameters: JSON.parse(JSON.stringify(call.request)) as JsonObject,
        outcome,
      };
      await commit(context.store, { audit: [{ stream: "storage", event }] });
    };
    let reply: GrpcMessage;
    try {
      reply = await work(call.request, actor);
    } catch (error) {
      await record(isCoded(error) ? error.code : "error");
      throw error;
    }
    await record("ok");
    return reply;
  };
}

/** Proto has no null: an absent text is empty. */
export function textOf(message: GrpcMessage, field: string): string {
  const value = message[field];
  return typeof value === "string" ? value : "";
}
