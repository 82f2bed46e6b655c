import { gatewayContract, type PeerState } from "@seneschal/contract/gateway";
import { confirmShare, forgetFollower, isSettled, type Told } from "@seneschal/core/keys";
import { type Call, systemCall } from "../../ground/index.ts";
import { stateHash } from "../../workspaces/index.ts";
import { type StoredFederation, shareId, shares } from "../collections.ts";
import type { PartnerServices } from "../services.ts";
import type { Delivery, Send } from "./delivery.ts";
import { describeShare } from "./describe.ts";

/** Tells a partner how a workspace is, until it knows all that there is. A refusal is no end: the partner may come to see it otherwise. */
export const sendState: Send = async (services, dispatch, federation, now) => {
  const { workspace_id, org_id } = dispatch;
  const id = shareId(workspace_id, federation.partner_org_id);
  const call = systemCall("system:outbox", org_id, now);
  const state = await services.transact(call, async (unit) => {
    const share = await unit.get(shares, id);
    return share === undefined || isSettled(share) ? undefined : describeShare(services, unit, share);
  });
  if (state === undefined) return { kind: "done" };
  const route = gatewayContract.peerWorkspace;
  const { status, body, code } = await services.channels.call(services.read, federation, { route, body: state });
  if (body !== undefined) return settle(services, federation, id, state, body.sequence, call);
  // It may lack keys that it confirmed, as one that was restored does: next time it is told all.
  if ([400, 409, 413, 422].includes(status)) await tellAll(services, id, call);
  const reason = status === route.status ? "the partner's reply cannot be read" : `the partner refused with status ${status}`;
  return { kind: "retry", detail: code === undefined ? reason : `${reason} (${code})` };
};

async function settle(
  services: PartnerServices,
  federation: StoredFederation,
  id: string,
  state: PeerState,
  known: number,
  call: Call,
): Promise<Delivery> {
  const { sequence: sent, workspace_id } = state;
  const { kind, delivery } = await services.transact(call, async (unit) => {
    const share = await unit.get(shares, id);
    if (share === undefined) return { kind: "confirmed" as const, delivery: { kind: "done" as const } };
    const confirmation = confirmShare(share, known, { sent, told: toldBy(services, state) }, call.now);
    if (confirmation.kind === "refused") {
      const detail = "the partner confirmed what was never said";
      return { kind: confirmation.kind, delivery: { kind: "retry" as const, detail } };
    }
    const { share: next } = confirmation;
    const settled = isSettled(next);
    if (settled && next.stage === "ended") unit.delete(shares, id);
    else unit.put(shares, id, next);
    const news = { kind: "retry" as const, detail: "there is news since" };
    return { kind: confirmation.kind, delivery: settled ? { kind: "done" as const } : news };
  });
  if (kind !== "confirmed") {
    await services.refusals.note(services, federation, "confirmation", kind === "ahead" ? "AHEAD" : "NEVER_SAID", {
      workspace_id,
      sent,
      known,
    });
  }
  return delivery;
}

function toldBy(services: PartnerServices, state: PeerState): Told | undefined {
  if (state.stage !== "shared") return undefined;
  const { revision, dek_version } = state.workspace;
  return { revision, dek_version, state_sha256: stateHash(services.crypto, state.workspace) };
}

async function tellAll(services: PartnerServices, id: string, call: Call): Promise<void> {
  await services.transact(call, async (unit) => {
    const share = await unit.get(shares, id);
    if (share?.follower !== undefined) unit.put(shares, id, forgetFollower(share));
  });
}
