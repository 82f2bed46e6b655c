import * as z from "zod";
import { jsonValue } from "../json-value.ts";
import { flagParam, integerParam, timeParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { count, hours, idParams, name, success, time, userName, why } from "./nouns.ts";

const settings = {
  max_nodes: count,
  max_concurrent_allocations: count.nullable(),
  gpu_hours_budget: hours.nullable(),
  node_hours_budget: hours.nullable(),
  fair_share_target: z.number().min(0).max(1),
  burst_allowance: z.number().min(1).max(1e6).nullable(),
  isolation_level: z.enum(["standard", "strict"]),
  borrowing_limit: count,
  lending_limit: count.nullable(),
  max_gpus: z.record(name, count),
  user_max_nodes: count.nullable(),
  user_max_concurrent_allocations: count.nullable(),
  preemption: z.enum(["off", "requeue", "cancel"]).nullable(),
  preemption_exempt_hours: hours.nullable(),
};

const tenant = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    ...settings,
    parent: z.string().nullable(),
    version: z.int(),
    created_at: time,
    updated_at: time,
    updated_by: z.string(),
    update_reason: z.string().nullable(),
  })
  .meta({ id: "Tenant" });

const fraction = z.number().nullable();
const window = { period_start: time, period_end: time };

const usage = z
  .strictObject({
    tenant: z.string(),
    gpu_hours_used: z.number(),
    gpu_hours_budget: z.number().nullable(),
    gpu_fraction_used: fraction,
    node_hours_used: z.number(),
    node_hours_budget: z.number().nullable(),
    node_fraction_used: fraction,
    ...window,
    period_days: z.int(),
    source: z.enum(["external", "ledger"]),
  })
  .meta({ id: "TenantUsage" });

const userUsage = z
  .strictObject({
    user: z.string(),
    tenants: z.array(
      z.strictObject({
        tenant: z.string(),
        gpu_hours_used: z.number(),
        gpu_hours_budget: z.number().nullable(),
        node_hours_used: z.number(),
        node_hours_budget: z.number().nullable(),
      }),
    ),
    total_gpu_hours: z.number(),
    ...window,
  })
  .meta({ id: "UserUsage" });

const days = integerParam(1, 3660).optional();
const of = { tag: "tenants", auth: "principal" } as const;

/** Tenants, their quotas and what they used. */
export const tenantRoutes = {
  createTenant: {
    ...of,
    method: "POST",
    path: "/api/v1/tenants",
    summary: "Create a tenant; a name that exists is a conflict, never overwritten",
    action: "tenant:create",
    keyed: true,
    body: z.strictObject({ name, parent: name.optional(), reason: why.optional(), ...z.object(settings).partial().shape }),
    status: 201,
    reply: tenant,
    errors: [409, 503],
  },
  listTenants: {
    ...of,
    method: "GET",
    path: "/api/v1/tenants",
    summary: "The tenants that the caller may see",
    action: "tenant:list",
    query: z.strictObject({}),
    status: 200,
    reply: z.array(tenant),
  },
  getTenant: {
    ...of,
    method: "GET",
    path: "/api/v1/tenants/:id",
    entity: "tenant",
    summary: "One tenant, as it is now",
    action: "tenant:read",
    params: idParams,
    status: 200,
    reply: tenant,
    errors: [503],
  },
  updateTenant: {
    ...of,
    method: "PUT",
    path: "/api/v1/tenants/:id",
    entity: "tenant",
    summary: "Change the named fields; null clears where there may be none. Hard limits hold at once",
    action: "tenant:update",
    params: idParams,
    query: z.strictObject({ dry_run: flagParam().optional() }),
    body: z.strictObject({ reason: why.optional(), ...z.object(settings).partial().shape }),
    status: 200,
    reply: tenant,
    errors: [409, 503],
  },
  deleteTenant: {
    ...of,
    method: "DELETE",
    path: "/api/v1/tenants/:id",
    entity: "tenant",
    summary:
      "Delete a tenant that has no work, no claimed node and no child; its usage goes with it. Under If-Match only as it was",
    action: "tenant:delete",
    keyed: true,
    params: idParams,
    query: z.strictObject({ reason: why.optional() }),
    status: 200,
    reply: success,
    errors: [409, 503],
    extension: true,
  },
  listTenantEdits: {
    ...of,
    method: "GET",
    path: "/api/v1/tenants/:id/edits",
    summary: "Who changed which quota, when and why, newest first",
    action: "tenant:edits",
    params: idParams,
    status: 200,
    reply: z.array(
      z.strictObject({
        /** The tenant's version that the edit made. */
        version: z.int(),
        timestamp: time,
        user: z.string(),
        reason: z.string().nullable(),
        old: z.record(z.string(), jsonValue),
        new: z.record(z.string(), jsonValue),
      }),
    ),
    extension: true,
  },
  getTenantUsage: {
    ...of,
    method: "GET",
    path: "/api/v1/tenants/:id/usage",
    summary: "Hours used in the last days, clipped to the window, finished work included",
    action: "usage:tenant",
    params: idParams,
    query: z.strictObject({ days }),
    status: 200,
    reply: usage,
    errors: [503],
  },
  getUserUsage: {
    ...of,
    method: "GET",
    path: "/api/v1/usage",
    summary: "Hours that one user used, by tenant",
    action: "usage:user",
    query: z.strictObject({ user: userName, days }),
    status: 200,
    reply: userUsage,
    errors: [503],
  },
  getAccountingUsage: {
    ...of,
    method: "GET",
    path: "/api/v1/accounting/usage",
    summary: "GPU hours between two times, at first those of the budget period; of one tenant, or of all that the caller sees",
    action: "usage:tenant",
    query: z
      .strictObject({ tenant_id: name.optional(), start: timeParam().optional(), end: timeParam().optional() })
      .refine(({ start, end }) => start === undefined || end === undefined || start <= end, {
        path: ["end"],
        message: "expected a time that is not before start",
      }),
    status: 200,
    reply: z.strictObject({ tenant_id: z.string(), ...window, gpu_hours: z.number(), total_allocations: z.int() }),
  },
} as const satisfies Contract;
