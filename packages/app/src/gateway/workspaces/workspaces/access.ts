import type { Principal } from "@seneschal/contract";
import {
  type AccessFacts,
  accessBasis,
  admissionCounts,
  type Invitation,
  invitationStatus,
  notFound,
  opens,
  participates,
  refusal,
  type Workspace,
  workspaceStatus,
} from "@seneschal/core/keys";
import { type PageOf, type PageRequest, pageOf, type Reader } from "../../ground/index.ts";
import { isMember, memberships, permissionsOf } from "../../people/index.ts";
import { activeAdmission, admissions, type Participation, participationId, participations, workspaces } from "../collections.ts";
import type { WorkspaceServices } from "../services.ts";

/** What the access decision needs to know of a caller and a workspace, but for the operation and its policies. */
export type Standing = Omit<AccessFacts, "operation" | "policies">;

/** Looks up how a caller stands to a workspace. */
export async function standing(read: Reader, workspace: Workspace, principal: Principal, now: number): Promise<Standing> {
  const group = workspace.group_bindings[principal.org];
  const [admission, groupMember] = await Promise.all([
    activeAdmission(read, workspace.id, principal.org, principal.id),
    group === undefined ? false : isMember(read, principal.org, group, principal.id),
  ]);
  return {
    status: workspaceStatus(workspace, now),
    participates: participates(workspace, principal.org),
    classification: workspace.classification,
    crkProtected: workspace.crk_protected,
    admitted: admission !== undefined && admissionCounts(admission, { bound: group, member: groupMember }),
    groupBound: group !== undefined,
    groupMember,
  };
}

/** The group through which an organisation's identities come in; `NO_BOUND_GROUP` when none is bound, or another one is. */
export function boundGroup(workspace: Workspace, org: string, named: string | undefined): string {
  const bound = workspace.group_bindings[org];
  if (bound === undefined || (named !== undefined && named !== bound)) {
    throw refusal("NO_BOUND_GROUP", "the workspace has no such group of the caller's organisation bound to it", {
      field: "group_id",
    });
  }
  return bound;
}

/** A workspace as a member organisation sees it at `now`. */
export function workspaceView(workspace: Workspace, now: number) {
  const status = workspaceStatus(workspace, now);
  return Object.assign({}, workspace, {
    group_id: workspace.group_bindings[workspace.org_id] ?? null,
    owner_org_id: workspace.org_id,
    group_bindings: { ...workspace.group_bindings },
    participants: [...workspace.participants],
    participant_orgs: workspace.participants.map((participant) => participant.org_id),
    status,
    archived: status === "archived",
  });
}

/** Whether a caller sees every workspace of its organisation, or only those that it is let into. */
export async function seesAll(read: Reader, principal: Principal): Promise<boolean> {
  if (principal.type === "emergency") return true;
  if (principal.type !== "service" && principal.roles.some((role) => offices.has(role))) return true;
  return opens(await permissionsOf(read, principal.org, principal.id), "workspace:read");
}

const offices = new Set(["super_admin", "security_admin", "operations_admin", "auditor"]);

/** The workspaces that a caller sees, newest first. */
export async function listWorkspaces(
  read: Reader,
  principal: Principal,
  page: PageRequest,
  now: number,
): Promise<PageOf<Workspace>> {
  if (await seesAll(read, principal)) {
    const { items, total } = await read.page(participations, "by_org", [principal.org], page);
    return { items: await workspacesOf(read, items), total };
  }
  return pageOf(await ownWorkspaces(read, principal, now), page);
}

/** What an identity without an office is let into, through admissions and groups. */
async function ownWorkspaces(read: Reader, principal: Principal, now: number): Promise<readonly Workspace[]> {
  const { org, id } = principal;
  const [admitted, groups] = await Promise.all([
    read.list(admissions, "by_identity", [org, id]),
    read.list(memberships, "by_identity", [org, id]),
  ]);
  const bound = await Promise.all(groups.map(({ group_id }) => read.list(participations, "by_group", [org, group_id])));
  const ids = new Set([
    ...admitted.map((a) => a.workspace_id),
    ...bound.flat().map((participation) => participation.workspace_id),
  ]);
  const candidates = await Promise.all([...ids].map((candidate) => read.get(workspaces, candidate)));
  const known = candidates.filter((workspace): workspace is Workspace => workspace !== undefined);
  const standings = await Promise.all(known.map((workspace) => standing(read, workspace, principal, now)));
  return known
    .filter((_, i) => {
      const facts = standings[i];
      return facts?.participates === true && accessBasis(facts) !== undefined;
    })
    .sort((a, b) => (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : a.id < b.id ? 1 : -1));
}

async function workspacesOf(read: Reader, of: readonly Participation[]): Promise<readonly Workspace[]> {
  const found = await Promise.all(of.map((participation) => read.get(workspaces, participation.workspace_id)));
  return found.filter((workspace): workspace is Workspace => workspace !== undefined);
}

/**
 * A workspace in which the organisation takes part; to all others it does not exist. It takes part here when it has a participation: one of
 * the same id on another instance is not the same.
 */
export async function findWorkspace(read: Reader, id: string, org: string): Promise<Workspace> {
  const [workspace, participation] = await Promise.all([
    read.get(workspaces, id),
    read.get(participations, participationId(id, org)),
  ]);
  if (workspace === undefined || participation === undefined || !participates(workspace, org)) throw notFound("workspace");
  return workspace;
}

/** A workspace that the caller sees: by an office, or let into it. To others of its organisation it does not exist. */
export async function findVisibleWorkspace(read: Reader, id: string, principal: Principal, now: number): Promise<Workspace> {
  const workspace = await findWorkspace(read, id, principal.org);
  if ((await seesAll(read, principal)) || accessBasis(await standing(read, workspace, principal, now)) !== undefined)
    return workspace;
  throw notFound("workspace");
}

/** A workspace that the organisation owns. A participant learns that it may not; others that there is none. */
export async function findOwnWorkspace(read: Reader, id: string, org: string): Promise<Workspace> {
  const workspace = await findWorkspace(read, id, org);
  if (workspace.org_id !== org) throw refusal("FORBIDDEN", "only the owner's organisation may do this");
  return workspace;
}

/** An invitation as the invited organisation sees it: whose workspace it is to, and its name while that is known. */
export async function receivedInvitation({ read, replication }: WorkspaceServices, invitation: Invitation, now: number) {
  const { workspace_id, org_id } = invitation;
  const workspace = await read.get(workspaces, workspace_id);
  const replica = await replication.replicaOf(read, workspace_id, org_id);
  return {
    ...invitation,
    status: invitationStatus(invitation, now),
    owner_org_id: workspace?.org_id ?? replica?.owner_org_id ?? org_id,
    workspace_name: workspace?.name ?? replica?.offer.name ?? "",
  };
}
