import type { Assets } from "@seneschal/adapters/assets";
import type { Principal } from "@seneschal/contract";
import { CodedError, isCoded, type JsonObject } from "@seneschal/kernel";
import type { Health } from "../../platform/index.ts";
import { type Actor, commit } from "../context.ts";
import type { Credentials } from "../keys/credentials.ts";
import type { StorageNode } from "../node.ts";
import type { SmartSimulation } from "../watch/simulate-smart.ts";
import type { AdminAuth } from "./admin-auth.ts";

/** What the admin handlers work with. */
export interface AdminServices {
  readonly node: StorageNode;
  readonly health: () => Promise<Health>;
  readonly auth: AdminAuth;
  readonly credentials: Credentials;
  readonly assets: Assets;
  /** Cookies are marked Secure. */
  readonly tls: boolean;
  /** Present where `storage.test_knobs` is on. */
  readonly simulation: SmartSimulation | undefined;
}

interface OperationInput {
  readonly principal: Principal | undefined;
  readonly request: { readonly remoteAddress: string };
  readonly params?: unknown;
  readonly body?: unknown;
  readonly now: number;
  readonly requestId: string;
}

/** Who does an operation. */
function actorOf(input: OperationInput): Actor {
  return { id: input.principal?.id ?? "unknown", source: input.request.remoteAddress };
}

/**
 * Runs an operation and records it, successful or not: time, identity, source address, parameters, result. The changes
 * themselves carry their own audit events in their own commits; this is the record of the call.
 */
export async function audited<T>(
  services: AdminServices,
  op: string,
  input: OperationInput,
  work: (actor: Actor) => Promise<T>,
): Promise<T> {
  const actor = actorOf(input);
  const { context } = services.node;
  const record = async (outcome: string) => {
    context.metrics.adminCalls.inc({ op, outcome: outcome === "ok" ? "ok" : "refused" });
    const event: JsonObject = {
      action: `op.${op}`,
      at: new Date(input.now).toISOString(),
      actor: actor.id,
      source: actor.source,
      request_id: input.requestId,
      parameters: JSON.parse(
        JSON.stringify({ ...(input.params as object | undefined), ...(input.body as object | undefined) }),
      ) as JsonObject,
      outcome,
    };
    await commit(context.store, { audit: [{ stream: "storage", event }] });
  };
  let result: T;
  try {
    result = await work(actor);
  } catch (error) {
    await record(isCoded(error) ? error.code : "error");
    throw error;
  }
  await record("ok").catch((cause: unknown) => {
    // It is done: nobody may take this failure for a no, and do it again.
    throw new CodedError("outcome_unknown", "the operation was carried out, its record was not", {}, cause);
  });
  return result;
}
