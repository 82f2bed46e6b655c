import { isCoded } from "@seneschal/core";
import { retryDelay, timestamp } from "@seneschal/core/keys";
import { systemCall } from "../call.ts";
import { federations, type StoredFederation } from "../federation/collections.ts";
import type { GatewayServices } from "../services.ts";
import { type Dispatch, dispatches } from "./collections.ts";
import type { Delivery, Send } from "./delivery.ts";
import { sendAnswer } from "./send-answer.ts";
import { sendConsent } from "./send-consent.ts";
import { sendState } from "./send-state.ts";

const sends: Readonly<Record<Dispatch["kind"], Send>> = { state: sendState, answer: sendAnswer, consent: sendConsent };

const BATCH = 100;
const AT_ONCE = 8;

/** Tries what is due, a batch at a time. Two processes may try the same: the receiver takes each state once. */
export async function deliverDispatches(services: GatewayServices, now: number): Promise<void> {
  const { items } = await services.store.list(dispatches.name, "due", [], { to: [timestamp(now)], limit: BATCH });
  for (let i = 0; i < items.length; i += AT_ONCE) {
    await Promise.all(items.slice(i, i + AT_ONCE).map(({ id }) => deliverDispatch(services, id, now)));
  }
}

/** One try of one dispatch: delivered or refused it leaves the outbox, else it is tried again, less and less often. */
export async function deliverDispatch(services: GatewayServices, id: string, now: number): Promise<Delivery> {
  const dispatch = await services.read.get(dispatches, id);
  if (dispatch === undefined) return { kind: "done" };
  const federation = await services.read.get(federations, dispatch.federation_id);
  const outcome = await attempt(services, dispatch, federation, now);
  services.metrics.dispatched(dispatch.kind, outcome.kind);
  await services.transact(systemCall("system:courier", dispatch.org_id, now), async (unit) => {
    const current = await unit.get(dispatches, id);
    if (current?.token !== dispatch.token) return;
    if (outcome.kind !== "retry") {
      unit.delete(dispatches, id);
      return;
    }
    const attempts = current.attempts + 1;
    const due_at = timestamp(now + retryDelay(attempts));
    unit.put(dispatches, id, { ...current, attempts, due_at, error_detail: outcome.detail });
  });
  return outcome;
}

async function attempt(
  services: GatewayServices,
  dispatch: Dispatch,
  federation: StoredFederation | undefined,
  now: number,
): Promise<Delivery> {
  // What was meant for a federation that ended has nobody to go to.
  if (federation === undefined || federation.status === "revoked") return { kind: "refused", code: "FEDERATION_INACTIVE" };
  try {
    return await sends[dispatch.kind](services, dispatch, federation, now);
  } catch (error) {
    if (isCoded(error, "FEDERATION_FAILED")) return { kind: "retry", detail: error.message };
    throw error;
  }
}
