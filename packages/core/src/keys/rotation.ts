import { checkArgument } from "@seneschal/kernel";
import { invalidField } from "./codes.ts";
import { type Timestamp, timestamp } from "./time.ts";

const hour = 3_600_000;

/** Bounds of `max_age` in milliseconds: 1 h to 3650 d. */
export const rotationAge = { min: hour, max: 3650 * 24 * hour } as const;

/** How old a workspace's data key may grow. */
export interface RotationPolicy {
  readonly id: string;
  readonly org_id: string;
  readonly workspace_id: string;
  /** Milliseconds. */
  readonly max_age: number;
  readonly enabled: boolean;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

/**
 * Throws `VALIDATION_ERROR` naming `max_age` when it is out of bounds.
 *
 * @example
 * ```ts
 * import { requireRotationAge } from "@seneschal/core/keys";
 * requireRotationAge(90 * 86_400_000);
 * try {
 *   requireRotationAge(1);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // VALIDATION_ERROR
 * }
 * ```
 */
export function requireRotationAge(maxAge: number): void {
  if (maxAge < rotationAge.min || maxAge > rotationAge.max) throw invalidField("max_age", "must lie between 1h and 3650d");
}

/**
 * When the key is due: `max_age` after the data key was made, not after the workspace was edited. `null` while disabled.
 *
 * @example
 * ```ts
 * import { nextRotation } from "@seneschal/core/keys";
 * const at = "2026-01-01T00:00:00.000Z";
 * const policy = { id: "r1", org_id: "acme", workspace_id: "w1", max_age: 86_400_000, enabled: true, created_at: at, updated_at: at };
 * console.log(nextRotation(policy, at), nextRotation({ ...policy, enabled: false }, at)); // 2026-01-02T00:00:00.000Z null
 * ```
 */
export function nextRotation(policy: RotationPolicy, dekCreatedAt: Timestamp): Timestamp | null {
  checkArgument("policy", policy, "object");
  checkArgument("dekCreatedAt", dekCreatedAt, "string");
  return policy.enabled ? timestamp(Date.parse(dekCreatedAt) + policy.max_age) : null;
}

/**
 * True once the key is due.
 *
 * @example
 * ```ts
 * import { isRotationDue } from "@seneschal/core/keys";
 * const at = "2026-01-01T00:00:00.000Z";
 * const policy = { id: "r1", org_id: "acme", workspace_id: "w1", max_age: 86_400_000, enabled: true, created_at: at, updated_at: at };
 * console.log(isRotationDue(policy, at, Date.UTC(2026, 0, 1)), isRotationDue(policy, at, Date.UTC(2026, 0, 9))); // false true
 * ```
 */
export function isRotationDue(policy: RotationPolicy, dekCreatedAt: Timestamp, now: number): boolean {
  checkArgument("policy", policy, "object");
  checkArgument("dekCreatedAt", dekCreatedAt, "string");
  checkArgument("now", now, "number");
  return policy.enabled && Date.parse(dekCreatedAt) + policy.max_age <= now;
}
