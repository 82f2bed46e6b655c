import type { Handlers, Principal } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  areTwoPeople,
  emergencyStatus,
  notFound,
  type Person,
  refusal,
  requestEmergency,
  requireNoneOpen,
  stepEmergency,
  timestamp,
} from "@seneschal/core/keys";
import { type Call, type EntityReading, type GatewayUnit, ownOrganization, type Reader, signedBody } from "../../ground/index.ts";
import { personCalling, personOf, requireAnother } from "../identities/person-of.ts";
import { requireRoom } from "../identities/require-room.ts";
import type { PeopleServices } from "../services.ts";
import { actsOf, revokeActs } from "./acts.ts";
import { emergencies, type StoredEmergency } from "./collections.ts";
import { emergencyTokenHash, newEmergencyToken } from "./token.ts";

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

/** Approvals are counted by people: one person's certificate and token are one voice. */
async function requireNewVoice(unit: GatewayUnit, access: StoredEmergency, caller: Person): Promise<void> {
  for (const approver of access.approvers) {
    if (!access.approved_by.includes(approver.id)) continue;
    if (areTwoPeople(caller, await personOf(unit, access.org_id, approver))) continue;
    throw refusal("CONFLICT", "this person has approved already, or cannot be told from one who has", {
      reason: "approve with a certificate, or with a token whose subject is a registered user or that names an e-mail address",
    });
  }
}

/** One person's decision. */
async function decide(services: PeopleServices, call: Call, id: string, kind: "approve" | "deny", reason: string | undefined) {
  return services.transact(call, async (unit) => {
    const access = await find(unit, id, call.principal);
    const caller = await requireDecider(unit, access);
    const { state } = stepEmergency(access, { kind, by: caller.id }, call.now, services.config.lifetimes.emergency_token);
    if (kind === "approve") await requireNewVoice(unit, access, caller);
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
    const { org_id, ...page } = query;
    const org = ownOrganization(principal, org_id);
    const { items, total } = readsAll(principal)
      ? await read.page(emergencies, "by_org", [org], page)
      : await read.page(emergencies, "by_requester", [org, principal.id], page);
    return { requests: items.map((access) => view(access, now)), count: items.length, total };
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
      await services.signatures.require(unit, {
        operation: "emergency.verify",
        resourceId: access.id,
        body: signedBody(request.rawBody),
        signature: body.signature,
        params: body.signature_params,
      });
      const { state } = stepEmergency(access, { kind: "verify" }, now, services.config.lifetimes.emergency_token);
      unit.put(emergencies, access.id, { ...access, ...state });
      unit.record({ type: "emergency.verify", metadata: { emergency_id: access.id, status: state.status } });
    });
  },
};
