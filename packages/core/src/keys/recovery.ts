import { checkArgument } from "@seneschal/kernel";
import { refusal } from "./codes.ts";
import { type Custodian, type CustodianSeat, type Holder, keepSeats, requireSeated, takeSeat } from "./custody.ts";
import { lifetimes, limits } from "./lifetimes.ts";
import { isPast, type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type Step, type TransitionTable, to, wrongState } from "./transition.ts";

export const recoveryStatuses = ["pending", "shares_collected", "completed", "failed", "expired"] as const;
export type RecoveryStatus = (typeof recoveryStatuses)[number];

export const recoveryTypes = ["lost_credentials", "locked_account"] as const;
export type RecoveryType = (typeof recoveryTypes)[number];

/** An admin's way back, opened by a quorum of custodians. Share data is never part of it. */
export interface Recovery {
  readonly id: string;
  readonly org_id: string;
  readonly admin_id: string;
  readonly recovery_type: RecoveryType;
  readonly reason: string;
  readonly crk_id: string;
  readonly crk_epoch: number;
  readonly status: RecoveryStatus;
  readonly initiated_by: string;
  readonly shares_needed: number;
  readonly submitted_indexes: readonly number[];
  /** Whose shares are wanted and whose are there. */
  readonly seats?: readonly CustodianSeat[];
  readonly initiated_at: Timestamp;
  readonly expires_at: Timestamp;
  readonly completed_at: Timestamp | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

export type RecoveryInput =
  /** A share that was verified against the key's commitments; `holder` is who brings it, `undefined` unless registered and active. */
  | { readonly kind: "share"; readonly index: number; readonly holder: Holder | undefined }
  /** `active`: which identities of those seated are registered and active now. */
  | { readonly kind: "complete"; readonly active: readonly string[] }
  | { readonly kind: "fail" }
  | { readonly kind: "expire" };

export type RecoveryEffect =
  | { readonly kind: "hold_share"; readonly index: number }
  | { readonly kind: "erase_shares" }
  | { readonly kind: "reset_credentials"; readonly admin_id: string }
  | { readonly kind: "clear_lock"; readonly admin_id: string };

const ended = { share: wrongState, complete: wrongState, fail: wrongState, expire: wrongState } as const;

/** `share` in `pending` means "the last share that was missing"; {@link stepRecovery} counts before it asks the table. */
export const recoveryTable: TransitionTable<RecoveryStatus, RecoveryInput["kind"]> = {
  pending: {
    share: to("shares_collected"),
    complete: { refuse: "CRK_THRESHOLD_NOT_MET" },
    fail: to("failed"),
    expire: to("expired"),
  },
  shares_collected: { share: wrongState, complete: to("completed"), fail: to("failed"), expire: to("expired") },
  completed: ended,
  failed: ended,
  expired: ended,
};

export interface RecoveryNew {
  readonly id: string;
  readonly org: string;
  readonly admin_id: string;
  readonly recovery_type: RecoveryType;
  readonly reason: string;
  readonly crk_id: string;
  readonly crk_epoch: number;
  readonly shares_needed: number;
  readonly by: string;
  /** Of the key whose shares are wanted. */
  readonly holders: readonly Custodian[];
}

/**
 * A pending recovery; nobody opens their own (`FORBIDDEN`).
 *
 * @example
 * ```ts
 * import { initiateRecovery } from "@seneschal/core/keys";
 * const input = { id: "r1", org: "acme", admin_id: "bob", recovery_type: "locked_account", reason: "", by: "ada", holders: [] } as const;
 * console.log(initiateRecovery({ ...input, crk_id: "k1", crk_epoch: 1, shares_needed: 2 }, 0).status); // pending
 * ```
 */
export function initiateRecovery(input: RecoveryNew, now: number, lifetime: number = lifetimes.recovery): Recovery {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  if (input.by === input.admin_id) throw refusal("FORBIDDEN", "nobody initiates their own recovery");
  const at = timestamp(now);
  return {
    id: input.id,
    org_id: input.org,
    admin_id: input.admin_id,
    recovery_type: input.recovery_type,
    reason: input.reason,
    crk_id: input.crk_id,
    crk_epoch: input.crk_epoch,
    status: "pending",
    initiated_by: input.by,
    shares_needed: input.shares_needed,
    submitted_indexes: [],
    seats: keepSeats(input.holders),
    initiated_at: at,
    expires_at: timestamp(now + lifetime),
    completed_at: null,
    created_at: at,
    updated_at: at,
  };
}

/**
 * The status at a moment.
 *
 * @example
 * ```ts
 * import { initiateRecovery, recoveryStatus } from "@seneschal/core/keys";
 * const input = { id: "r1", org: "acme", admin_id: "bob", recovery_type: "locked_account", reason: "", by: "ada", holders: [] } as const;
 * const recovery = initiateRecovery({ ...input, crk_id: "k1", crk_epoch: 1, shares_needed: 2 }, 0, 1000);
 * console.log(recoveryStatus(recovery, 999), recoveryStatus(recovery, 1000)); // pending expired
 * ```
 */
export function recoveryStatus(recovery: Recovery, now: number): RecoveryStatus {
  checkArgument("recovery", recovery, "object");
  checkArgument("now", now, "number");
  const open = recovery.status === "pending" || recovery.status === "shares_collected";
  return open && isPast(recovery.expires_at, now) ? "expired" : recovery.status;
}

/**
 * One step; an index and a person count once (`CONFLICT`), a seat is its custodian's (`FORBIDDEN`), completing below the threshold is
 * `CRK_THRESHOLD_NOT_MET`, and without one of those who brought a share `STATE_CONFLICT`.
 *
 * @example
 * ```ts
 * import { initiateRecovery, stepRecovery } from "@seneschal/core/keys";
 * const input = { id: "r1", org: "acme", admin_id: "bob", recovery_type: "locked_account", reason: "", by: "ada", holders: [] } as const;
 * const recovery = initiateRecovery({ ...input, crk_id: "k1", crk_epoch: 1, shares_needed: 1 }, 0);
 * const eve = { identity_id: "eve", identity_type: "user", name: "Eve", emails: ["eve@acme.example"] } as const;
 * const { state } = stepRecovery(recovery, { kind: "share", index: 1, holder: eve }, 1);
 * console.log(state.status, stepRecovery(state, { kind: "complete", active: ["eve"] }, 2).effects); // shares_collected [ { kind: 'erase_shares' }, { kind: 'clear_lock', admin_id: 'bob' } ]
 * ```
 */
export function stepRecovery(recovery: Recovery, input: RecoveryInput, now: number): Step<Recovery, RecoveryEffect> {
  checkArgument("recovery", recovery, "object");
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const status = nextStatus("recovery", recoveryTable, recoveryStatus(recovery, now), input.kind);
  const at = timestamp(now);
  switch (input.kind) {
    case "share": {
      const { index, holder } = input;
      const seats = takeSeat(recovery.seats ?? [], { index, total: limits.shares.max, holder, free: "everybody" }, now);
      const submitted_indexes = [...recovery.submitted_indexes, index];
      const enough = submitted_indexes.length >= recovery.shares_needed;
      return {
        state: { ...recovery, status: enough ? status : "pending", submitted_indexes, seats, updated_at: at },
        effects: [{ kind: "hold_share", index }],
      };
    }
    case "complete":
      requireSeated(recovery.seats ?? [], recovery.submitted_indexes, input.active);
      return {
        state: { ...recovery, status, completed_at: at, updated_at: at },
        effects: [
          { kind: "erase_shares" },
          recovery.recovery_type === "lost_credentials"
            ? { kind: "reset_credentials", admin_id: recovery.admin_id }
            : { kind: "clear_lock", admin_id: recovery.admin_id },
        ],
      };
    case "fail":
    case "expire":
      return { state: { ...recovery, status, updated_at: at }, effects: [{ kind: "erase_shares" }] };
    default:
      return input satisfies never;
  }
}
