import { retryDelay, timestamp } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import { systemCall } from "../../ground/index.ts";
import { type Dispatch, dispatches, federations, type StoredFederation } from "../collections.ts";
import { openLanes } from "../federation/lanes.ts";
import type { PartnerServices } from "../services.ts";
import type { Delivery, Send } from "./delivery.ts";
import { giveUpAnswer, sendAnswer } from "./send-answer.ts";
import { sendConsent } from "./send-consent.ts";
import { sendState } from "./send-state.ts";

const sends: Readonly<Record<Dispatch["kind"], Send>> = { state: sendState, answer: sendAnswer, consent: sendConsent };

/** After so many tries, some twenty minutes, the organisation is told; after so many, a week of them, it is given up. */
const TOLD_AFTER = 8;
const GIVEN_UP_AFTER = 700;
/** How the owner's word is then tried on: it is never dropped, since an end must arrive. */
const DAILY = 86_400_000;

/**
 * The rounds of the outbox of dispatches. Two processes may try the same: the receiver takes each state once. An entry that fails
 * for whatever reason is put off, and the next of its lane is tried, unless the partner is not to be reached.
 */
export const dispatchLanes = () =>
  openLanes<Dispatch>({
    outbox: dispatches,
    laneOf: ({ federation_id }) => [federation_id],
    deliver: async (services, id, _entry, now) => {
      const outcome = await deliverDispatch(services, id, now);
      return !(outcome.kind === "retry" && outcome.unreachable === true);
    },
  });

/**
 * One try of one dispatch: delivered or refused it leaves the outbox, else it is tried again, less and less often. Every failure is an
 * outcome of this dispatch, ours too; only a store that does not take the outcome throws.
 */
export async function deliverDispatch(services: PartnerServices, id: string, now: number): Promise<Delivery> {
  const dispatch = await services.read.get(dispatches, id);
  if (dispatch === undefined) return { kind: "done" };
  const federation = await services.read.get(federations, dispatch.federation_id);
  const outcome = await attempt(services, dispatch, federation, now);
  services.metrics.dispatched(dispatch.kind, outcome.kind);
  const attempts = dispatch.attempts + 1;
  const over = outcome.kind === "retry" && attempts >= GIVEN_UP_AFTER;
  const final: Delivery = over && dispatch.kind !== "state" ? { kind: "refused", code: "FEDERATION_FAILED" } : outcome;
  if (over && dispatch.kind === "answer") await giveUpAnswer(services, dispatch, "FEDERATION_FAILED", now);
  await services.transact(systemCall("system:outbox", dispatch.org_id, now), async (unit) => {
    const current = await unit.get(dispatches, id);
    if (current?.token !== dispatch.token) return;
    const { kind, org_id, federation_id, workspace_id } = current;
    if (final.kind === "retry") {
      const due_at = timestamp(now + (over ? DAILY : retryDelay(attempts)));
      unit.put(dispatches, id, { ...current, attempts, due_at, error_detail: final.detail });
    } else unit.delete(dispatches, id);
    const told = outcome.kind === "retry" && (attempts === TOLD_AFTER || attempts === GIVEN_UP_AFTER);
    if (!told && outcome.kind !== "refused") return;
    const detail = outcome.kind === "retry" ? outcome.detail : outcome.code;
    const partner_org_id = federation?.partner_org_id ?? "";
    const metadata = { federation_id, partner_org_id, kind, attempts, detail, given_up: over || final.kind === "refused" };
    unit.record({ type: "federation.delivery", result: "error", org: org_id, workspace: workspace_id, metadata });
  });
  return final;
}

async function attempt(
  services: PartnerServices,
  dispatch: Dispatch,
  federation: StoredFederation | undefined,
  now: number,
): Promise<Delivery> {
  // What was meant for a federation that ended has nobody to go to.
  if (federation === undefined || federation.status === "revoked") return { kind: "refused", code: "FEDERATION_INACTIVE" };
  try {
    return await sends[dispatch.kind](services, dispatch, federation, now);
  } catch (error) {
    if (isCoded(error, "FEDERATION_FAILED")) return { kind: "retry", detail: error.message, unreachable: true };
    const { kind, federation_id, workspace_id } = dispatch;
    services.log.error({ error, kind, federation: federation_id, workspace: workspace_id }, "a dispatch failed on our side");
    return { kind: "retry", detail: isCoded(error) ? `failed here: ${error.code}` : "failed here" };
  }
}
