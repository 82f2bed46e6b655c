import type { PeerState, ReplicatedPolicy } from "@seneschal/contract/gateway";
import {
  endReplica,
  type Federation,
  followOwner,
  followPolicies,
  invalidField,
  judgePush,
  type PolicyVersion,
  participationBegan,
  type Replica,
  type ReplicaEnd,
  receiveOffer,
  refusal,
  repeatOffer,
  replicaOfBundle,
  requireKeyVersions,
  retirePolicies,
  timestamp,
  type Workspace,
} from "@seneschal/core/keys";
import { bytesEqual } from "@seneschal/crypto";
import { isCoded } from "@seneschal/kernel";
import { type GatewayUnit, isLocal, type Reader } from "../../ground/index.ts";
import {
  admissions,
  type BundleContent,
  breathe,
  consentId,
  dekUseId,
  dekUseRecords,
  deletionConsents,
  invitations,
  openKeys,
  type Participation,
  participationId,
  participations,
  policies,
  requireCompiles,
  stateHash,
  storedWorkspace,
  workspaces,
} from "../../workspaces/index.ts";
import { dispatches, dispatchId, federations, receivedId, replicaId, replicas } from "../collections.ts";
import { requireRoomForOffer } from "../federation/budgets.ts";
import { pinnedIssuer } from "../federation/certificates.ts";
import { findFederation } from "../federation/find.ts";
import { keysOfPartner } from "../federation/identity.ts";
import type { PartnerServices } from "../services.ts";

/** Where a policy of another instance stands here. Its owner chose the id: it is one within the workspace only. */
const placeOf = (workspace: string, policy: string): string => `${workspace}/${policy}`;

/** A replica's policy where it stands now, or where such policies stood before they had places of their own. */
async function standing(read: Reader, owner: string, workspace: string, id: string) {
  const known = await read.get(policies, placeOf(workspace, id));
  if (known !== undefined) return { place: placeOf(workspace, id), known };
  const before = await read.get(policies, id);
  return before?.org_id === owner && before.workspace_id === workspace ? { place: id, known: before } : undefined;
}

/**
 * Throws `POLICY_INVALID` naming the first policy of a workspace from elsewhere that does not compile, or may not be kept: asked before
 * anything is taken over, under the bounds of every policy, at the cost of the partner's own budget. What is known here was asked before.
 */
async function requirePoliciesCompile(
  services: PartnerServices,
  { id: federation, partner_org_id: owner }: Pick<Federation, "id" | "partner_org_id">,
  workspace: string,
  pushed: readonly ReplicatedPolicy[],
): Promise<void> {
  for (const { id, name, rego } of pushed) {
    if ((await standing(services.read, owner, workspace, id))?.known.rego === rego) continue;
    await requireCompiles(services, { name, rego, workspace }, `partner ${federation}`).catch((error: unknown) => {
      throw isCoded(error, "POLICY_INVALID")
        ? refusal("POLICY_INVALID", error.message, { ...error.details, policy_id: id })
        : error;
    });
  }
}

/**
 * Makes the policies of a workspace from elsewhere those that its owner names, and tells the log of each of `orgs`, which they bind; answers the versions of those that it took away so far.
 * Throws `STATE_CONFLICT` for a version that goes back or changes its text, also by way of having been taken away.
 */
async function takePolicies(
  unit: GatewayUnit,
  owner: string,
  replica: Pick<Replica, "workspace_id" | "retired_policies">,
  pushed: readonly ReplicatedPolicy[],
  orgs: readonly string[],
): Promise<Readonly<Record<string, number>>> {
  const at = timestamp(unit.call.now);
  const { workspace_id: workspace, retired_policies: retired = {} } = replica;
  const bound = (await unit.list(policies, "by_workspace", [workspace])).filter(({ org_id }) => org_id === owner);
  const { changed, gone } = followPolicies(bound, retired, pushed);
  const record = (type: "policy.create" | "policy.update" | "policy.delete", { id, version }: PolicyVersion): void => {
    for (const org of orgs) unit.record({ type, org, workspace, metadata: { policy_id: id, version, owner_org_id: owner } });
  };
  await dropPolicies(unit, owner, workspace, gone);
  for (const policy of gone) record("policy.delete", policy);
  for (const policy of changed) {
    const found = await standing(unit, owner, workspace, policy.id);
    const known = found?.known;
    unit.put(policies, found?.place ?? placeOf(workspace, policy.id), {
      ...policy,
      org_id: owner,
      workspace_id: workspace,
      created_by: known?.created_by ?? unit.call.principal.id,
      created_at: known?.created_at ?? at,
      updated_at: at,
    });
    record(known === undefined ? "policy.create" : "policy.update", policy);
  }
  return retirePolicies(retired, gone);
}

/** Takes policies of a replica away. */
async function dropPolicies(
  unit: GatewayUnit,
  owner: string,
  workspace: string,
  gone: readonly { readonly id: string }[],
): Promise<void> {
  for (const { id } of gone) {
    const found = await standing(unit, owner, workspace, id);
    if (found !== undefined) unit.delete(policies, found.place);
  }
}

/**
 * Ends an organisation's part in a workspace of another instance: its wrapped keys are destroyed, its admissions revoked, an open
 * invitation with them. With the last organisation here the workspace is gone.
 */
export async function destroyReplica(
  services: PartnerServices,
  unit: GatewayUnit,
  replica: Replica,
  reason: ReplicaEnd,
): Promise<void> {
  const { workspace_id: id, org_id: org, federation_id } = replica;
  const { principal, now } = unit.call;
  const invited = await unit.get(invitations, receivedId(replica));
  const active = await unit.list(admissions, "active", [id, org]);
  const ended = endReplica(replica, { invitation: invited, admissions: active, by: principal.id }, reason, now);
  if (ended.invitation !== undefined) unit.put(invitations, ended.invitation.id, ended.invitation);
  for (const admission of ended.admissions) unit.put(admissions, admission.id, admission);
  for (const kind of ["answer", "consent"] as const) {
    unit.delete(dispatches, dispatchId({ kind, federation_id, workspace_id: id }));
  }
  unit.delete(deletionConsents, consentId(id, org));
  unit.delete(replicas, replicaId(id, org));
  await vacate(services, unit, id, org);
  unit.record(ended.event);
}

/** Destroys the organisation's participation, and the workspace with the last one. */
async function vacate(services: PartnerServices, unit: GatewayUnit, id: string, org: string): Promise<void> {
  if ((await unit.get(participations, participationId(id, org))) === undefined) return;
  unit.delete(participations, participationId(id, org));
  unit.invalidate(() => services.deks.forget(id));
  const workspace = await unit.get(workspaces, id);
  const others = (await unit.list(participations, "by_workspace", [id])).some((participation) => participation.org_id !== org);
  if (workspace === undefined || others) return;
  await dropPolicies(unit, workspace.org_id, id, await unit.list(policies, "by_workspace", [id]));
  for (let version = 1; version <= workspace.dek_version; version++) unit.delete(dekUseRecords, dekUseId(id, version));
  unit.delete(workspaces, id);
}

type SharedState = Extract<PeerState, { stage: "shared" }>;

/**
 * Takes over a workspace in which an organisation here takes part: its state, its policies, and its keys, wrapped anew. The policies were
 * compiled before.
 */
async function applySharedWorkspace(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: Federation,
  replica: Replica,
  state: SharedState,
): Promise<void> {
  const { org_id: org, partner_org_id: owner } = federation;
  const { workspace_id: id, workspace: pushed } = state;
  const { now } = unit.call;
  const existing = await unit.get(workspaces, id);
  const others = (await unit.list(participations, "by_workspace", [id])).filter((participation) => participation.org_id !== org);
  const before = await unit.get(participations, participationId(id, org));
  const siblings = await unit.list(replicas, "by_workspace", [id]);
  const facts = {
    replica,
    existing,
    joined: before !== undefined,
    others,
    foreign: await ofAnotherOwner(services, unit, federation, others),
    siblings,
  };
  const told = { workspace: storedWorkspace(pushed), sequence: state.sequence, state_sha256: stateHash(services.crypto, pushed) };
  const followed = followOwner(facts, told, now);

  const keys = await keysFrom(services, unit, federation, state);
  let deks: Record<string, string>;
  try {
    const inForce = existing?.dek_version ?? 0;
    deks = await wrapKeys(services, { id, org, before, others, inForce, next: pushed.dek_version }, keys);
  } finally {
    for (const dek of Object.values(keys)) dek.fill(0);
  }
  const participation: Participation = {
    workspace_id: id,
    org_id: org,
    group_id: replica.group_id,
    created_at: participationBegan(pushed, now),
    deks,
    federation_id: federation.id,
  };
  unit.put(participations, participationId(id, org), participation);
  unit.put(workspaces, id, followed.workspace);
  const retired = Object.assign({}, ...siblings.map(({ retired_policies }) => retired_policies));
  const of = { workspace_id: id, retired_policies: retired };
  const retired_policies = await takePolicies(unit, owner, of, state.policies, followed.orgs);
  unit.put(replicas, replicaId(id, org), { ...followed.replica, retired_policies });
  for (const event of followed.events) unit.record(event);
}

/**
 * The participation's wrapped keys with those that are new. Throws `STATE_CONFLICT` when a version is missing, goes back or changed, or is another
 * key than an organisation here was given under that number.
 */
async function wrapKeys(
  { deks: ring }: PartnerServices,
  of: {
    readonly id: string;
    readonly org: string;
    readonly before: Participation | undefined;
    /** Of other organisations here. */
    readonly others: readonly Participation[];
    readonly inForce: number;
    readonly next: number;
  },
  keys: Readonly<Record<string, Uint8Array>>,
): Promise<Record<string, string>> {
  const { id, org, before, others, inForce, next } = of;
  const known = Object.keys(before?.deks ?? {}).map(Number);
  requireKeyVersions(known, before === undefined ? 0 : inForce, Object.keys(keys).map(Number), next);
  const deks: Record<string, string> = { ...before?.deks };
  let step = 0;
  for (const [text, dek] of Object.entries(keys)) {
    await breathe(++step);
    const version = Number(text);
    for (const participation of before?.deks[text] === undefined ? others : [before]) {
      const held = await ring.open(participation, version);
      const same = held === undefined || bytesEqual(held, dek);
      held?.fill(0);
      if (!same) throw refusal("STATE_CONFLICT", "a key version does not change", { version });
    }
    deks[text] ??= await ring.wrap(dek, id, org, version);
  }
  return deks;
}

async function keysFrom(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: Federation,
  { workspace_id, workspace, deks }: SharedState,
): Promise<Readonly<Record<string, Uint8Array>>> {
  const sender = keysOfPartner(federation);
  if (sender === undefined) throw refusal("STATE_CONFLICT", "the owner's federation certificate vouches for no keys");
  const opened = await openKeys(services, unit, {
    workspace: workspace_id,
    exporter: federation.partner_org_id,
    recipient: federation.org_id,
    sealed: deks,
    senderKey: sender.exchange,
    dek_version: workspace.dek_version,
  });
  if (opened === undefined) throw invalidField("deks", "are not sealed for this organisation by the owner");
  return opened;
}

/** Two organisations here may take part in one workspace, if both mean the same owner by its name. */
async function ofAnotherOwner(
  { crypto }: PartnerServices,
  unit: GatewayUnit,
  federation: Federation,
  others: readonly Participation[],
): Promise<boolean> {
  for (const { federation_id } of others) {
    if (federation_id === undefined) continue;
    const other = await unit.get(federations, federation_id);
    const [ours, theirs] = [federation, other].map((one) =>
      one === undefined ? undefined : pinnedIssuer(crypto, one.partner_cert)?.der,
    );
    if (ours === undefined || theirs === undefined || !bytesEqual(ours, theirs)) return true;
  }
  return false;
}

/**
 * Looks into what an owner's instance says before anything of it is taken over: policies are compiled here, outside of the transaction.
 * Throws `POLICY_INVALID`.
 */
export async function checkState(services: PartnerServices, federation: Federation, state: PeerState): Promise<void> {
  if (state.stage !== "shared") return;
  const known = await services.read.get(replicas, replicaId(state.workspace_id, federation.org_id));
  if (known?.federation_id !== federation.id || state.sequence <= known.sequence) return;
  await requirePoliciesCompile(services, federation, state.workspace_id, state.policies);
}

/**
 * Takes over what the owner's instance says of a workspace, as far as it may say so: about its own workspaces, never backwards, and
 * nothing about a membership that nobody here accepted. Answers up to where is known now. Throws `FORBIDDEN`, `CONFLICT`,
 * `STATE_CONFLICT`; then nothing changed.
 */
export async function applyState(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: Federation,
  state: PeerState,
): Promise<number> {
  const { workspace_id: id, sequence } = state;
  const { org_id: org, partner_org_id: owner } = federation;
  if (await isLocal(unit, owner)) {
    throw refusal("CONFLICT", "an organisation of that id lives on this instance", { owner_org_id: owner });
  }
  const replica = await unit.get(replicas, replicaId(id, org));
  // What is another partner's, or somebody's here, does not exist for this one: it learns no more than of an id that nobody has.
  const known = replica?.federation_id === federation.id ? replica : undefined;
  const existing = await unit.get(workspaces, id);
  const taken = (replica !== undefined && known === undefined) || (existing !== undefined && existing.org_id !== owner);
  const invitation_id = state.stage === "offered" ? { invitation_id: state.invitation.id } : {};
  switch (judgePush(known, { sequence, stage: state.stage, ...invitation_id })) {
    case "stale":
      return known?.sequence ?? sequence;
    case "end":
      if (known !== undefined) await destroyReplica(services, unit, known, "owner");
      return sequence;
    case "replace":
      if (known !== undefined) await destroyReplica(services, unit, known, "owner");
      await takeOffer(services, unit, federation, undefined, state);
      return sequence;
    case "offer":
      if (!taken) await takeOffer(services, unit, federation, known, state);
      return sequence;
    case "share":
      if (known !== undefined && state.stage === "shared") await applySharedWorkspace(services, unit, federation, known, state);
      return sequence;
  }
}

/** An invitation from elsewhere, which keeps its id if nothing here has it; or the one that is known, told again. */
async function takeOffer(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: Federation,
  known: Replica | undefined,
  state: PeerState,
): Promise<void> {
  if (state.stage !== "offered") return;
  const { workspace_id, invitation } = state;
  const { id: federation_id, org_id, partner_org_id: owner_org_id } = federation;
  const { now } = unit.call;
  if (known !== undefined) {
    unit.put(replicas, replicaId(workspace_id, org_id), repeatOffer(known, state, now));
    return;
  }
  const free = (await unit.get(invitations, invitation.id)) === undefined;
  const facts = { id: free ? invitation.id : services.newId(now), lifetime: services.config.lifetimes.invitation };
  const received = receiveOffer({ federation_id, org_id, owner_org_id }, state, facts, now);
  if (received === undefined) return;
  await requireRoomForOffer(services, unit, federation);
  unit.insert(invitations, received.invitation.id, received.invitation);
  unit.put(replicas, replicaId(workspace_id, org_id), received.replica);
  unit.record(received.event);
}

/**
 * Takes over a workspace of a federated partner from a bundle that was carried here and checked: the import is the acceptance. A later
 * bundle of the owner brings it up to date. `undefined`: the caller is not federated with the owner. Throws `CONFLICT` for one that is no newer than what is known.
 */
export async function takeBundle(
  services: PartnerServices,
  unit: GatewayUnit,
  content: BundleContent,
): Promise<Workspace | undefined> {
  const federation = await findFederation(unit, content.workspace.owner_org_id, unit.call.principal.org);
  if (federation?.status !== "active") return undefined;
  const { org_id, partner_org_id: owner_org_id, id: federation_id } = federation;
  const { workspace, policies, export_dek, exporter_org } = content;
  const deks = export_dek[org_id];
  const facts = {
    id: services.newId(unit.call.now),
    known: await unit.get(replicas, replicaId(workspace.id, org_id)),
    existing: await unit.get(workspaces, workspace.id),
  };
  const carried = { workspace, exporter_org, sealed: deks !== undefined };
  const replica = replicaOfBundle({ org_id, owner_org_id, federation_id }, carried, facts, unit.call.now);
  const { id: workspace_id } = workspace;
  const shared = { workspace, policies: [...policies], deks: deks ?? "" };
  const state = { workspace_id, sequence: replica.sequence, stage: "shared" as const, ...shared };
  await applySharedWorkspace(services, unit, federation, replica, state);
  const taken = await unit.get(workspaces, workspace_id);
  if (taken === undefined) throw new Error(`workspace ${workspace_id} was not taken over`);
  return taken;
}
