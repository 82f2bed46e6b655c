import type { JsonObject } from "@seneschal/kernel";
import type { CreateTenant, DeleteTenant, UpdateSystem, UpdateTenant } from "../command.ts";
import { type Rejection, reject } from "../errors.ts";
import { tenantUsage } from "../soft/ledger.ts";
import { carryGuarantee, contribution, holdingOf, lineage } from "../state/holdings.ts";
import type { SortedMap } from "../state/sorted-map.ts";
import { type QuotaState, userKey } from "../state/state.ts";
import { checkSettings, DEFAULT_SETTINGS, guaranteedNodes, type Tenant, type TenantSettings } from "../state/tenant.ts";
import { markKey } from "./budget.ts";
import { audit, type Handled, record, type Work } from "./work.ts";

/** Levels of the tenant tree: organisation, division, team, project and so on. */
const MAX_DEPTH = 8;

export function createTenant(work: Work, command: CreateTenant): Handled {
  if (work.draft.tenants.has(command.tenant))
    return reject("already_exists", `tenant already exists: ${command.tenant}`, { tenant: command.tenant });
  return makeTenant(work, command, command.tenant, command.parent ?? null, command.settings);
}

/** Shared with a submission that may create its tenant. */
export function makeTenant(
  work: Work,
  command: CreateTenant | (Parameters<typeof audit>[1] & { readonly kind: "allocation.submit" }),
  id: string,
  parent: string | null,
  given: Partial<TenantSettings>,
): Handled {
  if (id === "") return reject("invalid_argument", "name must not be empty", { field: "name" });
  const settings = sortedSettings({ ...DEFAULT_SETTINGS, ...given });
  const wrong = checkSettings({ ...settings });
  if (wrong !== undefined) return wrong;
  if (parent !== null) {
    if (!work.draft.tenants.has(parent)) return reject("not_found", `tenant not found: ${parent}`, { tenant: parent });
    if ([...lineage(work.draft, parent)].length >= MAX_DEPTH)
      return reject("invalid_argument", `parent is ${MAX_DEPTH} levels deep already`, { field: "parent" });
  }
  const tenant: Tenant = {
    ...settings,
    id,
    parent,
    version: 1,
    createdAt: work.at,
    updatedAt: work.at,
    updatedBy: command.by,
    updateReason: command.why ?? null,
  };
  work.draft.tenants = work.draft.tenants.set(id, tenant);
  carryGuarantee(work.draft, tenant, 0);
  audit(work, command, "tenant", id, { new: auditedSettings(tenant) }, "tenant.create");
  record(work, "tenant.created", id, { tenant: id, version: 1, by: command.by });
  return { ok: true, result: { tenant: id, version: 1 } };
}

export function updateTenant(work: Work, command: UpdateTenant): Handled {
  const before = work.draft.tenants.get(command.tenant);
  if (before === undefined) return reject("not_found", `tenant not found: ${command.tenant}`, { tenant: command.tenant });
  const stale = staleVersion("tenant", command.tenant, command.ifVersion, before.version);
  if (stale !== undefined) return stale;
  const wrong = checkSettings({ ...command.settings });
  if (wrong !== undefined) return wrong;
  const after: Tenant = {
    ...before,
    ...sortedSettings({ ...settingsOf(before), ...command.settings }),
    version: before.version + 1,
    updatedAt: work.at,
    updatedBy: command.by,
    updateReason: command.why ?? null,
  };
  const took = contribution(before, holdingOf(work.draft, before.id).reserved);
  work.draft.tenants = work.draft.tenants.set(after.id, after);
  if (guaranteedNodes(after) !== guaranteedNodes(before)) carryGuarantee(work.draft, after, took);
  const [old, now] = [settingsOf(before), settingsOf(after)];
  const changed = Object.keys(command.settings).sort() as (keyof TenantSettings)[];
  const details = {
    old: Object.fromEntries(changed.map((field) => [field, old[field]])) as JsonObject,
    new: Object.fromEntries(changed.map((field) => [field, now[field]])) as JsonObject,
    version: after.version,
  };
  audit(work, command, "tenant", after.id, details);
  record(work, "quota.updated", after.id, { tenant: after.id, ...details, by: command.by, why: command.why ?? null });
  return { ok: true, result: { tenant: after.id, version: after.version } };
}

/**
 * Ends a tenant that nothing depends on any more: no child, no work that has not ended, no claim. What was guaranteed to it goes back
 * to its ancestors; its usage, marks and the records of its ended work go with it, so that a later tenant of the name inherits nothing.
 * The audit entry keeps the hours of its last budget period.
 */
export function deleteTenant(work: Work, command: DeleteTenant): Handled {
  const { draft } = work;
  const id = command.tenant;
  const tenant = draft.tenants.get(id);
  if (tenant === undefined) return reject("not_found", `tenant not found: ${id}`, { tenant: id });
  const stale = staleVersion("tenant", id, command.ifVersion, tenant.version);
  if (stale !== undefined) return stale;
  const left = dependents(draft, id);
  if (left !== undefined) return left;
  const { gpuHours, nodeHours } = tenantUsage(draft, id, draft.system.budgetPeriodDays, work.at);
  carryGuarantee(draft, { ...tenant, lendingLimit: null }, contribution(tenant, holdingOf(draft, id).reserved));
  draft.tenants = draft.tenants.delete(id);
  draft.holdings = draft.holdings.delete(id);
  draft.tenantUsage = draft.tenantUsage.delete(id);
  draft.external = draft.external.delete(id);
  draft.budgetMarks = without(draft.budgetMarks, (key) => key.startsWith(markKey(id, "")));
  draft.userUsage = without(draft.userUsage, (key) => key.endsWith(userKey("", id)));
  draft.userHoldings = without(draft.userHoldings, (key) => key.endsWith(userKey("", id)));
  const before = draft.allocations.size;
  draft.allocations = without(draft.allocations, (_, allocation) => allocation.tenant === id);
  const allocations = before - draft.allocations.size;
  audit(work, command, "tenant", id, { old: auditedSettings(tenant), version: tenant.version, allocations, gpuHours, nodeHours });
  record(work, "tenant.deleted", id, { tenant: id, version: tenant.version, by: command.by, why: command.why ?? null });
  return { ok: true, result: { tenant: id, version: tenant.version } };
}

/** What keeps a tenant from being deleted. */
function dependents(draft: QuotaState, id: string): Rejection | undefined {
  const tenants = [...draft.tenants.values()].filter(({ parent }) => parent === id).length;
  let allocations = 0;
  for (const live of draft.live.keys()) if (draft.allocations.get(live)?.tenant === id) allocations++;
  let claims = 0;
  for (const { claim } of draft.nodes.values()) if (claim?.tenant === id) claims++;
  const [reason, text] =
    allocations > 0
      ? ["active_allocations_exist", `${allocations} allocations that have not ended`]
      : claims > 0
        ? ["claims_exist", `${claims} claimed nodes`]
        : tenants > 0
          ? ["child_tenants_exist", `${tenants} tenants below it`]
          : [];
  if (reason === undefined) return undefined;
  return reject("tenant_not_empty", `tenant ${id} has ${text}`, { tenant: id, reason, allocations, claims, tenants });
}

function without<V>(map: SortedMap<V>, gone: (key: string, value: V) => boolean): SortedMap<V> {
  let left = map;
  for (const [key, value] of map.entries()) if (gone(key, value)) left = left.delete(key);
  return left;
}

export function updateSystem(work: Work, command: UpdateSystem): Handled {
  const before = work.draft.system;
  const stale = staleVersion("system", "quotas", command.ifVersion, before.version);
  if (stale !== undefined) return stale;
  const pool = command.sensitivePoolSize ?? before.sensitivePoolSize;
  const days = command.budgetPeriodDays ?? before.budgetPeriodDays;
  if (!Number.isSafeInteger(pool) || pool < 0)
    return reject("invalid_argument", "sensitivePoolSize must be an integer >= 0", { field: "sensitivePoolSize" });
  if (!Number.isSafeInteger(days) || days < 1 || days > 3660)
    return reject("invalid_argument", "budgetPeriodDays must be an integer from 1 to 3660", { field: "budgetPeriodDays" });
  work.draft.system = {
    sensitivePoolSize: pool,
    budgetPeriodDays: days,
    version: before.version + 1,
    updatedAt: work.at,
    updatedBy: command.by,
    updateReason: command.why ?? null,
  };
  const details = {
    old: { sensitivePoolSize: before.sensitivePoolSize, budgetPeriodDays: before.budgetPeriodDays },
    new: { sensitivePoolSize: pool, budgetPeriodDays: days },
  };
  audit(work, command, "system", "quotas", details);
  record(work, "quota.updated", null, { ...details, by: command.by, why: command.why ?? null });
  return { ok: true, result: { version: before.version + 1 } };
}

/** A plan or an edit made from another version than the present one. */
export function staleVersion(type: string, id: string, expected: number | undefined, actual: number): Rejection | undefined {
  if (expected === undefined || expected === actual) return undefined;
  return reject("stale_state", `${type} ${id} is at version ${actual}, not ${expected}`, { type, id, expected, actual });
}

/** The settings alone, keys in a fixed order. */
function settingsOf(tenant: TenantSettings): TenantSettings & JsonObject {
  const keys = Object.keys(DEFAULT_SETTINGS) as (keyof TenantSettings)[];
  return Object.fromEntries(keys.map((key) => [key, tenant[key]])) as unknown as TenantSettings & JsonObject;
}

/** Settings that came after release 0.1: see {@link auditedSettings}. */
const LATER: readonly (keyof TenantSettings)[] = ["preemption", "preemptionExemptHours"];

/**
 * The settings as the audit chain tells them. What came after release 0.1 is left out where it is not set: an entry of its log, replayed,
 * must have the hash that it had.
 */
function auditedSettings(tenant: TenantSettings): JsonObject {
  return Object.fromEntries(Object.entries(settingsOf(tenant)).filter(([key, v]) => v !== null || !LATER.includes(key as never)));
}

/** Maps inside the state have sorted keys, so that equal states encode equally. */
function sortedSettings(settings: TenantSettings): TenantSettings {
  const maxGpus = settings.maxGpus;
  if (typeof maxGpus !== "object" || maxGpus === null) return settings;
  return { ...settings, maxGpus: sortKeys(maxGpus) };
}

/** The same record with its keys in order. */
export function sortKeys<V>(record: Readonly<Record<string, V>>): Readonly<Record<string, V>> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
