import { gatewayContract, type PeerState } from "@seneschal/contract/gateway";
import {
  confirmShare,
  type Delivery,
  type Dispatch,
  type Federation,
  forgetFollower,
  isSettled,
  offerOf,
  queueDispatch,
  type Replica,
  reachesPartner,
  type Share,
  type ShareInput,
  stepDispatch,
  stepShare,
  type Told,
  takeBackAcceptance,
  unsuccessful,
  type Workspace,
} from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import { type Call, every, type GatewayUnit, systemCall } from "../../ground/index.ts";
import {
  consentId,
  deletionConsents,
  invitations,
  replicatedPolicies,
  replicatedWorkspace,
  sealKeys,
  stateHash,
  workspaces,
} from "../../workspaces/index.ts";
import { dispatches, dispatchId, federations, receivedId, replicaId, replicas, shareId, shares } from "../collections.ts";
import { federationOf } from "../federation/find.ts";
import { keysOfPartner } from "../federation/identity.ts";
import { openLanes } from "../federation/lanes.ts";
import type { PartnerServices } from "../services.ts";
import { applyState, checkState, destroyReplica } from "./replica.ts";

/** Says one kind of thing to a partner. What it throws of `FEDERATION_FAILED` is tried again. */
type Send = (services: PartnerServices, dispatch: Dispatch, federation: Federation, now: number) => Promise<Delivery>;

/**
 * The state that a share stands for now, with the keys that its partner did not confirm yet. The number is the share's, read before everything else: what is told under it is never older
 * than it. `undefined` when there is nothing to tell: the workspace is air-gapped, or the partner's certificate vouches for no keys.
 */
export async function describeShare(services: PartnerServices, unit: GatewayUnit, share: Share): Promise<PeerState | undefined> {
  const { workspace_id, sequence } = share;
  const ended: PeerState = { workspace_id, sequence, stage: "ended" };
  if (share.stage === "ended") return ended;
  const workspace = await unit.get(workspaces, workspace_id);
  if (workspace === undefined) return ended;
  if (workspace.mode === "airgap") return undefined;
  if (share.stage === "offered") {
    const invitation = await unit.get(invitations, share.invitation_id);
    if (invitation === undefined) return ended;
    const { id, invited_by, created_at, expires_at } = invitation;
    const offer = { id, invited_by, created_at, expires_at };
    return { workspace_id, sequence, stage: "offered", invitation: offer, workspace: offerOf(workspace) };
  }
  const federation = await unit.get(federations, share.federation_id);
  const keys = federation === undefined ? undefined : keysOfPartner(federation);
  if (keys === undefined) return undefined;
  const recipient = { org: share.partner_org_id, exchange: keys.exchange };
  const sealed = await sealKeys(services, unit, workspace, share.org_id, [recipient], share.follower?.dek_version);
  const policies = await replicatedPolicies(unit, workspace_id);
  const deks = sealed[recipient.org] ?? "";
  return { workspace_id, sequence, stage: "shared", workspace: replicatedWorkspace(workspace), policies, deks };
}

/** Tells a partner how a workspace is, until it knows all that there is. A refusal is no end: the partner may come to see it otherwise. */
const sendState: Send = async (services, dispatch, federation, now) => {
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
  federation: Federation,
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

/**
 * Brings the answer to an invitation to the owner's instance, and takes over the state that it replies with. A reply that is refused here
 * is asked for again: it may have been overtaken.
 */
const sendAnswer: Send = async (services, dispatch, federation, now) => {
  const { org_id, workspace_id } = dispatch;
  const replica = await services.read.get(replicas, replicaId(workspace_id, org_id));
  if (replica === undefined || replica.stage === "offered" || replica.stage === "shared") return { kind: "done" };
  const { invitation_id, group_id } = replica;
  const body = { workspace_id, invitation_id, accept: replica.stage === "accepted", group_id };
  const route = gatewayContract.peerAnswer;
  const answer = await services.channels.call(services.read, federation, { route, body });
  if (answer.status !== route.status) {
    const outcome = unsuccessful(answer);
    if (outcome.kind === "refused") await giveUpAnswer(services, dispatch, outcome.code, now);
    return outcome;
  }
  const state = answer.body;
  if (state === undefined || state.workspace_id !== workspace_id) {
    return { kind: "retry", detail: "the partner's reply cannot be read" };
  }
  try {
    await services.organizationKeys.ensureKek(org_id);
    await checkState(services, federation, state);
    await services.transact(systemCall("system:outbox", org_id, now), async (unit) => {
      await applyState(services, unit, await federationOf(unit, federation.id), state);
    });
    return { kind: "done" };
  } catch (error) {
    if (!isCoded(error) || error.code.toUpperCase() !== error.code || error.code.endsWith("_UNAVAILABLE")) throw error;
    await services.refusals.note(services, federation, "answer", error.code, { workspace_id, detail: error.message });
    return { kind: "retry", detail: `the partner's reply was refused: ${error.code}` };
  }
};

/** The owner does not take the answer: there is nothing to be part of. */
async function giveUpAnswer(
  services: PartnerServices,
  { workspace_id, org_id }: Pick<Replica, "workspace_id" | "org_id">,
  code: string,
  now: number,
): Promise<void> {
  await services.transact(systemCall("system:outbox", org_id, now), async (unit) => {
    const replica = await unit.get(replicas, replicaId(workspace_id, org_id));
    if (replica === undefined || replica.stage === "shared") return;
    const invitation = await unit.get(invitations, receivedId(replica));
    if (invitation !== undefined) unit.put(invitations, invitation.id, takeBackAcceptance(invitation, code, now));
    await destroyReplica(services, unit, replica, "refused");
  });
}

/** Brings an organisation's signature for the deletion of a workspace to the owner's instance. */
const sendConsent: Send = async (services, { org_id, workspace_id }, federation) => {
  const consent = await services.read.get(deletionConsents, consentId(workspace_id, org_id));
  if (consent === undefined) return { kind: "done" };
  const { payload, signature } = consent;
  const body = { workspace_id, payload, signature };
  const answer = await services.channels.call(services.read, federation, { route: gatewayContract.peerDeletionConsent, body });
  return answer.status === 204 ? { kind: "done" } : unsuccessful(answer);
};

const sends: Readonly<Record<Dispatch["kind"], Send>> = { state: sendState, answer: sendAnswer, consent: sendConsent };

/**
 * The rounds of the outbox of dispatches. Two processes may try the same: the receiver takes each state once. An entry that fails
 * for whatever reason is put off, and the next of its lane is tried, unless the partner is not to be reached.
 */
export const dispatchLanes = () =>
  openLanes<Dispatch>({
    outbox: dispatches,
    laneOf: ({ federation_id }) => [federation_id],
    deliver: async (services, id, _entry, now) => {
      return reachesPartner(await deliverDispatch(services, id, now));
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
  const { waiting, delivery, event } = stepDispatch(dispatch, outcome, federation?.partner_org_id ?? "", now);
  const givenUp = delivery.kind === "refused" && outcome.kind === "retry";
  if (givenUp && dispatch.kind === "answer") await giveUpAnswer(services, dispatch, delivery.code, now);
  await services.transact(systemCall("system:outbox", dispatch.org_id, now), async (unit) => {
    const current = await unit.get(dispatches, id);
    if (current?.token !== dispatch.token) return;
    if (waiting === undefined) unit.delete(dispatches, id);
    else unit.put(dispatches, id, waiting);
    if (event !== undefined) unit.record(event);
  });
  return delivery;
}

async function attempt(
  services: PartnerServices,
  dispatch: Dispatch,
  federation: Federation | undefined,
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

type What = Pick<Dispatch, "kind" | "org_id" | "federation_id" | "workspace_id">;

/** Puts a dispatch into the outbox, in the transaction of its cause, where it is tried until the partner has it. Answers its id. */
export async function putDispatch(services: PartnerServices, unit: GatewayUnit, what: What): Promise<string> {
  const { now } = unit.call;
  const id = dispatchId(what);
  unit.put(dispatches, id, queueDispatch({ ...what, token: services.newId(now) }, await unit.get(dispatches, id), now));
  return id;
}

/** As {@link putDispatch}; the first try is made as soon as the transaction stands. */
export async function sendDispatch(services: PartnerServices, unit: GatewayUnit, what: What): Promise<void> {
  const { now } = unit.call;
  const id = await putDispatch(services, unit, what);
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

/** The share through which an organisation on another instance takes part; `undefined` for one that lives here. */
export async function shareOf(unit: GatewayUnit, workspace: string, org: string): Promise<Share | undefined> {
  const share = await unit.get(shares, shareId(workspace, org));
  return share?.stage === "ended" ? undefined : share;
}

/**
 * One step of a share, and the partner is told. Of an air-gapped workspace nothing leaves: its partners learn by bundles what they
 * are given.
 */
export async function stepAndTell(
  services: PartnerServices,
  unit: GatewayUnit,
  { mode }: Pick<Workspace, "mode">,
  share: Share,
  input: ShareInput,
): Promise<void> {
  const next = stepShare(share, input, unit.call.now);
  if (next === share) return;
  unit.put(shares, shareId(share.workspace_id, share.partner_org_id), next);
  if (mode === "airgap") return;
  const { org_id, federation_id, workspace_id } = next;
  await sendDispatch(services, unit, { kind: "state", org_id, federation_id, workspace_id });
}

/** Tells every partner that has to do with the workspace of a change: of it, or with `end` of its end. */
export async function announce(
  services: PartnerServices,
  unit: GatewayUnit,
  workspace: Pick<Workspace, "id" | "mode">,
  kind: "change" | "end" = "change",
): Promise<void> {
  for (const { partner_org_id } of await unit.list(shares, "by_workspace", [workspace.id])) {
    const share = await shareOf(unit, workspace.id, partner_org_id);
    if (share !== undefined) await stepAndTell(services, unit, workspace, share, { kind });
  }
}
