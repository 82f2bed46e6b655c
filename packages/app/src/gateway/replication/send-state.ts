import { confirmShare, isSettled } from "@seneschal/core/keys";
import { systemCall } from "../call.ts";
import type { GatewayServices } from "../services.ts";
import { shareId, shares } from "./collections.ts";
import type { Delivery, Send } from "./delivery.ts";
import { describeShare } from "./describe.ts";

const PATH = "/api/v1/federation/peer/workspace";

/** Tells a partner how a workspace is, until it knows all that there is. A refusal is no end: the partner may come to see it otherwise. */
export const sendState: Send = async (services, dispatch, federation, now) => {
  const { workspace_id, org_id } = dispatch;
  const id = shareId(workspace_id, federation.partner_org_id);
  const call = systemCall("system:courier", org_id, now);
  const state = await services.transact(call, async (unit) => {
    const share = await unit.get(shares, id);
    return share === undefined || isSettled(share) ? undefined : describeShare(services, unit, share);
  });
  if (state === undefined) return { kind: "done" };
  const { status, body } = await services.channels.call(services.read, federation, { method: "PUT", path: PATH, body: state });
  const known = body?.["sequence"];
  if (status !== 200 || typeof known !== "number" || !Number.isSafeInteger(known) || known < 0 || known > 2 ** 48) {
    return { kind: "retry", detail: `the partner refused with status ${status}` };
  }
  return settle(services, id, known, call);
};

async function settle(
  services: GatewayServices,
  id: string,
  known: number,
  call: ReturnType<typeof systemCall>,
): Promise<Delivery> {
  return services.transact<Delivery>(call, async (unit) => {
    const share = await unit.get(shares, id);
    if (share === undefined) return { kind: "done" };
    const next = confirmShare(share, known);
    if (isSettled(next) && next.stage === "ended") unit.delete(shares, id);
    else unit.put(shares, id, next);
    return isSettled(next) ? { kind: "done" } : { kind: "retry", detail: "there is news since" };
  });
}
