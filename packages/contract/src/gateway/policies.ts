import * as z from "zod";
import { jsonValue } from "../json-value.ts";
import type { Contract } from "../route.ts";
import { idParam, listOf, name, organizationId, page, reference, signature, signed, text, timestamp } from "./shapes.ts";

const rego = z.string().min(1).max(262_144);
/** Bytes for the text of a policy, escaped as JSON may. */
const texts = 1 << 20;

const policy = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    name: z.string(),
    workspace: z.uuid().nullable(),
    workspace_id: z.uuid().nullable(),
    rego: z.string(),
    version: z.int(),
    created_by: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Policy" });

const route = { tag: "policies", auth: "principal" } as const;
const base = "/api/v1/policies";

/** Rego that restricts what admission would allow. */
export const policyRoutes = {
  createPolicy: {
    ...route,
    method: "POST",
    path: base,
    summary: "A policy for one workspace, or for all of the organisation's",
    action: "policy:write",
    body: z.strictObject({
      name,
      workspace: reference.optional(),
      rego,
      crk_signature: signature.optional(),
      signature_params: signed.signature_params,
    }),
    bodyLimit: texts,
    status: 201,
    reply: policy,
    errors: [409],
  },
  getPolicy: {
    ...route,
    method: "GET",
    path: `${base}/:id`,
    summary: "One policy",
    action: "policy:read",
    entity: "policy",
    params: idParam,
    status: 200,
    reply: policy,
  },
  updatePolicy: {
    ...route,
    method: "PUT",
    path: `${base}/:id`,
    summary: "A new version; one that does not compile leaves the old version active",
    action: "policy:write",
    entity: "policy",
    params: idParam,
    body: z.strictObject({ rego, ...signed }),
    bodyLimit: texts,
    status: 200,
    reply: policy,
    errors: [409],
  },
  deletePolicy: {
    ...route,
    method: "DELETE",
    path: `${base}/:id`,
    summary: "Remove a policy",
    action: "policy:write",
    entity: "policy",
    params: idParam,
    body: z.strictObject(signed),
    bodyOptional: true,
    status: 204,
    errors: [409],
  },
  listWorkspacePolicies: {
    ...route,
    method: "GET",
    path: `${base}/workspace/:workspace_id`,
    summary: "Policies that apply to a workspace, newest first",
    action: "policy:read",
    params: z.strictObject({ workspace_id: z.uuid() }),
    query: page(),
    status: 200,
    reply: listOf("policies", policy),
  },
  evaluatePolicy: {
    ...route,
    method: "POST",
    path: `${base}/evaluate`,
    summary: "What the policies of a workspace say to a question",
    action: "policy:evaluate",
    body: z.strictObject({
      actor: z.string().max(256),
      role: z.string().max(64).default(""),
      operation: z.string().min(1).max(64),
      workspace: reference,
      purpose: text.default(""),
      metadata: z.record(z.string().max(128), jsonValue).default({}),
    }),
    status: 200,
    reply: z
      .object({ allowed: z.boolean(), deny_reason: z.string(), eval_time_ms: z.int() })
      .meta({ id: "PolicyEvaluateResult" }),
  },
  validatePolicy: {
    ...route,
    method: "POST",
    path: `${base}/validate`,
    summary: "Whether a source text compiles, and every problem with its place",
    action: "policy:validate",
    body: z.strictObject({ rego: z.string().max(262_144) }),
    bodyLimit: texts,
    status: 200,
    reply: z
      .object({
        valid: z.boolean(),
        error: z.string().optional(),
        errors: z.array(z.object({ code: z.string(), message: z.string(), row: z.int(), col: z.int() })).optional(),
      })
      .meta({ id: "PolicyValidateResult" }),
  },
} as const satisfies Contract;
