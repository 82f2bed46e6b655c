import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  admit,
  ask,
  byMembership,
  decideJoinRequest,
  type IdentityType,
  type JoinRequest,
  notFound,
  refusal,
  timestamp,
} from "@seneschal/core/keys";
import type { Call, GatewayUnit } from "../../ground/call.ts";
import type { Reader } from "../../ground/store/reader.ts";
import type { GatewayServices } from "../../services.ts";
import { activeAdmission, admissions } from "../../workspaces/admissions/collections.ts";
import { endAdmission } from "../../workspaces/admissions/end.ts";
import { requireAdmittedByPolicy } from "../../workspaces/admissions/policy.ts";
import { joinRequests } from "../../workspaces/workspaces/collections.ts";
import { findWorkspace } from "../../workspaces/workspaces/find.ts";
import { personCalling, personNamed, requireAnother } from "../identities/person-of.ts";
import { requireIdentity } from "../identities/require-identity.ts";
import { type Group, groups, isMember, membershipId, memberships } from "./collections.ts";
import { findGroup } from "./find.ts";
import { leave } from "./leave.ts";

type Routes = Pick<
  GatewayContract,
  | "createGroup"
  | "listGroups"
  | "getGroup"
  | "updateGroup"
  | "addGroupMember"
  | "removeGroupMember"
  | "requestJoin"
  | "listJoinRequests"
  | "approveJoinRequest"
  | "denyJoinRequest"
>;

/** A group with its members, oldest first. */
async function view(read: Reader, group: Group) {
  const members = await read.list(memberships, "by_group", [group.id]);
  return {
    ...group,
    vault_policies: [...group.vault_policies],
    members: members.map(({ identity_id, identity_type }) => ({ identity_id, identity_type })),
  };
}

function join(unit: GatewayUnit, group: Group, identity_id: string, identity_type: IdentityType): void {
  unit.insert(memberships, membershipId(group.id, identity_id), {
    group_id: group.id,
    org_id: group.org_id,
    identity_id,
    identity_type,
    added_at: timestamp(unit.call.now),
  });
  unit.record({ type: "group.member.add", metadata: { group_id: group.id, identity_id, identity_type } });
}

/** What an approval gives: a place in the group, or the workspace that was asked for. Answers the admission's id. */
async function letIn(
  services: GatewayServices,
  unit: GatewayUnit,
  group: Group,
  request: JoinRequest,
): Promise<string | undefined> {
  const { requester_id, workspace_id, org_id } = request;
  const requester_type = request.requester_type as IdentityType;
  const member = await isMember(unit, org_id, group.id, requester_id);
  if (workspace_id === null) {
    if (!member) join(unit, group, requester_id, requester_type);
    return undefined;
  }
  const known = await activeAdmission(unit, workspace_id, org_id, requester_id);
  if (known !== undefined && known.granted_by !== byMembership) throw refusal("CONFLICT", "the identity is already admitted");
  const workspace = await findWorkspace(unit, workspace_id, org_id);
  if (workspace.classification === "SECRET" && !member) {
    throw refusal("NOT_ADMITTED", "a SECRET workspace with a group admits its members only");
  }
  await requireAdmittedByPolicy(services, unit, workspace, requester_id, requester_type);
  // Access is resolved through the group: who is let in belongs to it, and is out again with it.
  if (!member) join(unit, group, requester_id, requester_type);
  if (known !== undefined) await endAdmission(unit, known.id);
  const admission = admit(
    {
      id: services.newId(unit.call.now),
      workspace_id,
      org: org_id,
      identity_id: requester_id,
      identity_type: requester_type,
      by: unit.call.principal.id,
      via_group: group.id,
    },
    unit.call.now,
  );
  unit.insert(admissions, admission.id, admission);
  unit.record({
    type: "workspace.admission.grant",
    workspace: workspace_id,
    metadata: { admission_id: admission.id, identity_id: requester_id, identity_type: requester_type },
  });
  return admission.id;
}

async function decide(
  services: GatewayServices,
  call: Call,
  params: { readonly id: string; readonly request_id: string },
  kind: "approve" | "deny",
): Promise<JoinRequest> {
  return services.transact(call, async (unit) => {
    const group = await findGroup(unit, params.id, call.principal.org);
    const request = await unit.get(joinRequests, params.request_id);
    if (request === undefined || request.group_id !== group.id) throw notFound("join request");
    // Judged before anything is given: nobody decides their own, nothing is decided twice.
    const by = call.principal.id;
    decideJoinRequest(request, { kind, by }, call.now);
    const requester = await personNamed(unit, request.org_id, request.requester_id);
    requireAnother(await personCalling(unit, call.principal), [requester], "nobody decides their own request");
    const admission_id = kind === "approve" ? await letIn(services, unit, group, request) : undefined;
    const decided = decideJoinRequest(request, { kind, by, ...(admission_id === undefined ? {} : { admission_id }) }, call.now);
    unit.put(joinRequests, decided.id, decided);
    unit.record({
      type: kind === "approve" ? "group.join.approve" : "group.join.deny",
      workspace: decided.workspace_id ?? "",
      metadata: { group_id: group.id, request_id: decided.id, requester_id: decided.requester_id },
    });
    return decided;
  });
}

export const groupHandlers: Handlers<Routes, GatewayServices> = {
  async createGroup(services, { principal, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const at = timestamp(now);
      const group: Group = { id: services.newId(now), org_id: principal.org, ...body, created_at: at, updated_at: at };
      unit.insert(groups, group.id, group);
      unit.record({ type: "group.create", metadata: { group_id: group.id, name: group.name } });
      return view(unit, group);
    });
  },

  async listGroups({ read }, { principal, query }) {
    const { items, total } = await read.page(groups, "by_org", [principal.org], query);
    return { groups: await Promise.all(items.map((group) => view(read, group))), count: items.length, total };
  },

  async getGroup({ read }, { principal, params }) {
    return view(read, await findGroup(read, params.id, principal.org));
  },

  async updateGroup(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const group = await findGroup(unit, params.id, principal.org);
      const next: Group = {
        ...group,
        name: body.name ?? group.name,
        description: body.description ?? group.description,
        vault_policies: body.vault_policies ?? group.vault_policies,
        updated_at: timestamp(now),
      };
      unit.put(groups, next.id, next);
      unit.record({ type: "group.update", metadata: { group_id: next.id, fields: Object.keys(body) } });
      return view(unit, next);
    });
  },

  async addGroupMember(services, { principal, params, body, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const group = await findGroup(unit, params.id, principal.org);
      await requireIdentity(unit, principal.org, body);
      if (await isMember(unit, principal.org, group.id, body.identity_id)) {
        throw refusal("CONFLICT", "the identity is in the group already");
      }
      join(unit, group, body.identity_id, body.identity_type);
    });
  },

  async removeGroupMember(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const group = await findGroup(unit, params.id, principal.org);
      const id = membershipId(group.id, params.identity_id);
      if ((await unit.get(memberships, id)) === undefined) throw notFound("member");
      await leave(unit, group, params.identity_id);
    });
  },

  async requestJoin(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const group = await findGroup(unit, params.id, principal.org);
      if (await isMember(unit, principal.org, group.id, principal.id)) {
        throw refusal("CONFLICT", "the identity is in the group already");
      }
      const asked = ask(
        {
          id: services.newId(now),
          org: principal.org,
          workspace_id: null,
          group_id: group.id,
          requester_id: principal.id,
          requester_type: principal.type,
          reason: body.reason ?? "",
        },
        now,
      );
      unit.insert(joinRequests, asked.id, asked);
      unit.record({ type: "group.join.request", metadata: { group_id: group.id, request_id: asked.id } });
      return asked;
    });
  },

  async listJoinRequests({ read }, { principal, params, query }) {
    const group = await findGroup(read, params.id, principal.org);
    const { items, total } = await read.page(joinRequests, "by_group", [principal.org, group.id], query);
    return { requests: [...items], count: items.length, total };
  },

  approveJoinRequest: (services, { principal, params, now, requestId }) =>
    decide(services, { principal, now, requestId }, params, "approve"),

  denyJoinRequest: (services, { principal, params, now, requestId }) =>
    decide(services, { principal, now, requestId }, params, "deny"),
};
