import { emergencyStatuses } from "@seneschal/core/keys";
import * as z from "zod";
import type { Contract } from "../route.ts";
import { secret } from "../secret.ts";
import { aliased, idParam, listOf, organizationId, page, signed, text, timestamp } from "./shapes.ts";

const accessRequest = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    reason: z.string(),
    requested_by: z.string(),
    status: z.enum(emergencyStatuses),
    approved_by: z.array(z.string()),
    denied_by: z.string().nullable(),
    required_approvals: z.int(),
    requested_at: timestamp,
    expires_at: timestamp,
    resolved_at: timestamp.nullable(),
    token_expiry: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "AccessRequest" });

const act = z
  .object({
    act: z.enum(["made", "changed", "removed"]),
    kind: z.string(),
    resource_id: z.string(),
    at: timestamp,
    ended_at: timestamp.nullable(),
    revocable: z.boolean().meta({ description: "Whether `revoke` ends it" }),
  })
  .meta({ id: "EmergencyAct" });

const reason = z.strictObject({ reason: text.optional() });
const route = { tag: "emergency access", auth: "principal" } as const;
const base = "/api/v1/emergency-access";

/** Break-glass: two other persons, or the root key, let one act as super admin for an hour. */
export const emergencyRoutes = {
  requestEmergencyAccess: {
    ...route,
    method: "POST",
    path: `${base}/request`,
    summary: "Ask for emergency access; one open request a requester",
    action: "emergency:request",
    body: aliased(z.strictObject({ org_id: organizationId.optional(), reason: text.min(1) }), { justification: "reason" }),
    status: 201,
    reply: accessRequest,
    errors: [409],
  },
  listEmergencyAccess: {
    ...route,
    method: "GET",
    path: base,
    summary: "Requests, newest first; those who may not read all see their own",
    action: "emergency:read",
    query: page().extend({ org_id: organizationId.optional() }),
    status: 200,
    reply: listOf("requests", accessRequest),
  },
  getEmergencyAccess: {
    ...route,
    method: "GET",
    path: `${base}/:id`,
    summary: "One request; the requester is shown the token once after approval, in an answer without ETag",
    action: "emergency:read",
    entity: "emergency-access",
    changesOnRead: true,
    params: idParam,
    status: 200,
    reply: accessRequest.extend({ acts: z.array(act), token: secret(z.string()).optional() }).meta({ id: "AccessRequestRead" }),
  },
  approveEmergencyAccess: {
    ...route,
    method: "POST",
    path: `${base}/:id/approve`,
    summary: "One person's approval; never the requester's, each person's once",
    action: "emergency:decide",
    entity: "emergency-access",
    params: idParam,
    body: reason,
    bodyOptional: true,
    status: 200,
    reply: accessRequest,
    errors: [409],
  },
  denyEmergencyAccess: {
    ...route,
    method: "POST",
    path: `${base}/:id/deny`,
    summary: "One refusal ends the request",
    action: "emergency:decide",
    entity: "emergency-access",
    params: idParam,
    body: reason,
    bodyOptional: true,
    status: 200,
    reply: accessRequest,
    errors: [409],
  },
  completeEmergencyAccess: {
    ...route,
    method: "POST",
    path: `${base}/:id/complete`,
    summary: "End it before its time: the token stops working",
    action: "emergency:complete",
    entity: "emergency-access",
    params: idParam,
    body: reason,
    bodyOptional: true,
    status: 200,
    reply: accessRequest,
    errors: [409],
  },
  revokeEmergencyActs: {
    ...route,
    method: "POST",
    path: `${base}/:id/revoke`,
    summary: "End the services, certificates, roles, members, admissions, users and devices that its token made",
    action: "emergency:revoke",
    extension: true,
    params: idParam,
    body: reason,
    bodyOptional: true,
    status: 200,
    reply: z.object({ ended: z.int() }),
  },
  verifyEmergencyAccess: {
    ...route,
    method: "POST",
    path: `${base}/:id/verify`,
    summary: "The root key's signature in place of all approvals",
    action: "emergency:decide",
    entity: "emergency-access",
    params: idParam,
    body: z.strictObject(signed),
    status: 204,
    errors: [409],
  },
} as const satisfies Contract;
