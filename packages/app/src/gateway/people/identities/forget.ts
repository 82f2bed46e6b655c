import type { GatewayUnit } from "../../ground/index.ts";
import { membershipId, memberships } from "../groups/collections.ts";
import { assignmentId, roleAssignments } from "../roles/collections.ts";
import type { PeopleServices } from "../services.ts";

/** Takes an identity out of every group, role and workspace of its organisation, in the transaction that removes it. */
export async function forgetIdentity(services: PeopleServices, unit: GatewayUnit, org: string, identity: string): Promise<void> {
  for (const { group_id } of await unit.list(memberships, "by_identity", [org, identity])) {
    unit.delete(memberships, membershipId(group_id, identity));
  }
  for (const { role_id } of await unit.list(roleAssignments, "by_identity", [org, identity])) {
    unit.delete(roleAssignments, assignmentId(role_id, identity));
  }
  await services.admissions.endOf(unit, { org, id: identity });
}
