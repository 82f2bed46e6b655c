import { timestamp } from "@seneschal/core/keys";
import { type Call, collection, type GatewayUnit, type Reader, type Unit } from "../../ground/index.ts";
import { revokeCertificate } from "../certificates/revoke.ts";
import { endDevice } from "../devices/end.ts";
import { leave, removeGroup } from "../groups/leave.ts";
import { roleAssignments, roles } from "../roles/collections.ts";
import { removeService } from "../service-identities/remove.ts";
import type { PeopleServices } from "../services.ts";
import { removeUser } from "../users/remove.ts";

/** Something that was made, changed or removed under an emergency token. */
export interface EmergencyAct {
  readonly emergency_id: string;
  readonly act: "made" | "changed" | "removed";
  readonly kind: string;
  /** Of the thing, within its kind. */
  readonly resource_id: string;
  readonly at: string;
  /** When it was ended; `null` while it stands, or if it is not for {@link revokeActs} to end. */
  readonly ended_at: string | null;
}

export const emergencyActs = collection<EmergencyAct>("emergency_acts", {
  by_emergency: { key: (act) => [act.emergency_id, act.at, act.kind, act.resource_id] },
});

/** Takes back what was made. What is gone already is left alone. */
type End = (services: PeopleServices, unit: GatewayUnit, org: string, id: string) => Promise<void>;

const pair = (id: string): readonly [string, string] => {
  const at = id.indexOf("/");
  return [id.slice(0, at), id.slice(at + 1)];
};

/**
 * What outlives an emergency, by the collection that keeps it. A kind without an end is listed for people to judge: it holds data,
 * or others outside rely on it.
 */
const kinds: Readonly<Record<string, { readonly kind: string; readonly end?: End }>> = {
  services: { kind: "service", end: removeService },
  certificates: { kind: "certificate", end: async (_, unit, __, serial) => void (await revokeCertificate(unit, serial)) },
  workspace_admissions: { kind: "admission", end: ({ admissions }, unit, _, id) => admissions.end(unit, id) },
  users: { kind: "user", end: removeUser },
  devices: { kind: "device", end: endDevice },
  groups: { kind: "group", end: removeGroup },
  group_members: {
    kind: "group-member",
    async end(services, unit, org, id) {
      const [group, identity] = pair(id);
      await leave(services, unit, { id: group, org_id: org }, identity);
    },
  },
  roles: {
    kind: "role",
    async end(_, unit, __, id) {
      for (const { identity_id } of await unit.list(roleAssignments, "by_role", [id])) endAssignment(unit, id, identity_id);
      if ((await unit.get(roles, id)) !== undefined) unit.delete(roles, id);
    },
  },
  role_assignments: {
    kind: "role-assignment",
    async end(_, unit, __, id) {
      if ((await unit.get(roleAssignments, id)) !== undefined) endAssignment(unit, ...pair(id));
    },
  },
  workspaces: { kind: "workspace" },
  workspace_invitations: { kind: "invitation" },
  policies: { kind: "policy" },
  rotation_policies: { kind: "rotation-policy" },
  edges: { kind: "edge" },
  federations: { kind: "federation" },
  backups: { kind: "backup" },
  join_requests: { kind: "join-request" },
};

function endAssignment(unit: GatewayUnit, role_id: string, identity_id: string): void {
  unit.delete(roleAssignments, `${role_id}/${identity_id}`);
  unit.record({ type: "role.unassign", metadata: { role_id, identity_id } });
}

const ends = new Map(Object.values(kinds).flatMap(({ kind, end }) => (end === undefined ? [] : [[kind, end] as const])));

/** The unit of a call under an emergency token: every write to what outlives it is remembered, in the same transaction. */
export function rememberingUnit(unit: Unit, { principal, now }: Call): Unit {
  const { emergencyId: emergency } = principal;
  if (emergency === undefined) return unit;
  const remember = (act: EmergencyAct["act"], name: string, resource_id: string): void => {
    const known = kinds[name];
    if (known === undefined) return;
    const doc = { emergency_id: emergency, act, kind: known.kind, resource_id, at: timestamp(now), ended_at: null };
    unit.put(emergencyActs, `${emergency}/${name}/${resource_id}/${act}`, doc);
  };
  return {
    ...unit,
    insert(into, id, doc) {
      remember("made", into.name, id);
      unit.insert(into, id, doc);
    },
    put(into, id, doc) {
      remember("changed", into.name, id);
      unit.put(into, id, doc);
    },
    delete(from, id) {
      remember("removed", from.name, id);
      unit.delete(from, id);
    },
  };
}

/** What was done under an emergency's token, oldest first, and whether it can be ended from here. */
export async function actsOf(read: Reader, emergency: string) {
  const acts = await read.list(emergencyActs, "by_emergency", [emergency]);
  return acts.map(({ act, kind, resource_id, at, ended_at }) => {
    return { act, kind, resource_id, at, ended_at, revocable: act === "made" && ended_at === null && ends.has(kind) };
  });
}

/** Ends everything that was made under an emergency's token and can be ended. Answers how much that was. */
export async function revokeActs(services: PeopleServices, unit: GatewayUnit, org: string, emergency: string): Promise<number> {
  let ended = 0;
  for (const listed of await unit.list(emergencyActs, "by_emergency", [emergency])) {
    const end = ends.get(listed.kind);
    if (listed.act !== "made" || listed.ended_at !== null || end === undefined) continue;
    const name = Object.entries(kinds).find(([, { kind }]) => kind === listed.kind)?.[0];
    await end(services, unit, org, listed.resource_id);
    unit.put(emergencyActs, `${emergency}/${name}/${listed.resource_id}/made`, { ...listed, ended_at: timestamp(unit.call.now) });
    ended += 1;
  }
  return ended;
}
