import { revokeAdmission } from "@seneschal/core/keys";
import { admissions } from "../admissions/collections.ts";
import type { GatewayUnit } from "../call.ts";
import { membershipId, memberships } from "../groups/collections.ts";
import { assignmentId, roleAssignments } from "../roles/collections.ts";

/** Takes an identity out of every group, role and workspace of its organisation, in the transaction that removes it. */
export async function forgetIdentity(unit: GatewayUnit, org: string, identity: string): Promise<void> {
  const { principal, now } = unit.call;
  for (const { group_id } of await unit.list(memberships, "by_identity", [org, identity])) {
    unit.delete(memberships, membershipId(group_id, identity));
  }
  for (const { role_id } of await unit.list(roleAssignments, "by_identity", [org, identity])) {
    unit.delete(roleAssignments, assignmentId(role_id, identity));
  }
  for (const { id, workspace_id } of await unit.list(admissions, "by_identity", [org, identity])) {
    const admission = await unit.get(admissions, id);
    if (admission?.status !== "active") continue;
    unit.put(admissions, id, revokeAdmission(admission, { id: principal.id, org, ownsWorkspace: false }, now));
    unit.record({
      type: "workspace.admission.revoke",
      org,
      workspace: workspace_id,
      metadata: { admission_id: id, identity_id: identity },
    });
  }
}
