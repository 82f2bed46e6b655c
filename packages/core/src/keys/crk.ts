import { checkArgument } from "@seneschal/kernel";
import { refusal } from "./codes.ts";
import type { Custodian } from "./custody.ts";
import { limits } from "./lifetimes.ts";
import { type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type TransitionTable, to, wrongState } from "./transition.ts";

export const crkStatuses = ["active", "rotating", "revoked"] as const;
export type CrkStatus = (typeof crkStatuses)[number];
export type CrkInput = "start_rotation" | "finish_rotation" | "abandon_rotation" | "revoke";

/** A customer root key: its public half and how it is shared. The private key exists nowhere. */
export interface Crk {
  readonly id: string;
  readonly org_id: string;
  /** Base64 of the 32-byte Ed25519 public key. It stays the same through rotations. */
  readonly public_key: string;
  /** Share epoch: grows with every rotation. */
  readonly version: number;
  readonly threshold: number;
  readonly total_shares: number;
  readonly status: CrkStatus;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
  readonly rotated_at: Timestamp | null;
  /** Who holds the share of which index. An index that is not here was dealt to nobody in particular, or by an earlier release. */
  readonly custodians?: readonly Custodian[];
}

/** `rotating` still signs: the shares of the old epoch stay good until the new ones are dealt. */
export const crkTable: TransitionTable<CrkStatus, CrkInput> = {
  active: {
    start_rotation: to("rotating"),
    finish_rotation: wrongState,
    abandon_rotation: wrongState,
    revoke: to("revoked"),
  },
  rotating: {
    start_rotation: wrongState,
    finish_rotation: to("active"),
    abandon_rotation: to("active"),
    revoke: to("revoked"),
  },
  revoked: { start_rotation: wrongState, finish_rotation: wrongState, abandon_rotation: wrongState, revoke: wrongState },
};

/**
 * Throws `INVALID_THRESHOLD` unless 2 <= threshold <= total <= 255.
 *
 * @example
 * ```ts
 * import { requireThreshold } from "@seneschal/core/keys";
 * requireThreshold(2, 3);
 * try {
 *   requireThreshold(4, 3);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // INVALID_THRESHOLD
 * }
 * ```
 */
export function requireThreshold(threshold: number, total: number): void {
  const fail = (reason: string): never => {
    throw refusal("INVALID_THRESHOLD", reason, { field: "threshold", threshold, total_shares: total });
  };
  if (threshold < limits.shares.min) fail("the threshold must be at least 2: one share alone must never be the key");
  if (total > limits.shares.max) fail("at most 255 shares");
  if (threshold > total) fail("the threshold is larger than the number of shares");
}

export interface CrkCreate {
  readonly id: string;
  readonly org: string;
  readonly public_key: string;
  readonly threshold: number;
  readonly total_shares: number;
  readonly custodians: readonly Custodian[];
}

/**
 * A new key of an organisation, version 1.
 *
 * @example
 * ```ts
 * import { createCrk } from "@seneschal/core/keys";
 * console.log(createCrk({ id: "k1", org: "acme", public_key: "AA==", threshold: 2, total_shares: 3, custodians: [] }, 0).status); // active
 * ```
 */
export function createCrk(input: CrkCreate, now: number): Crk {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  requireThreshold(input.threshold, input.total_shares);
  const at = timestamp(now);
  return {
    id: input.id,
    org_id: input.org,
    public_key: input.public_key,
    version: 1,
    threshold: input.threshold,
    total_shares: input.total_shares,
    status: "active",
    created_at: at,
    updated_at: at,
    rotated_at: null,
    custodians: input.custodians,
  };
}

/**
 * One step. `finish_rotation` takes the new threshold, total and custodians, and raises the version.
 *
 * @example
 * ```ts
 * import { createCrk, stepCrk } from "@seneschal/core/keys";
 * const crk = createCrk({ id: "k1", org: "acme", public_key: "AA==", threshold: 2, total_shares: 3, custodians: [] }, 0);
 * console.log(stepCrk(crk, { kind: "start_rotation" }, 1).status, stepCrk(crk, { kind: "revoke" }, 1).status); // rotating revoked
 * ```
 */
export function stepCrk(
  crk: Crk,
  input:
    | { readonly kind: Exclude<CrkInput, "finish_rotation"> }
    | {
        readonly kind: "finish_rotation";
        readonly threshold: number;
        readonly total_shares: number;
        readonly custodians: readonly Custodian[];
      },
  now: number,
): Crk {
  checkArgument("crk", crk, "object");
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  const status = nextStatus("CRK", crkTable, crk.status, input.kind);
  if (input.kind !== "finish_rotation") return { ...crk, status, updated_at: at };
  requireThreshold(input.threshold, input.total_shares);
  return {
    ...crk,
    status,
    version: crk.version + 1,
    threshold: input.threshold,
    total_shares: input.total_shares,
    custodians: input.custodians,
    updated_at: at,
    rotated_at: at,
  };
}
