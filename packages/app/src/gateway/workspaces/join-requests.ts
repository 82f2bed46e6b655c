import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  ask,
  decideJoinRequest,
  type IdentityType,
  type JoinRequest,
  notFound,
  refusal,
  requireGivesWay,
  requireMember,
} from "@seneschal/core/keys";
import { type Call, type GatewayUnit, listed } from "../ground/index.ts";
import {
  findGroup,
  type Group,
  isMember,
  join,
  personCalling,
  personNamed,
  requireAnother,
  requireRoom,
} from "../people/index.ts";
import { giveAdmission, requireAdmittedByPolicy } from "./admissions.ts";
import { activeAdmission, joinRequests } from "./collections.ts";
import type { WorkspaceServices } from "./services.ts";
import { findWorkspace } from "./workspaces/access.ts";

type Routes = Pick<GatewayContract, "requestJoin" | "listJoinRequests" | "approveJoinRequest" | "denyJoinRequest">;

/** What an approval gives: a place in the group, or the workspace that was asked for. Answers the admission's id. */
async function letIn(
  services: WorkspaceServices,
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
  requireGivesWay(known, "request");
  const workspace = await findWorkspace(unit, workspace_id, org_id);
  requireMember(workspace.classification, { bound: true, member });
  await requireAdmittedByPolicy(services, unit, workspace, requester_id, requester_type);
  // Access is resolved through the group: who is let in belongs to it, and is out again with it.
  if (!member) join(unit, group, requester_id, requester_type);
  const of = { workspace_id, org: org_id, identity_id: requester_id, identity_type: requester_type, via_group: group.id };
  return (await giveAdmission(services, unit, of, known)).id;
}

async function decide(
  services: WorkspaceServices,
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

/** Who asks to join a group, or through it a workspace, and what is decided. */
export const joinRequestHandlers: Handlers<Routes, WorkspaceServices> = {
  async requestJoin(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const group = await findGroup(unit, params.id, principal.org);
      if (await isMember(unit, principal.org, group.id, principal.id)) {
        throw refusal("CONFLICT", "the identity is in the group already");
      }
      await requireRoom(services, unit, principal, "join_requests", {
        all: () => unit.count(joinRequests, "pending", [principal.org]),
      });
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
    const page = await read.page(joinRequests, "by_group", [principal.org, group.id], query);
    return listed("requests", page);
  },

  approveJoinRequest: (services, { principal, params, now, requestId }) =>
    decide(services, { principal, now, requestId }, params, "approve"),

  denyJoinRequest: (services, { principal, params, now, requestId }) =>
    decide(services, { principal, now, requestId }, params, "deny"),
};
