import type { GatewayUnit } from "../../ground/call.ts";
import { admissions } from "../../workspaces/admissions/collections.ts";
import { endAdmission } from "../../workspaces/admissions/end.ts";
import { membershipId, memberships } from "../groups/collections.ts";
import { assignmentId, roleAssignments } from "../roles/collections.ts";

/** Takes an identity out of every group, role and workspace of its organisation, in the transaction that removes it. */
export async function forgetIdentity(unit: GatewayUnit, org: string, identity: string): Promise<void> {
  for (const { group_id } of await unit.list(memberships, "by_identity", [org, identity])) {
    unit.delete(memberships, membershipId(group_id, identity));
  }
  for (const { role_id } of await unit.list(roleAssignments, "by_identity", [org, identity])) {
    unit.delete(roleAssignments, assignmentId(role_id, identity));
  }
  for (const { id } of await unit.list(admissions, "by_identity", [org, identity])) await endAdmission(unit, id);
}
