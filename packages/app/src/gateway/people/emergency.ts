import type { Handlers, Principal } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  emergencyEnd,
  emergencyStatus,
  isPast,
  lastMoment,
  notFound,
  type Person,
  refusal,
  requestEmergency,
  requireNewVoice,
  requireNoneOpen,
  stepEmergency,
  timestamp,
} from "@seneschal/core/keys";
import {
  type Call,
  claimOf,
  type EntityReading,
  type GatewayUnit,
  listed,
  ownOrganization,
  type Reader,
  type Unit,
  utf8,
} from "../ground/index.ts";
import { revokeCertificate } from "./certificates.ts";
import {
  type EmergencyAct,
  emergencies,
  emergencyActs,
  roleAssignments,
  roles,
  type StoredEmergency,
  subjectKey,
  users,
} from "./collections.ts";
import { endDevice } from "./devices.ts";
import { leave, removeGroup } from "./groups.ts";
import { identityKinds, invalidToken, personCalling, personOf, requireAnother, requireRoom } from "./identities.ts";
import { removeService } from "./service-identities.ts";
import type { PeopleServices } from "./services.ts";
import { removeUser } from "./users.ts";

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
async function actsOf(read: Reader, emergency: string) {
  const acts = await read.list(emergencyActs, "by_emergency", [emergency]);
  return acts.map(({ act, kind, resource_id, at, ended_at }) => {
    return { act, kind, resource_id, at, ended_at, revocable: act === "made" && ended_at === null && ends.has(kind) };
  });
}

/** Ends everything that was made under an emergency's token and can be ended. Answers how much that was. */
async function revokeActs(services: PeopleServices, unit: GatewayUnit, org: string, emergency: string): Promise<number> {
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

/** Ends a request that nobody decided, or a token that ran out. What is not due stays as it is. */
export async function expireEmergency(unit: GatewayUnit, id: string): Promise<void> {
  const access = await unit.get(emergencies, id);
  const end = access === undefined ? null : emergencyEnd(access);
  if (access === undefined || end === null || !isPast(end, unit.call.now)) return;
  const { state } = stepEmergency(access, { kind: "expire" }, lastMoment(end));
  unit.put(emergencies, id, { ...access, ...state, token_hash: null });
  unit.record({
    type: "emergency.complete",
    org: access.org_id,
    metadata: { emergency_id: id, status: state.status, was: access.status },
  });
}

/** How emergency tokens begin. */
export const emergencyTokenPrefix = "sene_";

/** What is kept of an emergency token. */
function emergencyTokenHash({ crypto }: PeopleServices, token: string): string {
  return Buffer.from(crypto.hash("sha256", utf8(token))).toString("hex");
}

/** A fresh token of 256 bits. */
function newEmergencyToken({ random }: PeopleServices): string {
  return `${emergencyTokenPrefix}${Buffer.from(random(32)).toString("base64url")}`;
}

/**
 * Whom an emergency token stands for: its requester, as super admin. Throws `invalid_token` for one that is unknown, over
 * or revoked, and for a requester who was disabled or removed meanwhile; it does not say which.
 */
export async function principalOfEmergencyToken(
  services: PeopleServices,
  token: string,
  now: number,
): Promise<{ readonly principal: Principal; readonly access: StoredEmergency }> {
  const { read } = services;
  const [access] = await read.list(emergencies, "by_token", [emergencyTokenHash(services, token)], { limit: 1 });
  if (access === undefined || emergencyStatus(access, now) !== "approved") throw invalidToken("emergency token");
  if (!(await mayAct(read, access, now))) throw invalidToken("emergency token");
  const principal: Principal = {
    id: access.requested_by,
    type: "emergency",
    org: access.org_id,
    roles: ["super_admin"],
    scopes: [],
    method: "token",
    emergencyId: access.id,
  };
  return { principal, access };
}

/** The requester is there and not disabled. A user may be known by its identity provider only. */
async function mayAct(
  read: Reader,
  { org_id: org, requested_by: id, requester_type: type }: StoredEmergency,
  now: number,
): Promise<boolean> {
  const [user] = await read.list(users, "by_subject", subjectKey(org, id), { limit: 1 });
  if (user?.active === false) return false;
  for (const [kind, finder] of Object.entries(identityKinds)) {
    const known = await finder?.find(read, id);
    if (known?.org === org ? !known.isActive(now) : kind === type && type !== "user") return false;
  }
  return true;
}

type Routes = Pick<
  GatewayContract,
  | "requestEmergencyAccess"
  | "listEmergencyAccess"
  | "getEmergencyAccess"
  | "approveEmergencyAccess"
  | "denyEmergencyAccess"
  | "completeEmergencyAccess"
  | "verifyEmergencyAccess"
  | "revokeEmergencyActs"
>;

const offices = new Set(["super_admin", "security_admin", "auditor"]);

function readsAll(principal: Principal): boolean {
  return principal.roles.some((role) => offices.has(role));
}

/** A request that the caller may see: every one of the organisation, or the own ones. */
async function find(read: Reader, id: string, principal: Principal): Promise<StoredEmergency> {
  const access = await read.get(emergencies, id);
  const visible = access?.org_id === principal.org && (readsAll(principal) || access.requested_by === principal.id);
  if (access === undefined || !visible) throw notFound("request");
  return access;
}

function view(access: StoredEmergency, now: number) {
  return { ...access, approved_by: [...access.approved_by], status: emergencyStatus(access, now) };
}

/** The same with what was done under its token. */
async function wholeView(read: Reader, access: StoredEmergency, now: number) {
  return { ...view(access, now), acts: await actsOf(read, access.id) };
}

/** The person who decides: another than the requester. */
async function requireDecider(unit: GatewayUnit, access: StoredEmergency): Promise<Person> {
  const caller = await personCalling(unit, unit.call.principal);
  const requester = await personOf(unit, access.org_id, access.requester);
  requireAnother(caller, [requester], "nobody decides their own request");
  return caller;
}

/** Those whose approvals count, as they are known now. */
function approversOf(unit: GatewayUnit, { org_id, approvers, approved_by }: StoredEmergency): Promise<readonly Person[]> {
  return Promise.all(approvers.filter(({ id }) => approved_by.includes(id)).map((approver) => personOf(unit, org_id, approver)));
}

/** One person's decision. */
async function decide(services: PeopleServices, call: Call, id: string, kind: "approve" | "deny", reason: string | undefined) {
  return services.transact(call, async (unit) => {
    const access = await find(unit, id, call.principal);
    const caller = await requireDecider(unit, access);
    const { state } = stepEmergency(access, { kind, by: caller.id }, call.now, services.config.lifetimes.emergency_token);
    if (kind === "approve") requireNewVoice(caller, await approversOf(unit, access));
    const approvers = kind === "approve" ? [...access.approvers, caller] : access.approvers;
    unit.put(emergencies, id, { ...access, ...state, approvers });
    unit.record({
      type: kind === "approve" ? "emergency.approve" : "emergency.deny",
      ...(reason === undefined ? {} : { purpose: reason }),
      metadata: { emergency_id: id, status: state.status, approvals: state.approved_by.length },
    });
    return view({ ...access, ...state }, call.now);
  });
}

/** What a change with `If-Match` is judged on: the `GET` may hand out the token, and such an answer is more than the request. */
export const emergencyReading: EntityReading<{ readonly id: string }> = {
  read: async ({ read }, { principal, params, now }) => wholeView(read, await find(read, params.id, principal), now),
  isPlain: (body) => !Object.hasOwn(body, "token"),
};

export const emergencyHandlers: Handlers<Routes, PeopleServices> = {
  async requestEmergencyAccess(services, { principal, body, now, requestId }) {
    const org = ownOrganization(principal, body.org_id);
    return services.transact({ principal, now, requestId }, async (unit) => {
      const { emergency_request, emergency_token } = services.config.lifetimes;
      // What was asked for earlier is over.
      const from = [timestamp(now - emergency_request - emergency_token)];
      requireNoneOpen(await unit.list(emergencies, "by_requester", [org, principal.id], { from }), now);
      await requireRoom(services, unit, principal, "emergency_requests", {
        all: () => unit.count(emergencies, "pending", [org]),
      });
      const id = services.newId(now);
      const access: StoredEmergency = {
        ...requestEmergency({ id, org, reason: body.reason, by: principal.id }, now, emergency_request),
        requester_type: principal.type,
        requester: await personCalling(unit, principal),
        approvers: [],
        token_hash: null,
      };
      unit.insert(emergencies, id, access);
      unit.record({ type: "emergency.request", purpose: body.reason, metadata: { emergency_id: id } });
      return view(access, now);
    });
  },

  async listEmergencyAccess({ read }, { principal, query, now }) {
    const org = ownOrganization(principal, query.org_id);
    const page = readsAll(principal)
      ? await read.page(emergencies, "by_org", [org], query)
      : await read.page(emergencies, "by_requester", [org, principal.id], query);
    return listed("requests", page, (access) => view(access, now));
  },

  async getEmergencyAccess(services, { principal, params, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const access = await find(unit, params.id, principal);
      const mine = access.requested_by === principal.id && access.requester_type === principal.type;
      if (!mine || access.token_hash !== null || emergencyStatus(access, now) !== "approved") return wholeView(unit, access, now);
      // Made when it is fetched: before that there is nothing that could leak, and afterwards only its hash.
      const token = newEmergencyToken(services);
      unit.put(emergencies, access.id, { ...access, token_hash: emergencyTokenHash(services, token) });
      unit.record({ type: "emergency.access", metadata: { emergency_id: access.id, event: "token" } });
      return { ...(await wholeView(unit, access, now)), token };
    });
  },

  approveEmergencyAccess: (services, { principal, params, body, now, requestId }) =>
    decide(services, { principal, now, requestId }, params.id, "approve", body.reason),

  denyEmergencyAccess: (services, { principal, params, body, now, requestId }) =>
    decide(services, { principal, now, requestId }, params.id, "deny", body.reason),

  async completeEmergencyAccess(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const access = await find(unit, params.id, principal);
      if (access.requested_by !== principal.id && !principal.roles.includes("super_admin")) {
        throw refusal("FORBIDDEN", "emergency access is ended by its requester or a super_admin");
      }
      const { state } = stepEmergency(access, { kind: "complete" }, now);
      const over: StoredEmergency = { ...access, ...state, token_hash: null };
      unit.put(emergencies, access.id, over);
      unit.record({
        type: "emergency.complete",
        ...(body.reason === undefined ? {} : { purpose: body.reason }),
        metadata: { emergency_id: access.id, status: state.status },
      });
      return view(over, now);
    });
  },

  async revokeEmergencyActs(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const access = await find(unit, params.id, principal);
      const ended = await revokeActs(services, unit, access.org_id, access.id);
      unit.record({
        type: "emergency.revoke",
        ...(body.reason === undefined ? {} : { purpose: body.reason }),
        metadata: { emergency_id: access.id, ended },
      });
      return { ended };
    });
  },

  async verifyEmergencyAccess(services, { principal, params, body, now, requestId, request }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const access = await find(unit, params.id, principal);
      await requireDecider(unit, access);
      await services.signatures.require(unit, claimOf("emergency.verify", access.id, body, request));
      const { state } = stepEmergency(access, { kind: "verify" }, now, services.config.lifetimes.emergency_token);
      unit.put(emergencies, access.id, { ...access, ...state });
      unit.record({ type: "emergency.verify", metadata: { emergency_id: access.id, status: state.status } });
    });
  },
};
