import type { Principal } from "@seneschal/contract";
import { type AccessFacts, admissionCounts, participates, refusal, type Workspace, workspaceStatus } from "@seneschal/core/keys";
import type { Reader } from "../../ground/index.ts";
import { isMember } from "../../people/index.ts";
import { activeAdmission } from "../collections.ts";

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
