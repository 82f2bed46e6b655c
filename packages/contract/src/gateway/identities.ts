import { adminRoles, deviceStatuses, identityTypes } from "@seneschal/core/keys";
import * as z from "zod";
import type { Contract } from "../route.ts";
import { secret } from "../secret.ts";
import { admin, adminWithToken, issued } from "./enrollment.ts";
import { aliased, email, identityId, idParam, listOf, moment, name, organizationId, page, text, timestamp } from "./shapes.ts";
import { joinRequest } from "./workspaces.ts";

const stored = { id: z.uuid(), org_id: organizationId, created_at: timestamp, updated_at: timestamp };
const role = z.enum(adminRoles);
const base = "/api/v1/identities";
const identityRoute = { tag: "identities", auth: "principal" } as const;

/** A TOTP code, or a recovery code. */
const mfaCode = z.string().regex(/^([0-9]{6}|[a-z0-9]{5}(-[a-z0-9]{5}){1,3})$/, "expected six digits or a recovery code");

/** Admins: people who administer, each with a certificate and a second factor. */
export const adminRoutes = {
  createAdmin: {
    ...identityRoute,
    method: "POST",
    path: `${base}/admins`,
    summary: "A new admin, pending until enrolment; the enrolment token is shown once",
    action: "admin:write",
    body: z.strictObject({ email, name, role }),
    status: 201,
    reply: adminWithToken,
    errors: [409],
  },
  listAdmins: {
    ...identityRoute,
    method: "GET",
    path: `${base}/admins`,
    summary: "Admins of the caller's organisation, newest first",
    action: "admin:read",
    query: page(),
    status: 200,
    reply: listOf("admins", admin),
  },
  getAdmin: {
    ...identityRoute,
    method: "GET",
    path: `${base}/admins/:id`,
    summary: "One admin",
    action: "admin:read",
    entity: "admin",
    params: idParam,
    status: 200,
    reply: admin,
  },
  updateAdmin: {
    ...identityRoute,
    method: "PUT",
    path: `${base}/admins/:id`,
    summary: "Edit, disable (ends every right at once) or enable an admin; an enabled one enrols anew",
    action: "admin:write",
    entity: "admin",
    params: idParam,
    body: z.strictObject({ email, name, role, active: z.boolean() }).partial(),
    status: 200,
    reply: admin.extend({ enrollment_token: secret(z.string()).optional() }).meta({ id: "AdminUpdated" }),
    errors: [409],
  },
  deleteAdmin: {
    ...identityRoute,
    method: "DELETE",
    path: `${base}/admins/:id`,
    summary: "Remove an admin; its certificate is revoked",
    action: "admin:write",
    entity: "admin",
    params: idParam,
    status: 204,
    errors: [409],
  },
  enableMfa: {
    ...identityRoute,
    method: "POST",
    path: `${base}/admins/:id/mfa/enable`,
    summary: "A provisioning URL for the caller's own authenticator; it counts after the first verified code",
    action: "admin:self",
    params: idParam,
    status: 200,
    reply: z.object({ provisioning_url: secret(z.string()) }),
    errors: [409],
  },
  verifyMfa: {
    ...identityRoute,
    method: "POST",
    path: `${base}/admins/:id/mfa/verify`,
    summary: "Verify a code; the first one turns the second factor on and shows the recovery codes once",
    action: "admin:self",
    params: idParam,
    body: aliased(z.strictObject({ totp_code: mfaCode }), { code: "totp_code" }),
    status: 200,
    reply: z.object({ verified: z.literal(true), recovery_codes: secret(z.array(z.string())).optional() }),
    errors: [409],
  },
  renewAdminCertificate: {
    ...identityRoute,
    method: "POST",
    path: `${base}/admins/:id/certificate/renew`,
    summary: "A new certificate, for a new key if a CSR comes along; the old serial stops working",
    action: "admin:self",
    entity: "admin",
    params: idParam,
    body: z.strictObject({ csr: z.string().min(1).max(32_768).optional() }),
    bodyOptional: true,
    status: 200,
    reply: z.object({ admin, ...issued }).meta({ id: "Renewed" }),
    errors: [409, 422, 503],
  },
} as const satisfies Contract;

const user = z
  .object({
    ...stored,
    email: z.string(),
    name: z.string(),
    sso_provider: z.string(),
    sso_subject: z.string(),
    groups: z.array(z.string()),
    active: z.boolean(),
    last_login_at: timestamp.nullable(),
  })
  .meta({ id: "User" });

/** Users come from an identity provider. */
export const userRoutes = {
  createSsoUser: {
    ...identityRoute,
    method: "POST",
    path: `${base}/users/sso`,
    summary: "A user known to a configured identity provider, put into the groups that its claims map to",
    action: "user:write",
    body: aliased(
      z.strictObject({
        provider: z.string().min(1).max(64),
        subject: z.string().min(1).max(256),
        email,
        name,
        groups: z.array(z.string().min(1).max(256)).max(256).default([]),
      }),
      { sso_provider: "provider", sso_subject: "subject" },
    ),
    status: 201,
    reply: user,
    errors: [409],
  },
  listUsers: {
    ...identityRoute,
    method: "GET",
    path: `${base}/users`,
    summary: "Users, newest first",
    action: "user:read",
    query: page(),
    status: 200,
    reply: listOf("users", user),
  },
  getUser: {
    ...identityRoute,
    method: "GET",
    path: `${base}/users/:id`,
    summary: "One user",
    action: "user:read",
    entity: "user",
    params: idParam,
    status: 200,
    reply: user,
  },
  deleteUser: {
    ...identityRoute,
    method: "DELETE",
    path: `${base}/users/:id`,
    summary: "Remove a user from the organisation, its groups, roles and workspaces",
    action: "user:write",
    entity: "user",
    params: idParam,
    status: 204,
  },
} as const satisfies Contract;

const authMethod = z
  .enum(["role_credential", "orchestrator", "cert", "approle", "kubernetes"])
  .transform((method) => (method === "approle" ? "role_credential" : method === "kubernetes" ? "orchestrator" : method));

const service = z
  .object({
    ...stored,
    name: z.string(),
    description: z.string(),
    auth_method: z.enum(["role_credential", "orchestrator", "cert"]),
    active: z.boolean(),
    last_auth_at: timestamp.nullable(),
  })
  .meta({ id: "Service" });

/** What a service authenticates with; which fields are there depends on its method. Shown once. */
const serviceCredentials = z
  .object({
    role_id: z.string().optional(),
    secret_id: secret(z.string()).optional(),
    audience: z.string().optional(),
    service_account: z.string().optional(),
    common_name: z.string().optional(),
    certificate: z.string().optional(),
    private_key: secret(z.string()).optional(),
    ca_chain: z.array(z.string()).optional(),
    serial_number: z.string().optional(),
    expires_at: timestamp.nullable(),
    previous_valid_until: timestamp.nullable(),
  })
  .meta({ id: "ServiceCredentials" });

const serviceWithCredentials = service.extend({ credentials: serviceCredentials }).meta({ id: "ServiceWithCredentials" });

/** Machines' own identities, `{name}.internal.local`. */
export const serviceRoutes = {
  createService: {
    ...identityRoute,
    method: "POST",
    path: `${base}/services`,
    summary: "A service; its name is one DNS label; its credentials are shown once",
    action: "service:write",
    body: z.strictObject({
      name: z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, "expected one DNS label"),
      description: text.default(""),
      auth_method: authMethod,
    }),
    status: 201,
    reply: serviceWithCredentials,
    errors: [409, 503],
  },
  listServices: {
    ...identityRoute,
    method: "GET",
    path: `${base}/services`,
    summary: "Services, newest first",
    action: "service:read",
    query: page(),
    status: 200,
    reply: listOf("services", service),
  },
  getService: {
    ...identityRoute,
    method: "GET",
    path: `${base}/services/:id`,
    summary: "One service",
    action: "service:read",
    entity: "service",
    params: idParam,
    status: 200,
    reply: service,
  },
  deleteService: {
    ...identityRoute,
    method: "DELETE",
    path: `${base}/services/:id`,
    summary: "Remove a service; its credentials end at once",
    action: "service:write",
    entity: "service",
    params: idParam,
    status: 204,
  },
  rotateService: {
    ...identityRoute,
    method: "POST",
    path: `${base}/services/:id/rotate`,
    summary: "New credentials; the old ones overlap for a while",
    action: "service:write",
    entity: "service",
    params: idParam,
    status: 200,
    reply: serviceWithCredentials,
    errors: [503],
  },
} as const satisfies Contract;

const device = z
  .object({
    ...stored,
    device_name: z.string(),
    device_type: z.string(),
    cert_serial: z.string(),
    cert_expiry: timestamp,
    status: z.enum(deviceStatuses),
    enrolled_at: timestamp,
    last_seen_at: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: "Device" });

/** Machines that act with a certificate of their own. */
export const deviceRoutes = {
  enrollDevice: {
    ...identityRoute,
    method: "POST",
    path: `${base}/devices`,
    summary: "Enrol a device by its certificate's serial",
    action: "device:write",
    body: z.strictObject({
      device_name: name,
      device_type: z.string().max(64).default(""),
      cert_serial: z.string().min(1).max(64),
      cert_expiry: moment,
    }),
    status: 201,
    reply: device,
    errors: [409],
  },
  listDevices: {
    ...identityRoute,
    method: "GET",
    path: `${base}/devices`,
    summary: "Devices, newest first",
    action: "device:read",
    query: page(),
    status: 200,
    reply: listOf("devices", device),
  },
  getDevice: {
    ...identityRoute,
    method: "GET",
    path: `${base}/devices/:id`,
    summary: "One device",
    action: "device:read",
    entity: "device",
    params: idParam,
    status: 200,
    reply: device,
  },
  revokeDevice: {
    ...identityRoute,
    method: "POST",
    path: `${base}/devices/:id/revoke`,
    summary: "Revoke a device and its certificate, for good",
    action: "device:write",
    entity: "device",
    params: idParam,
    status: 200,
    reply: device,
    errors: [409],
  },
} as const satisfies Contract;

const member = z.object({ identity_id: identityId, identity_type: z.enum(identityTypes) });

const group = z
  .object({
    ...stored,
    name: z.string(),
    description: z.string(),
    vault_policies: z.array(z.string()),
    members: z.array(member),
  })
  .meta({ id: "Group" });

const groupFields = { name, description: text, vault_policies: z.array(z.string().min(1).max(256)).max(64) };
const joinParams = z.strictObject({ id: z.uuid(), request_id: z.uuid() });
const reason = z.strictObject({ reason: text.optional() });

/** Groups: whom a workspace lets in together. */
export const groupRoutes = {
  createGroup: {
    ...identityRoute,
    method: "POST",
    path: `${base}/groups`,
    summary: "A group",
    action: "group:write",
    body: z.strictObject({
      name,
      description: text.default(""),
      vault_policies: groupFields.vault_policies.default([]),
    }),
    status: 201,
    reply: group,
    errors: [409],
  },
  listGroups: {
    ...identityRoute,
    method: "GET",
    path: `${base}/groups`,
    summary: "Groups, newest first",
    action: "group:read",
    query: page(),
    status: 200,
    reply: listOf("groups", group),
  },
  getGroup: {
    ...identityRoute,
    method: "GET",
    path: `${base}/groups/:id`,
    summary: "One group with its members",
    action: "group:read",
    entity: "group",
    params: idParam,
    status: 200,
    reply: group,
  },
  updateGroup: {
    ...identityRoute,
    method: "PUT",
    path: `${base}/groups/:id`,
    summary: "Edit a group",
    action: "group:write",
    entity: "group",
    params: idParam,
    body: z.strictObject(groupFields).partial(),
    status: 200,
    reply: group,
    errors: [409],
  },
  addGroupMember: {
    ...identityRoute,
    method: "POST",
    path: `${base}/groups/:id/members`,
    summary: "Put an identity of the organisation into the group",
    action: "group:write",
    entity: "group",
    params: idParam,
    body: z.strictObject(member.shape),
    status: 204,
    errors: [409],
  },
  removeGroupMember: {
    ...identityRoute,
    method: "DELETE",
    path: `${base}/groups/:id/members/:identity_id`,
    summary: "Take an identity out of the group",
    action: "group:write",
    entity: "group",
    params: z.strictObject({ id: z.uuid(), identity_id: identityId }),
    status: 204,
  },
  requestJoin: {
    ...identityRoute,
    method: "POST",
    path: `${base}/groups/:id/join-requests`,
    summary: "Ask to be let into a group",
    action: "join-request:create",
    params: idParam,
    body: reason,
    bodyOptional: true,
    status: 201,
    reply: joinRequest,
    errors: [409],
  },
  listJoinRequests: {
    ...identityRoute,
    method: "GET",
    path: `${base}/groups/:id/join-requests`,
    summary: "Join requests of a group, newest first",
    action: "join-request:read",
    params: idParam,
    query: page(),
    status: 200,
    reply: listOf("requests", joinRequest),
  },
  approveJoinRequest: {
    ...identityRoute,
    method: "POST",
    path: `${base}/groups/:id/join-requests/:request_id/approve`,
    summary: "Let the requester in; never one's own request",
    action: "join-request:decide",
    params: joinParams,
    body: reason,
    bodyOptional: true,
    status: 200,
    reply: joinRequest,
    errors: [409],
  },
  denyJoinRequest: {
    ...identityRoute,
    method: "POST",
    path: `${base}/groups/:id/join-requests/:request_id/deny`,
    summary: "Refuse the requester",
    action: "join-request:decide",
    params: joinParams,
    body: reason,
    bodyOptional: true,
    status: 200,
    reply: joinRequest,
    errors: [409],
  },
} as const satisfies Contract;

const permissionName = z.string().regex(/^(\*|[a-z][a-z0-9-]{0,63})$/, "expected a name or *");
const permission = z.strictObject({ resource: permissionName, action: permissionName });

/** `actions[]` is taken for one permission each. */
const permissions = z
  .array(z.union([permission, z.strictObject({ resource: permissionName, actions: z.array(permissionName).min(1).max(64) })]))
  .max(256)
  .transform((list) =>
    list.flatMap((entry) =>
      "actions" in entry ? entry.actions.map((action) => ({ resource: entry.resource, action })) : [entry],
    ),
  );

const customRole = z
  .object({
    ...stored,
    name: z.string(),
    description: z.string(),
    permissions: z.array(z.object({ resource: z.string(), action: z.string() })),
    assignments: z.array(z.object({ identity_id: z.string(), identity_type: z.enum(identityTypes), assigned_by: z.string() })),
  })
  .meta({ id: "Role" });

/** Custom roles, which feed authorisation on the rows that admit them. */
export const roleRoutes = {
  createRole: {
    ...identityRoute,
    method: "POST",
    path: `${base}/roles`,
    summary: "A role with permissions",
    action: "role:write",
    body: z.strictObject({ name, description: text.default(""), permissions }),
    bodyLimit: 256 << 10,
    status: 201,
    reply: customRole,
    errors: [409],
  },
  listRoles: {
    ...identityRoute,
    method: "GET",
    path: `${base}/roles`,
    summary: "Roles, newest first",
    action: "role:read",
    query: page(),
    status: 200,
    reply: listOf("roles", customRole),
  },
  getRole: {
    ...identityRoute,
    method: "GET",
    path: `${base}/roles/:id`,
    summary: "One role with its assignments",
    action: "role:read",
    entity: "role",
    params: idParam,
    status: 200,
    reply: customRole,
  },
  assignRole: {
    ...identityRoute,
    method: "POST",
    path: `${base}/roles/:id/assign`,
    summary: "Give the role to an identity; never to oneself, never more than one has",
    action: "role:assign",
    entity: "role",
    params: idParam,
    body: z.strictObject({
      identity_id: identityId,
      identity_type: z.enum(identityTypes),
      assigned_by: z.string().max(256).optional().meta({ description: "a claim; the record keeps the authenticated caller" }),
    }),
    status: 204,
    errors: [409],
  },
  unassignRole: {
    ...identityRoute,
    method: "DELETE",
    path: `${base}/roles/:id/assignments/:identity_id`,
    summary: "Take the role from an identity",
    action: "role:assign",
    entity: "role",
    params: z.strictObject({ id: z.uuid(), identity_id: identityId }),
    status: 204,
  },
} as const satisfies Contract;
