import type { Tenant, TenantSettings } from "@seneschal/quota";
import { iso } from "./iso.ts";

/** Wire name of each setting. */
const NAMES = {
  maxNodes: "max_nodes",
  maxConcurrentAllocations: "max_concurrent_allocations",
  gpuHoursBudget: "gpu_hours_budget",
  nodeHoursBudget: "node_hours_budget",
  fairShareTarget: "fair_share_target",
  burstAllowance: "burst_allowance",
  isolationLevel: "isolation_level",
  borrowingLimit: "borrowing_limit",
  lendingLimit: "lending_limit",
  maxGpus: "max_gpus",
  userMaxNodes: "user_max_nodes",
  userMaxConcurrentAllocations: "user_max_concurrent_allocations",
  preemption: "preemption",
  preemptionExemptHours: "preemption_exempt_hours",
} as const satisfies Record<keyof TenantSettings, string>;

type Wire = { readonly [K in keyof TenantSettings as (typeof NAMES)[K]]: TenantSettings[K] };
const ENTRIES = Object.entries(NAMES) as [keyof TenantSettings, keyof Wire][];

/** The present fields under their own names; absent ones stay absent. */
export function settingsFromWire(wire: { readonly [K in keyof Wire]?: Wire[K] | undefined }): Partial<TenantSettings> {
  return Object.fromEntries(ENTRIES.filter(([, name]) => wire[name] !== undefined).map(([field, name]) => [field, wire[name]]));
}

export function settingsToWire(settings: Partial<TenantSettings>): Partial<Wire> {
  return Object.fromEntries(
    ENTRIES.filter(([field]) => settings[field] !== undefined).map(([field, name]) => [name, settings[field]]),
  );
}

export function tenantView(tenant: Tenant) {
  return {
    id: tenant.id,
    name: tenant.id,
    ...(settingsToWire(tenant) as Wire),
    max_gpus: { ...tenant.maxGpus },
    parent: tenant.parent,
    version: tenant.version,
    created_at: iso(tenant.createdAt),
    updated_at: iso(tenant.updatedAt),
    updated_by: tenant.updatedBy,
    update_reason: tenant.updateReason,
  };
}
