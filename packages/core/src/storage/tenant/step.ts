import { checkArgument } from "@seneschal/kernel";
import { storageError } from "../errors.ts";

/** A tenant of the cluster, with the key that its data is named and wrapped with. */
export interface Tenant {
  readonly id: string;
  /** `shredding`: cut off, but its key service has not confirmed yet that the key is destroyed. */
  readonly state: "active" | "shredding" | "shredded";
  /** The tenant's key-encryption key, sealed by the tenant's key service; empty once the tenant is cut off. */
  readonly kek: string;
  /** Its chunks are shared with other tenants that hold equal ones. */
  readonly dedup: boolean;
  readonly created_at: number;
}

export type TenantCommand =
  | { readonly kind: "create"; readonly id: string; readonly kek: string; readonly dedup: boolean }
  /** `kek`: sealed with the new version of the tenant's key. */
  | { readonly kind: "rotate"; readonly kek: string }
  | { readonly kind: "shred" }
  /** The key service has destroyed the key. */
  | { readonly kind: "confirm_shred" };

/** The tenant as it is then, and what the audit log calls the change. */
export interface TenantStep {
  readonly tenant: Tenant;
  readonly action: "tenant.create" | "tenant.rotate_key" | "tenant.crypto_shred" | "tenant.crypto_shred.done";
}

/**
 * One step of a tenant; `undefined`: everything is so already. A shred is never taken back, and leaves no sealed key behind. Throws
 * `AlreadyExists`, `NotFound`, `CryptoShredComplete`.
 *
 * @example
 * ```ts
 * import { stepTenant } from "@seneschal/core/storage";
 * const made = stepTenant(undefined, { kind: "create", id: "acme", kek: "sealed", dedup: true }, 0);
 * console.log(stepTenant(made?.tenant, { kind: "shred" }, 1)?.tenant.state); // shredding
 * ```
 */
export function stepTenant(tenant: Tenant | undefined, command: TenantCommand, now: number): TenantStep | undefined {
  checkArgument("command", command, "object");
  checkArgument("now", now, "number");
  if (command.kind === "create") {
    const { id, kek, dedup } = command;
    if (tenant !== undefined) throw storageError("AlreadyExists", `tenant ${id} exists`, { field: "tenant_id" });
    return { tenant: { id, state: "active", kek, dedup, created_at: now }, action: "tenant.create" };
  }
  if (tenant === undefined) throw storageError("NotFound", "no such tenant", { field: "tenant_id" });
  switch (command.kind) {
    case "rotate":
      requireKey(tenant);
      return { tenant: { ...tenant, kek: command.kek }, action: "tenant.rotate_key" };
    case "shred":
      if (tenant.state !== "active") return undefined;
      return { tenant: { ...tenant, state: "shredding", kek: "" }, action: "tenant.crypto_shred" };
    case "confirm_shred":
      if (tenant.state !== "shredding") return undefined;
      return { tenant: { ...tenant, state: "shredded" }, action: "tenant.crypto_shred.done" };
    default:
      return command satisfies never;
  }
}

/**
 * Throws `CryptoShredComplete` once the tenant is cut off: nothing of it is read or written again.
 *
 * @example
 * ```ts
 * import { requireKey } from "@seneschal/core/storage";
 * requireKey({ id: "acme", state: "active" });
 * try {
 *   requireKey({ id: "acme", state: "shredded" });
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // CryptoShredComplete
 * }
 * ```
 */
export function requireKey(tenant: Pick<Tenant, "id" | "state">): void {
  checkArgument("tenant", tenant, "object");
  const { id, state } = tenant;
  if (state === "active") return;
  const what = state === "shredded" ? "was destroyed" : "is being destroyed";
  throw storageError("CryptoShredComplete", `the tenant's key ${what}`, { tenant: id });
}
