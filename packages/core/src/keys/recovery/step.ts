import { refusal } from "../codes.ts";
import { lifetimes } from "../lifetimes.ts";
import { isPast, type Timestamp, timestamp } from "../time.ts";
import { nextStatus, type Step, type TransitionTable, to, wrongState } from "../transition.ts";

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
  readonly initiated_at: Timestamp;
  readonly expires_at: Timestamp;
  readonly completed_at: Timestamp | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

export type RecoveryInput =
  /** A share that was verified against the key's commitments. */
  | { readonly kind: "share"; readonly index: number }
  | { readonly kind: "complete" }
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
}

/** A pending recovery; nobody opens their own (`FORBIDDEN`). */
export function initiateRecovery(input: RecoveryNew, now: number, lifetime: number = lifetimes.recovery): Recovery {
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
    initiated_at: at,
    expires_at: timestamp(now + lifetime),
    completed_at: null,
    created_at: at,
    updated_at: at,
  };
}

/** The status at a moment. */
export function recoveryStatus(recovery: Recovery, now: number): RecoveryStatus {
  const open = recovery.status === "pending" || recovery.status === "shares_collected";
  return open && isPast(recovery.expires_at, now) ? "expired" : recovery.status;
}

/** One step; a share index counts once (`CONFLICT`), and completing below the threshold is `CRK_THRESHOLD_NOT_MET`. */
export function stepRecovery(recovery: Recovery, input: RecoveryInput, now: number): Step<Recovery, RecoveryEffect> {
  const status = nextStatus("recovery", recoveryTable, recoveryStatus(recovery, now), input.kind);
  const at = timestamp(now);
  switch (input.kind) {
    case "share": {
      if (recovery.submitted_indexes.includes(input.index)) {
        throw refusal("CONFLICT", `share ${input.index} was submitted already`, { index: input.index });
      }
      const submitted_indexes = [...recovery.submitted_indexes, input.index];
      const enough = submitted_indexes.length >= recovery.shares_needed;
      return {
        state: { ...recovery, status: enough ? status : "pending", submitted_indexes, updated_at: at },
        effects: [{ kind: "hold_share", index: input.index }],
      };
    }
    case "complete":
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
