import {
  type Admin,
  type Device,
  type EmergencyAccess,
  type IdentityType,
  type Mfa,
  type Permission,
  type Person,
  type ServiceIdentity,
  stepEmergency,
} from "@seneschal/core/keys";
import { keyText } from "../../platform/index.ts";
import { type AnyCollection, collection, type GatewayUnit, type Reader } from "../ground/index.ts";

export const admins = collection<Admin>("admins", {
  by_org: { key: (admin) => [admin.org_id, admin.created_at] },
  by_email: { key: (admin) => [admin.org_id, keyText(admin.email.toLowerCase())], unique: "an admin with that e-mail exists" },
  active_super: {
    key: (admin) => (admin.role === "super_admin" && admin.enrollment_status === "active" ? [admin.org_id] : undefined),
  },
});

export const devices = collection<Device>("devices", {
  by_org: { key: (device) => [device.org_id, device.created_at] },
  by_serial: { key: (device) => [device.cert_serial], unique: "a device with that certificate is enrolled" },
});

/** A request, who asked and who approved, and the hash of the token that it yielded. */
export interface StoredEmergency extends EmergencyAccess {
  readonly requester_type: string;
  readonly requester: Person;
  /** As they were known when they approved; those of them count who still stand in `approved_by`. */
  readonly approvers: readonly Person[];
  /** Hex SHA-256; `null` before the requester fetched the token and after it was revoked. */
  readonly token_hash: string | null;
}

export const emergencies = collection<StoredEmergency>("emergency_access", {
  by_org: { key: (access) => [access.org_id, access.created_at] },
  by_requester: { key: (access) => [access.org_id, access.requested_by, access.created_at] },
  /** What a person's disabling must go through. */
  pending: { key: (access) => (access.status === "pending" ? [access.org_id, access.expires_at] : undefined) },
  by_token: { key: (access) => (access.token_hash === null ? undefined : [access.token_hash]), unique: "token" },
  open_until: {
    key: (access) =>
      access.status === "pending"
        ? [access.expires_at]
        : access.status === "approved" && access.token_expiry !== null
          ? [access.token_expiry]
          : undefined,
  },
});

/** Something that was made, changed or removed under an emergency token. */
export interface EmergencyAct {
  readonly emergency_id: string;
  readonly act: "made" | "changed" | "removed";
  readonly kind: string;
  /** Of the thing, within its kind. */
  readonly resource_id: string;
  readonly at: string;
  /** When it was ended; `null` while it stands, or if it is not for `revokeActs` to end. */
  readonly ended_at: string | null;
}

export const emergencyActs = collection<EmergencyAct>("emergency_acts", {
  by_emergency: { key: (act) => [act.emergency_id, act.at, act.kind, act.resource_id] },
});

/** Carries out `void_approvals`: a person who was disabled has approved nothing that is still undecided. */
export async function voidApprovals(unit: GatewayUnit, org: string, person: string): Promise<void> {
  for (const { id, approved_by } of await unit.list(emergencies, "pending", [org])) {
    if (!approved_by.includes(person)) continue;
    const access = await unit.get(emergencies, id);
    if (access?.status !== "pending" || Date.parse(access.expires_at) <= unit.call.now) continue;
    const { state } = stepEmergency(access, { kind: "void_approvals", by: person }, unit.call.now);
    unit.put(emergencies, id, { ...access, ...state });
  }
}

/** A one-time token, kept by its hash only, for one admin. */
export interface EnrollmentToken {
  /** Hex SHA-256 of the token. */
  readonly id: string;
  readonly admin_id: string;
  readonly org_id: string;
  readonly expires_at: string;
}

export const enrollmentTokens = collection<EnrollmentToken>("enrollment_tokens", {
  by_admin: { key: (token) => [token.admin_id] },
  by_expiry: { key: (token) => [token.expires_at] },
});

/** Exists from the first admin on: two bootstraps at once cannot both succeed. */
export const bootstrapMarks = collection<{ readonly admin_id: string }>("bootstrap");

export interface Group {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly description: string;
  readonly vault_policies: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
}

export const groups = collection<Group>("groups", {
  by_org: { key: (group) => [group.org_id, group.created_at] },
  by_name: { key: (group) => [group.org_id, keyText(group.name)], unique: "a group of that name exists" },
});

/** One identity in one group. */
export interface Membership {
  readonly group_id: string;
  readonly org_id: string;
  readonly identity_id: string;
  readonly identity_type: IdentityType;
  readonly added_at: string;
}

export const memberships = collection<Membership>("group_members", {
  by_group: { key: (member) => [member.group_id, member.added_at] },
  by_identity: { key: (member) => [member.org_id, member.identity_id] },
});

export const membershipId = (group: string, identity: string): string => `${group}/${identity}`;

/** Whether an identity of an organisation is in a group of it. */
export async function isMember(read: Reader, org: string, group: string, identity: string): Promise<boolean> {
  return (await read.get(memberships, membershipId(group, identity)))?.org_id === org;
}

/** An admin's second factor. */
export interface StoredMfa extends Mfa {
  readonly admin_id: string;
  readonly org_id: string;
  /** The TOTP secret, sealed by the vault under the organisation's key. */
  readonly sealed_secret: string;
  /** SHA-256 of the recovery codes that are left, hex. */
  readonly recovery_hashes: readonly string[];
}

export const mfaFactors = collection<StoredMfa>("admin_mfa");

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

export const serviceIdentities = collection<ServiceIdentity>("services", {
  by_org: { key: (service) => [service.org_id, service.created_at] },
  by_name: { key: (service) => [service.org_id, service.name], unique: "a service of that name exists" },
  /** For the sweep that retires what was rotated out. */
  retire_at: {
    key: (service) => {
      const ends = service.credentials.flatMap(({ valid_until }) => (valid_until === null ? [] : [valid_until]));
      return ends.length === 0 ? undefined : [ends.sort()[0] ?? ""];
    },
  },
});

/** A person known to an identity provider. A removed one is kept as a mark, so that its tokens are refused. */
export interface User {
  readonly id: string;
  readonly org_id: string;
  readonly email: string;
  readonly name: string;
  readonly sso_provider: string;
  readonly sso_subject: string;
  /** As the provider named them. */
  readonly groups: readonly string[];
  readonly active: boolean;
  readonly last_login_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** What the users with a subject, of whatever provider, are indexed by. */
export function subjectKey(org: string, subject: string): readonly [string, string] {
  return [org, keyText(subject, 600)];
}

export const users = collection<User>("users", {
  by_org: { key: (user) => (user.active ? [user.org_id, user.created_at] : undefined) },
  by_subject: {
    key: (user) => [...subjectKey(user.org_id, user.sso_subject), user.sso_provider],
    unique: "the user is known already",
    revision: 2,
  },
});

/** All that the floor stores. */
export const peopleCollections: readonly AnyCollection[] = [
  admins,
  bootstrapMarks,
  devices,
  emergencies,
  emergencyActs,
  enrollmentTokens,
  groups,
  memberships,
  mfaFactors,
  roleAssignments,
  roles,
  serviceIdentities,
  users,
];
