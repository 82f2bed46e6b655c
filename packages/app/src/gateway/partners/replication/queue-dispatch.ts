import { timestamp } from "@seneschal/core/keys";
import { every, type GatewayUnit } from "../../ground/index.ts";
import { type Dispatch, dispatches, dispatchId } from "../collections.ts";
import type { PartnerServices } from "../services.ts";
import { deliverDispatch } from "./deliver-dispatch.ts";

type What = Pick<Dispatch, "kind" | "org_id" | "federation_id" | "workspace_id">;

/** Puts a dispatch into the outbox, in the transaction of its cause, where it is tried until the partner has it. Answers its id. */
export async function queueDispatch(services: PartnerServices, unit: GatewayUnit, what: What): Promise<string> {
  const { now } = unit.call;
  const id = dispatchId(what);
  const known = await unit.get(dispatches, id);
  const at = timestamp(now);
  unit.put(dispatches, id, {
    ...what,
    token: services.newId(now),
    attempts: 0,
    due_at: at,
    error_detail: null,
    created_at: known?.created_at ?? at,
  });
  return id;
}

/** As {@link queueDispatch}; the first try is made as soon as the transaction stands. */
export async function sendDispatch(services: PartnerServices, unit: GatewayUnit, what: What): Promise<void> {
  const { now } = unit.call;
  const id = await queueDispatch(services, unit, what);
  unit.afterCommit(() => {
    deliverDispatch(services, id, now).catch((error: unknown) => services.log.warn({ error }, "a dispatch failed"));
  });
}

/** What waits for a federation is tried at once: it can be called now. */
export async function hurryDispatches(services: PartnerServices, unit: GatewayUnit, federation: string): Promise<void> {
  for await (const { kind, org_id, federation_id, workspace_id } of every(services, dispatches, "by_federation", [federation])) {
    await sendDispatch(services, unit, { kind, org_id, federation_id, workspace_id });
  }
}
