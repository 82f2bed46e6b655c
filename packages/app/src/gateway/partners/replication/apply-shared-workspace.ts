import type { PeerState } from "@seneschal/contract/gateway";
import { followOwner, invalidField, participationBegan, type Replica, refusal, requireKeyVersions } from "@seneschal/core/keys";
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
import { federations, replicaId, replicas, type StoredFederation } from "../collections.ts";
import { keysOfPartner } from "../federation/certified-keys.ts";
import { pinnedIssuer } from "../federation/pinned-bundle.ts";
import type { PartnerServices } from "../services.ts";
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

/** Two organisations here may take part in one workspace, if both mean the same owner by its name. */
async function ofAnotherOwner(
  { crypto }: PartnerServices,
  unit: GatewayUnit,
  federation: StoredFederation,
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
