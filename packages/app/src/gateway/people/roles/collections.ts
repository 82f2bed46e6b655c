import type { IdentityType } from "@seneschal/core/keys";
import { keyText } from "../../../platform/index.ts";
import { collection, type Reader } from "../../ground/index.ts";

export interface Permission {
  readonly resource: string;
  readonly action: string;
}

export interface Role {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly Permission[];
  readonly created_at: string;
  readonly updated_at: string;
}

export const roles = collection<Role>("roles", {
  by_org: { key: (role) => [role.org_id, role.created_at] },
  by_name: { key: (role) => [role.org_id, keyText(role.name)], unique: "a role of that name exists" },
});

export interface RoleAssignment {
  readonly role_id: string;
  readonly org_id: string;
  readonly identity_id: string;
  readonly identity_type: IdentityType;
  readonly assigned_by: string;
  readonly assigned_at: string;
}

export const roleAssignments = collection<RoleAssignment>("role_assignments", {
  by_role: { key: (assignment) => [assignment.role_id, assignment.assigned_at] },
  by_identity: { key: (assignment) => [assignment.org_id, assignment.identity_id] },
});

export const assignmentId = (role: string, identity: string): string => `${role}/${identity}`;

/** What an identity's custom roles allow beyond the matrix. */
export async function permissionsOf(read: Reader, org: string, identity: string): Promise<readonly Permission[]> {
  const assigned = await read.list(roleAssignments, "by_identity", [org, identity]);
  const granted = await Promise.all(assigned.map(({ role_id }) => read.get(roles, role_id)));
  return granted.flatMap((role) => role?.permissions ?? []);
}
