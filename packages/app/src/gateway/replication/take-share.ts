import type { PeerState, TravellingWorkspace } from "@seneschal/contract/gateway";
import { invalidField, type Replica, refusal, requireKeyVersions, timestamp, type Workspace } from "@seneschal/core/keys";
import { bytesEqual } from "@seneschal/crypto";
import type { GatewayUnit } from "../call.ts";
import { keysOfPartner } from "../federation/certified-keys.ts";
import { federations, type StoredFederation } from "../federation/collections.ts";
import { pinnedIssuer } from "../federation/pinned-bundle.ts";
import type { GatewayServices } from "../services.ts";
import { type Seat, seatId, seats, workspaces } from "../workspaces/collections.ts";
import { openKeys } from "../workspaces/sealed-keys.ts";
import { arrived } from "../workspaces/travelling.ts";
import { replicaId, replicas } from "./collections.ts";
import { offerOf } from "./describe.ts";
import { takePolicies } from "./take-policies.ts";

type SharedState = Extract<PeerState, { stage: "shared" }>;

/** Takes over a workspace in which an organisation here takes part: its state, its policies, and its keys, wrapped anew. */
export async function takeShare(
  services: GatewayServices,
  unit: GatewayUnit,
  federation: StoredFederation,
  replica: Replica,
  state: SharedState,
): Promise<void> {
  const { org_id: org, partner_org_id: owner } = federation;
  const { workspace_id: id, workspace: said } = state;
  requireGenuine(said, id, owner, org);
  const existing = await unit.get(workspaces, id);
  await requireSameOwner(services, unit, federation, id, org);
  if (existing !== undefined) requireForward(existing, said);

  const before = await unit.get(seats, seatId(id, org));
  const keys = await keysFrom(services, unit, federation, state);
  let deks: Record<string, string>;
  try {
    deks = await wrapKeys(services, { id, org, before, inForce: existing?.dek_version ?? 0, next: said.dek_version }, keys);
  } finally {
    for (const dek of Object.values(keys)) dek.fill(0);
  }

  const at = timestamp(unit.call.now);
  const seat: Seat = {
    ...{ workspace_id: id, org_id: org, group_id: replica.group_id, created_at: said.created_at, deks },
    federation_id: federation.id,
  };
  unit.put(seats, seatId(id, org), seat);
  unit.put(workspaces, id, { ...arrived(said), group_bindings: await bindingsHere(unit, said, seat) });
  await takePolicies(unit, owner, id, state.policies);
  unit.put(replicas, replicaId(id, org), {
    ...{ ...replica, offer: offerOf(said), stage: "shared" as const, sequence: state.sequence, updated_at: at },
  });
  recordChanges(unit, org, before === undefined ? undefined : existing, said);
}

/** The seat's wrapped keys with those that are new. Throws `STATE_CONFLICT` when a version is missing, goes back or changed. */
async function wrapKeys(
  { deks: ring }: GatewayServices,
  of: {
    readonly id: string;
    readonly org: string;
    readonly before: Seat | undefined;
    readonly inForce: number;
    readonly next: number;
  },
  keys: Readonly<Record<string, Uint8Array>>,
): Promise<Record<string, string>> {
  const { id, org, before, inForce, next } = of;
  const known = Object.keys(before?.deks ?? {}).map(Number);
  requireKeyVersions(known, before === undefined ? 0 : inForce, Object.keys(keys).map(Number), next);
  const deks: Record<string, string> = { ...before?.deks };
  for (const [version, dek] of Object.entries(keys)) {
    const own = before === undefined ? undefined : await ring.open(before, Number(version));
    const same = own === undefined || bytesEqual(own, dek);
    own?.fill(0);
    if (!same) throw refusal("STATE_CONFLICT", "a key version does not change", { version: Number(version) });
    deks[version] ??= await ring.wrap(dek, id, org, Number(version));
  }
  return deks;
}

async function keysFrom(
  services: GatewayServices,
  unit: GatewayUnit,
  federation: StoredFederation,
  { workspace_id, workspace, deks }: SharedState,
): Promise<Readonly<Record<string, Uint8Array>>> {
  const sender = keysOfPartner(federation);
  if (sender === undefined) throw refusal("STATE_CONFLICT", "the owner's federation certificate vouches for no keys");
  const opened = await openKeys(services, unit, {
    ...{ workspace: workspace_id, exporter: federation.partner_org_id, recipient: federation.org_id },
    ...{ sealed: deks, senderKey: sender.exchange, dek_version: workspace.dek_version },
  });
  if (opened === undefined) throw invalidField("deks", "are not sealed for this organisation by the owner");
  return opened;
}

/** Throws unless the workspace is what its owner may speak of, with the organisation among the participants. */
function requireGenuine(said: TravellingWorkspace, id: string, owner: string, org: string): void {
  if (said.id !== id) throw invalidField("workspace.id", "is not the workspace's");
  if (said.owner_org_id !== owner) {
    throw refusal("FORBIDDEN", "partners speak for their own workspaces only", { field: "workspace.owner_org_id" });
  }
  const orgs = said.participants.map(({ org_id }) => org_id);
  const owners = said.participants.filter(({ role }) => role === "owner").map(({ org_id }) => org_id);
  if (owners.length !== 1 || owners[0] !== owner || new Set(orgs).size !== orgs.length || !orgs.includes(org)) {
    throw invalidField("workspace.participants", "expected each once, the owner and this organisation among them");
  }
}

/** A change that was overtaken by a newer one is not taken over; what protects is not taken away. */
function requireForward(existing: Workspace, said: TravellingWorkspace): void {
  if (said.revision < existing.revision) {
    throw refusal("STATE_CONFLICT", "revisions do not go back", { known: existing.revision, pushed: said.revision });
  }
  if (existing.crk_protected && !said.crk_protected) {
    throw refusal("STATE_CONFLICT", "the protection by root keys is never lifted");
  }
  if (existing.status === "archived" && said.status !== "archived")
    throw refusal("STATE_CONFLICT", "an archive is never opened again");
}

/** Two organisations here may take part in one workspace, if both mean the same owner by its name. */
async function requireSameOwner(
  { crypto }: GatewayServices,
  unit: GatewayUnit,
  federation: StoredFederation,
  workspace: string,
  org: string,
): Promise<void> {
  for (const seat of await unit.list(seats, "by_workspace", [workspace])) {
    if (seat.org_id === org || seat.federation_id === undefined) continue;
    const other = await unit.get(federations, seat.federation_id);
    const [ours, theirs] = [federation, other].map((one) =>
      one === undefined ? undefined : pinnedIssuer(crypto, one.partner_cert)?.der,
    );
    if (ours === undefined || theirs === undefined || !bytesEqual(ours, theirs)) {
      throw refusal("CONFLICT", "a workspace of that id exists", { workspace_id: workspace });
    }
  }
}

/** Which group opens a workspace is for each organisation to say: the owner's word about organisations here does not count. */
async function bindingsHere(unit: GatewayUnit, said: TravellingWorkspace, seat: Seat): Promise<Record<string, string>> {
  const bindings = { ...said.group_bindings };
  for (const other of [
    ...(await unit.list(seats, "by_workspace", [said.id])).filter(({ org_id }) => org_id !== seat.org_id),
    seat,
  ]) {
    delete bindings[other.org_id];
    if (other.group_id !== null) bindings[other.org_id] = other.group_id;
  }
  return bindings;
}

function recordChanges(unit: GatewayUnit, org: string, before: Workspace | undefined, said: TravellingWorkspace): void {
  const of = { org, workspace: said.id };
  const { revision, dek_version, owner_org_id } = said;
  if (before === undefined) unit.record({ type: "workspace.join", ...of, metadata: { owner_org_id, revision, dek_version } });
  else {
    if (dek_version > before.dek_version) unit.record({ type: "key.rotate", ...of, metadata: { version: dek_version } });
    if (said.status !== before.status) unit.record({ type: "workspace.archive", ...of });
    if (said.expires_at !== before.expires_at) {
      unit.record({ type: "workspace.extend", ...of, metadata: { expires_at: said.expires_at } });
    }
    if (revision > before.revision) unit.record({ type: "workspace.update", ...of, metadata: { revision } });
  }
}
