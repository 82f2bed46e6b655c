import { admissionStatuses, identityTypes } from "@seneschal/core/keys";
import * as z from "zod";
import { limitParam, offsetParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { identityId, idParam, listOf, organizationId, timestamp } from "./shapes.ts";

const admission = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    workspace_id: z.uuid(),
    identity_id: z.string(),
    identity_type: z.enum(identityTypes),
    status: z.enum(admissionStatuses),
    granted_by: z.string(),
    via_group: z.string().nullable().default(null).meta({ description: "The group with whose membership it ends" }),
    granted_at: timestamp,
    revoked_by: z.string().nullable(),
    revoked_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "WorkspaceAdmission" });

const route = { tag: "admissions", auth: "principal", errors: [409] } as const;
const base = "/api/v1/workspaces/:id/admissions";
const identityParam = z.strictObject({ id: z.uuid(), identity_id: identityId });

/** Who is let into a workspace, one identity at a time. */
export const admissionRoutes = {
  grantAdmission: {
    ...route,
    method: "POST",
    path: base,
    summary: "Let an identity of the caller's organisation in",
    action: "admission:write",
    params: idParam,
    body: z.strictObject({
      identity_id: identityId,
      identity_type: z.enum(identityTypes),
      org_id: organizationId.optional(),
    }),
    status: 201,
    reply: admission,
  },
  listAdmissions: {
    ...route,
    method: "GET",
    path: base,
    summary: "Admissions of a workspace, newest first",
    action: "admission:read",
    params: idParam,
    query: z.strictObject({ limit: limitParam(100), offset: offsetParam() }),
    status: 200,
    reply: listOf("admissions", admission),
  },
  getAdmission: {
    ...route,
    method: "GET",
    path: `${base}/:identity_id`,
    summary: "The newest admission of an identity",
    action: "admission:read",
    entity: "admission",
    params: identityParam,
    status: 200,
    reply: admission,
  },
  revokeAdmission: {
    ...route,
    method: "DELETE",
    path: `${base}/:identity_id`,
    summary: "End an admission at once",
    action: "admission:write",
    entity: "admission",
    params: identityParam,
    status: 204,
  },
} as const satisfies Contract;
