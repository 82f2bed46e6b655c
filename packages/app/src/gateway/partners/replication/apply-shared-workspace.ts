import type { PeerState, ReplicatedWorkspace } from "@seneschal/contract/gateway";
import {
  invalidField,
  milliseconds,
  participates,
  type Replica,
  refusal,
  requireKeyVersions,
  requireRevision,
  timestamp,
  type Workspace,
} from "@seneschal/core/keys";
import { bytesEqual } from "@seneschal/crypto";
import type { GatewayUnit } from "../../ground/index.ts";
import {
  breathe,
  openKeys,
  type Participation,
  participationId,
  participations,
  stateHash,
  storedWorkspace,
  workspaces,
} from "../../workspaces/index.ts";
import { keysOfPartner } from "../federation/certified-keys.ts";
import { federations, type StoredFederation } from "../federation/collections.ts";
import { pinnedIssuer } from "../federation/pinned-bundle.ts";
import type { PartnerServices } from "../services.ts";
import { replicaId, replicas } from "./collections.ts";
import { offerOf } from "./describe.ts";
import { takePolicies } from "./take-policies.ts";

type SharedState = Extract<PeerState, { stage: "shared" }>;

/**
 * Takes over a workspace in which an organisation here takes part: its state, its policies, and its keys, wrapped anew. The policies were
 * compiled before.
 */
export async function applySharedWorkspace(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: StoredFederation,
  replica: Replica,
  state: SharedState,
): Promise<void> {
  const { org_id: org, partner_org_id: owner } = federation;
  const { workspace_id: id, workspace: pushed } = state;
  requireGenuine(pushed, id, owner, org);
  const existing = await unit.get(workspaces, id);
  if (existing !== undefined && existing.org_id !== owner) {
    throw refusal("CONFLICT", "a workspace of that id exists", { workspace_id: id });
  }
  const others = (await unit.list(participations, "by_workspace", [id])).filter((participation) => participation.org_id !== org);
  await requireSameOwner(services, unit, federation, others);
  const state_sha256 = stateHash(services.crypto, pushed);
  const siblings = await unit.list(replicas, "by_workspace", [id]);
  for (const sibling of siblings) requireRevision(sibling, { revision: pushed.revision, state_sha256 });
  if (existing !== undefined) requireForward(existing, pushed);

  const before = await unit.get(participations, participationId(id, org));
  const keys = await keysFrom(services, unit, federation, state);
  let deks: Record<string, string>;
  try {
    const inForce = existing?.dek_version ?? 0;
    deks = await wrapKeys(services, { id, org, before, others, inForce, next: pushed.dek_version }, keys);
  } finally {
    for (const dek of Object.values(keys)) dek.fill(0);
  }

  const at = timestamp(unit.call.now);
  // A time of elsewhere orders lists here: not into the future.
  const created_at = milliseconds(pushed.created_at) < unit.call.now ? pushed.created_at : at;
  const participation: Participation = {
    workspace_id: id,
    org_id: org,
    group_id: replica.group_id,
    created_at,
    deks,
    federation_id: federation.id,
  };
  unit.put(participations, participationId(id, org), participation);
  unit.put(workspaces, id, {
    ...storedWorkspace(pushed),
    replica: true,
    group_bindings: bindingsHere(pushed, [...others, participation]),
  });
  const retired = Object.assign({}, ...siblings.map(({ retired_policies }) => retired_policies));
  const retired_policies = await takePolicies(unit, owner, { workspace_id: id, retired_policies: retired }, state.policies);
  const { offer_until: _, ...known } = replica;
  unit.put(replicas, replicaId(id, org), {
    ...known,
    offer: offerOf(pushed),
    stage: "shared" as const,
    sequence: state.sequence,
    updated_at: at,
    revision: pushed.revision,
    state_sha256,
    retired_policies,
  });
  recordChanges(unit, org, before === undefined ? undefined : existing, pushed);
  recordLeaves(unit, others, existing, pushed);
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
  federation: StoredFederation,
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

/** Throws unless the workspace is what its owner may speak of, with the organisation among the participants. */
function requireGenuine(pushed: ReplicatedWorkspace, id: string, owner: string, org: string): void {
  if (pushed.id !== id) throw invalidField("workspace.id", "is not the workspace's");
  if (pushed.owner_org_id !== owner) {
    throw refusal("FORBIDDEN", "partners speak for their own workspaces only", { field: "workspace.owner_org_id" });
  }
  const orgs = pushed.participants.map(({ org_id }) => org_id);
  const owners = pushed.participants.filter(({ role }) => role === "owner").map(({ org_id }) => org_id);
  if (owners.length !== 1 || owners[0] !== owner || new Set(orgs).size !== orgs.length || !orgs.includes(org)) {
    throw invalidField("workspace.participants", "expected each once, the owner and this organisation among them");
  }
}

/** A change that was overtaken by a newer one is not taken over; what protects is not taken away. */
function requireForward(existing: Workspace, pushed: ReplicatedWorkspace): void {
  requireRevision({ revision: existing.revision }, { revision: pushed.revision, state_sha256: "" });
  if (existing.crk_protected && !pushed.crk_protected) {
    throw refusal("STATE_CONFLICT", "the protection by root keys is never lifted");
  }
  if (existing.status === "archived" && pushed.status !== "archived")
    throw refusal("STATE_CONFLICT", "an archive is never opened again");
}

/** Two organisations here may take part in one workspace, if both mean the same owner by its name. */
async function requireSameOwner(
  { crypto }: PartnerServices,
  unit: GatewayUnit,
  federation: StoredFederation,
  others: readonly Participation[],
): Promise<void> {
  for (const participation of others) {
    if (participation.federation_id === undefined) continue;
    const other = await unit.get(federations, participation.federation_id);
    const [ours, theirs] = [federation, other].map((one) =>
      one === undefined ? undefined : pinnedIssuer(crypto, one.partner_cert)?.der,
    );
    if (ours === undefined || theirs === undefined || !bytesEqual(ours, theirs)) {
      throw refusal("CONFLICT", "a workspace of that id exists", { workspace_id: participation.workspace_id });
    }
  }
}

/** Which group opens a workspace is for each organisation to say: the owner's word about organisations here does not count. */
function bindingsHere(pushed: ReplicatedWorkspace, here: readonly Participation[]): Record<string, string> {
  const bindings = { ...pushed.group_bindings };
  for (const { org_id, group_id } of here) {
    delete bindings[org_id];
    if (group_id !== null) bindings[org_id] = group_id;
  }
  return bindings;
}

/** What is said over one federation can end the part of another organisation here: it is told in its own log. */
function recordLeaves(
  unit: GatewayUnit,
  others: readonly Participation[],
  before: Workspace | undefined,
  { id, owner_org_id, revision, participants }: ReplicatedWorkspace,
): void {
  for (const { org_id } of others) {
    const took = before !== undefined && participates(before, org_id);
    if (!took || participants.some((participant) => participant.org_id === org_id)) continue;
    unit.record({
      type: "workspace.leave",
      org: org_id,
      workspace: id,
      metadata: { org_id, owner_org_id, revision, reason: "owner" },
    });
  }
}

function recordChanges(unit: GatewayUnit, org: string, before: Workspace | undefined, pushed: ReplicatedWorkspace): void {
  const of = { org, workspace: pushed.id };
  const { revision, dek_version, owner_org_id } = pushed;
  if (before === undefined) unit.record({ type: "workspace.join", ...of, metadata: { owner_org_id, revision, dek_version } });
  else {
    if (dek_version > before.dek_version) unit.record({ type: "key.rotate", ...of, metadata: { version: dek_version } });
    if (pushed.status !== before.status) unit.record({ type: "workspace.archive", ...of });
    if (pushed.expires_at !== before.expires_at) {
      unit.record({ type: "workspace.extend", ...of, metadata: { expires_at: pushed.expires_at } });
    }
    if (revision > before.revision) unit.record({ type: "workspace.update", ...of, metadata: { revision } });
  }
}
