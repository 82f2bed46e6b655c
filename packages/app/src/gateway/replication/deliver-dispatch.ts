import { isCoded } from "@seneschal/core";
import { retryDelay, timestamp } from "@seneschal/core/keys";
import { systemCall } from "../call.ts";
import type { PeerAnswer } from "../federation/channel.ts";
import { federations, type StoredFederation } from "../federation/collections.ts";
import type { GatewayServices } from "../services.ts";
import { type Dispatch, dispatches } from "./collections.ts";
import { sendAnswer } from "./send-answer.ts";
import { sendConsent } from "./send-consent.ts";
import { sendState } from "./send-state.ts";

/** What a try came to. `refused`: the partner said no for good, with this code. */
export type Delivery =
  | { readonly kind: "done" }
  | { readonly kind: "retry"; readonly detail: string }
  | { readonly kind: "refused"; readonly code: string };

/** Says one kind of thing to a partner. What it throws of `FEDERATION_FAILED` is tried again. */
export type Send = (
  services: GatewayServices,
  dispatch: Dispatch,
  federation: StoredFederation,
  now: number,
) => Promise<Delivery>;

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

/** What a partner's answer that is no success means: what is wrong with the message stays wrong, what is wrong with the partner may pass. */
export function refusedOrLater({ status, body }: PeerAnswer): Delivery {
  if (![400, 404, 409, 413, 422].includes(status)) return { kind: "retry", detail: `the partner refused with status ${status}` };
  const error = body?.["error"] as { readonly code?: unknown } | undefined;
  return { kind: "refused", code: typeof error?.code === "string" ? error.code : "STATE_CONFLICT" };
}
