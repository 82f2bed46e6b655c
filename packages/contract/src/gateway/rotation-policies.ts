import * as z from "zod";
import type { Contract } from "../route.ts";
import { durationText, idParam, listOf, organizationId, page, timestamp } from "./shapes.ts";

const rotationPolicy = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    workspace_id: z.uuid(),
    max_age: z.string().meta({ description: "duration in hours, for example 720h" }),
    enabled: z.boolean(),
    last_rotated_at: timestamp,
    next_rotation_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "RotationPolicy" });

const route = { tag: "rotation policies", auth: "principal" } as const;
const path = "/api/v1/workspaces/:id/rotation-policy";

/** How old a workspace's data key may grow before it is rotated by itself. */
export const rotationPolicyRoutes = {
  listRotationPolicies: {
    ...route,
    method: "GET",
    path: "/api/v1/rotation-policies",
    summary: "Rotation policies, newest first",
    action: "rotation-policy:read",
    query: page(),
    status: 200,
    reply: listOf("policies", rotationPolicy),
  },
  setRotationPolicy: {
    ...route,
    method: "PUT",
    path,
    summary: "Set the rotation policy of a workspace",
    action: "rotation-policy:write",
    entity: "rotation-policy",
    params: idParam,
    body: z.strictObject({ max_age: durationText, enabled: z.boolean().default(true) }),
    status: 200,
    reply: rotationPolicy,
    errors: [409],
  },
  getRotationPolicy: {
    ...route,
    method: "GET",
    path,
    summary: "The rotation policy of a workspace",
    action: "rotation-policy:read",
    entity: "rotation-policy",
    params: idParam,
    status: 200,
    reply: rotationPolicy,
  },
  removeRotationPolicy: {
    ...route,
    method: "DELETE",
    path,
    summary: "Stop rotating by age",
    action: "rotation-policy:write",
    entity: "rotation-policy",
    params: idParam,
    status: 204,
  },
} as const satisfies Contract;
