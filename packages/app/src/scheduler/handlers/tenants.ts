import type { Handlers } from "@seneschal/contract";
import { requireMatch, versionTag, withHeaders } from "@seneschal/contract";
import type { SchedulerContract } from "@seneschal/contract/scheduler";
import { CodedError } from "@seneschal/kernel";
import {
  apply,
  type Command,
  DAY_MS,
  hasRole,
  type QuotaState,
  reachesTenant,
  seesAll,
  type Tenant,
  type TenantSettings,
  tenantsOfUser,
  usageOver,
  userUsage,
} from "@seneschal/quota";
import { forbidden, requireTenant } from "../auth/roles.ts";
import { refusal } from "../quotas.ts";
import type { SchedulerServices } from "../services.ts";
import { stamp } from "../stamp.ts";
import { asOf } from "../views/as-of.ts";
import { iso } from "../views/iso.ts";
import { json } from "../views/json.ts";
import { settingsFromWire, settingsToWire, tenantView } from "../views/tenant.ts";

type TenantRoutes =
  | "createTenant"
  | "listTenants"
  | "getTenant"
  | "updateTenant"
  | "deleteTenant"
  | "listTenantEdits"
  | "getTenantUsage"
  | "getUserUsage"
  | "getAccountingUsage";

/** What the accounting system may push: quotas, not policy. */
const ACCOUNTING_FIELDS: readonly string[] = ["max_nodes", "max_concurrent_allocations", "gpu_hours_budget", "node_hours_budget"];

export function unknownTenant(id: string): CodedError {
  return new CodedError("not_found", `tenant not found: ${id}`, { tenant: id });
}

function existing(state: QuotaState, id: string): Tenant {
  const tenant = state.tenants.get(id);
  if (tenant === undefined) throw unknownTenant(id);
  return tenant;
}

export const tenantHandlers: Pick<Handlers<SchedulerContract, SchedulerServices>, TenantRoutes> = {
  async createTenant({ quotas, random }, input) {
    const { name, parent, reason, ...settings } = input.body;
    await quotas.propose({
      kind: "tenant.create",
      ...stamp(random, "createTenant", input, reason),
      tenant: name,
      ...(parent === undefined ? {} : { parent }),
      settings: settingsFromWire(settings),
    });
    const tenant = existing(quotas.state(), name);
    return withHeaders({ etag: versionTag(tenant.version) }, tenantView(tenant));
  },

  listTenants(services, { principal }) {
    const state = services.quotas.state();
    return asOf(services, [...state.tenants.values()].filter(({ id }) => reachesTenant(state, principal, id)).map(tenantView));
  },

  async getTenant({ quotas }, { params, principal }) {
    const state = await quotas.read();
    requireTenant(state, principal, params.id);
    const tenant = existing(state, params.id);
    return withHeaders({ etag: versionTag(tenant.version) }, tenantView(tenant));
  },

  async updateTenant({ quotas, random }, input) {
    const { params, principal, query, now } = input;
    const { reason, ...fields } = input.body;
    const named = Object.keys(fields);
    if (!hasRole(principal, "system-admin")) {
      const beyond = named.find((field) => !ACCOUNTING_FIELDS.includes(field));
      if (beyond !== undefined) throw forbidden(`${beyond} is not for the accounting service to set`);
    }
    const before = existing(await quotas.read(), params.id);
    const guarded = input.request.headers["if-match"] !== undefined;
    if (guarded) requireMatch(input.request.headers, versionTag(before.version));
    const command: Command = {
      kind: "tenant.update",
      ...stamp(random, "updateTenant", { ...input, request: { ...input.request, headers: {} } }, reason),
      tenant: params.id,
      settings: settingsFromWire(fields),
      ...(guarded ? { ifVersion: before.version } : {}),
    };
    if (query.dry_run === true) {
      const outcome = apply(quotas.state(), command, now);
      if (!outcome.ok) throw refusal(outcome);
      return withHeaders({ "x-dry-run": "true" }, tenantView(existing(outcome.state, params.id)));
    }
    await quotas.propose(command);
    const tenant = existing(quotas.state(), params.id);
    return withHeaders({ etag: versionTag(tenant.version) }, tenantView(tenant));
  },

  async deleteTenant({ quotas, random }, input) {
    const { id } = input.params;
    const before = (await quotas.read()).tenants.get(id);
    // Of one that is gone the state itself knows whether this is a repeat.
    const guarded = before !== undefined && input.request.headers["if-match"] !== undefined;
    if (guarded) requireMatch(input.request.headers, versionTag(before.version));
    await quotas.propose({
      kind: "tenant.delete",
      ...stamp(random, `deleteTenant ${id}`, input, input.query.reason),
      tenant: id,
      ...(guarded ? { ifVersion: before.version } : {}),
    });
    return { success: true as const };
  },

  listTenantEdits({ quotas }, { params, principal }) {
    const state = quotas.state();
    requireTenant(state, principal, params.id);
    existing(state, params.id);
    return [...state.audit.values()]
      .filter((entry) => entry.resourceType === "tenant" && entry.resourceId === params.id)
      .reverse()
      .map(({ at, user, details }) => ({
        version: typeof details["version"] === "number" ? details["version"] : 1,
        timestamp: iso(at),
        user,
        reason: typeof details["why"] === "string" ? details["why"] : null,
        old: json(settingsToWire((details["old"] ?? {}) as Partial<TenantSettings>)),
        new: json(settingsToWire((details["new"] ?? {}) as Partial<TenantSettings>)),
      }));
  },

  async getTenantUsage({ quotas, clock }, { params, principal, query }) {
    const state = await quotas.read();
    requireTenant(state, principal, params.id);
    return tenantUsageView(state, existing(state, params.id), query.days, Math.max(clock.now(), state.at));
  },

  async getUserUsage({ quotas, clock }, { principal, query }) {
    const state = await quotas.read();
    const self = principal.id === query.user;
    if (!self && !seesAll(principal) && !hasRole(principal, "tenant-admin"))
      throw forbidden("the usage of others is not yours to see");
    const now = Math.max(clock.now(), state.at);
    return userUsageView(state, query.user, query.days, now, (tenant) => self || reachesTenant(state, principal, tenant));
  },

  getAccountingUsage({ quotas, clock }, { principal, query }) {
    const state = quotas.state();
    const asked = query.tenant_id ?? principal.org;
    const everyone = asked === "" && seesAll(principal);
    if (!everyone) {
      requireTenant(state, principal, asked);
      existing(state, asked);
    }
    const now = Math.max(clock.now(), state.at);
    const to = query.end ?? now;
    const from = query.start ?? Math.max(0, to - state.system.budgetPeriodDays * DAY_MS);
    let gpuMs = 0n;
    for (const id of everyone ? state.tenants.keys() : [asked])
      gpuMs += state.tenantUsage.get(id)?.used(from, Math.min(to, now)).gpuMs ?? 0n;
    let total = 0;
    for (const { tenant, attempts } of state.allocations.values())
      if ((everyone || tenant === asked) && attempts.some((a) => a.startedAt < to && (a.endedAt ?? to) > from)) total++;
    return {
      tenant_id: asked,
      period_start: iso(from),
      period_end: iso(to),
      gpu_hours: Number(gpuMs) / 3_600_000,
      total_allocations: total,
    };
  },
};

/** One body for REST and RPC. */
function tenantUsageView(state: QuotaState, tenant: Tenant, days: number | undefined, now: number) {
  const period = days ?? state.system.budgetPeriodDays;
  const { gpu, node, source } = usageOver(state, tenant, period, now);
  return {
    tenant: tenant.id,
    gpu_hours_used: gpu.used,
    gpu_hours_budget: tenant.gpuHoursBudget,
    gpu_fraction_used: gpu.fraction,
    node_hours_used: node.used,
    node_hours_budget: tenant.nodeHoursBudget,
    node_fraction_used: node.fraction,
    period_start: iso(now - period * DAY_MS),
    period_end: iso(now),
    period_days: period,
    source,
  };
}

function userUsageView(
  state: QuotaState,
  user: string,
  days: number | undefined,
  now: number,
  visible: (tenant: string) => boolean,
) {
  const period = days ?? state.system.budgetPeriodDays;
  const tenants = [...tenantsOfUser(state, user)].filter(visible).map((id) => {
    const used = userUsage(state, user, id, period, now);
    const tenant = state.tenants.get(id);
    return {
      tenant: id,
      gpu_hours_used: used.gpuHours,
      gpu_hours_budget: tenant?.gpuHoursBudget ?? null,
      node_hours_used: used.nodeHours,
      node_hours_budget: tenant?.nodeHoursBudget ?? null,
    };
  });
  return {
    user,
    tenants,
    total_gpu_hours: tenants.reduce((sum, { gpu_hours_used }) => sum + gpu_hours_used, 0),
    period_start: iso(now - period * DAY_MS),
    period_end: iso(now),
  };
}
