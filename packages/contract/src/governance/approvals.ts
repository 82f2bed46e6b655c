import * as z from "zod";
import { limitParam, offsetParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { approval, evaluateRequest, person } from "./shapes.ts";

const common = { tag: "approvals", auth: "principal", extension: true } as const;
const params = z.strictObject({ id: z.string().max(64) });

/** Time-limited approvals: asked for by who may evaluate, decided by somebody else who may approve. */
export const approvalRoutes = {
  requestApproval: {
    ...common,
    method: "POST",
    path: "/api/v1/approvals",
    action: "evaluate",
    summary: "Ask for leave to do one operation for a time",
    body: z.strictObject({
      request: evaluateRequest,
      reason: z.string().min(1).max(1000),
      duration_seconds: z.int().min(60).max(2_592_000).default(86_400),
    }),
    bodyLimit: 512 << 10,
    values: 8192,
    status: 201,
    reply: approval,
  },
  listApprovals: {
    ...common,
    method: "GET",
    path: "/api/v1/approvals",
    action: "approvals:read",
    summary: "Approvals of the organisation, newest first",
    query: z.strictObject({ limit: limitParam(100), offset: offsetParam() }),
    status: 200,
    reply: z.strictObject({ approvals: z.array(approval), count: z.int(), total: z.int() }),
  },
  getApproval: {
    ...common,
    method: "GET",
    path: "/api/v1/approvals/:id",
    action: "approvals:read",
    summary: "One approval",
    params,
    status: 200,
    reply: approval,
  },
  decideApproval: {
    ...common,
    method: "POST",
    path: "/api/v1/approvals/:id/decision",
    action: "approve",
    summary: "Give or refuse the leave; neither the key nor the person that asked can",
    params,
    body: z.strictObject({
      decision: z.enum(["approve", "reject"]),
      user_id: person,
      duration_seconds: z.int().min(60).max(2_592_000).optional(),
    }),
    status: 200,
    reply: approval,
  },
  revokeApproval: {
    ...common,
    method: "DELETE",
    path: "/api/v1/approvals/:id",
    action: "approve",
    summary: "Take the leave back; it ends at once",
    params,
    status: 204,
  },
} as const satisfies Contract;
