import type { Principal } from "@seneschal/contract";
import { CodedError } from "@seneschal/kernel";
import type { QuotaState } from "@seneschal/quota";

/** Who may do what. A principal may hold several. */
export const ROLES = ["user", "tenant-admin", "system-admin", "accounting", "auditor", "agent", "peer"] as const;
export type Role = (typeof ROLES)[number];

export function hasRole(principal: Principal, ...roles: readonly Role[]): boolean {
  return roles.some((role) => principal.roles.includes(role));
}

/** Sees every tenant. */
export function seesAll(principal: Principal): boolean {
  return hasRole(principal, "system-admin", "accounting");
}

/** The caller's own tenant, or for its administrator one below it. */
export function reachesTenant(state: QuotaState, principal: Principal, tenant: string): boolean {
  if (seesAll(principal) || (principal.org !== "" && principal.org === tenant)) return true;
  if (!hasRole(principal, "tenant-admin") || principal.org === "") return false;
  for (let next = state.tenants.get(tenant)?.parent ?? null; next !== null; next = state.tenants.get(next)?.parent ?? null)
    if (next === principal.org) return true;
  return false;
}

/** Refuses a foreign tenant, whether it exists or not. */
export function requireTenant(state: QuotaState, principal: Principal, tenant: string): void {
  if (!reachesTenant(state, principal, tenant)) throw forbidden("the tenant is not yours");
}

export function forbidden(message: string): CodedError {
  return new CodedError("forbidden", message);
}
