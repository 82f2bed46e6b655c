import { checkArgument } from "@seneschal/kernel";
import { refusal } from "./codes.ts";
import { type Custodian, type CustodianSeat, type Holder, keepSeats, requireSeated, takeSeat } from "./custody.ts";
import { lifetimes, limits } from "./lifetimes.ts";
import { isPast, type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type Step, type TransitionTable, to, wrongState } from "./transition.ts";

export const ceremonyStatuses = ["pending", "completed", "cancelled", "expired"] as const;
export type CeremonyStatus = (typeof ceremonyStatuses)[number];

export const ceremonyOperations = ["generate", "sign", "rotate", "reconstruct"] as const;
export type CeremonyOperation = (typeof ceremonyOperations)[number];

export type CeremonyInput =
  /** A share that was verified; `holder` is who brings it, `undefined` unless registered and active. */
  | { readonly kind: "share"; readonly index: number; readonly holder: Holder | undefined }
  /** `active`: which identities of those seated are registered and active now. */
  | { readonly kind: "complete"; readonly witness: string; readonly by: string; readonly active: readonly string[] }
  | { readonly kind: "cancel" }
  | { readonly kind: "expire" };

/** Custodians bring shares together under the eyes of a witness. Share data is never part of it. */
export interface Ceremony {
  readonly id: string;
  readonly org_id: string;
  readonly crk_id: string | null;
  readonly operation: CeremonyOperation;
  readonly status: CeremonyStatus;
  /** Of the key that the ceremony makes, or of the key that it uses. */
  readonly threshold: number;
  readonly total_shares: number;
  readonly required_shares: number;
  readonly submitted_indexes: readonly number[];
  /** Whose shares are wanted and whose are there; none of them may be the witness. */
  readonly seats?: readonly CustodianSeat[];
  /** Whom the shares are for that a `generate` or `rotate` ceremony makes, as far as its start said. */
  readonly custodians?: readonly Custodian[];
  readonly started_by: string;
  readonly started_at: Timestamp;
  readonly expires_at: Timestamp;
  readonly completed_at: Timestamp | null;
  readonly witness: string | null;
  /** What a `sign` ceremony signs, base64. */
  readonly data: string | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

/** `erase_shares` whenever the ceremony ends, however it ends. */
export type CeremonyEffect = { readonly kind: "hold_share"; readonly index: number } | { readonly kind: "erase_shares" };

const ended = { share: wrongState, complete: wrongState, cancel: wrongState, expire: wrongState } as const;

export const ceremonyTable: TransitionTable<CeremonyStatus, CeremonyInput["kind"]> = {
  pending: { share: to("pending"), complete: to("completed"), cancel: to("cancelled"), expire: to("expired") },
  completed: ended,
  cancelled: ended,
  expired: ended,
};

export interface CeremonyStart {
  readonly id: string;
  readonly org: string;
  readonly crk_id: string | null;
  readonly operation: CeremonyOperation;
  readonly threshold: number;
  readonly total_shares: number;
  readonly required_shares: number;
  readonly by: string;
  readonly data: string | null;
  /** Of the key whose shares are wanted. */
  readonly holders: readonly Custodian[];
  /** Named for the shares to be made. */
  readonly custodians: readonly Custodian[];
}

/**
 * A pending ceremony. `lifetime` in milliseconds.
 *
 * @example
 * ```ts
 * import { startCeremony } from "@seneschal/core/keys";
 * const shares = { operation: "sign", threshold: 2, total_shares: 3, required_shares: 2, holders: [], custodians: [] } as const;
 * console.log(startCeremony({ id: "c1", org: "acme", crk_id: "k1", by: "ada", data: "AA==", ...shares }, 0).status); // pending
 * ```
 */
export function startCeremony(input: CeremonyStart, now: number, lifetime: number = lifetimes.ceremony): Ceremony {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  return {
    id: input.id,
    org_id: input.org,
    crk_id: input.crk_id,
    operation: input.operation,
    status: "pending",
    threshold: input.threshold,
    total_shares: input.total_shares,
    required_shares: input.required_shares,
    submitted_indexes: [],
    seats: keepSeats(input.holders),
    custodians: input.custodians,
    started_by: input.by,
    started_at: at,
    expires_at: timestamp(now + lifetime),
    completed_at: null,
    witness: null,
    data: input.data,
    created_at: at,
    updated_at: at,
  };
}

/**
 * The status at a moment: a pending ceremony expires by itself.
 *
 * @example
 * ```ts
 * import { ceremonyStatus, startCeremony } from "@seneschal/core/keys";
 * const shares = { operation: "sign", threshold: 2, total_shares: 3, required_shares: 2, holders: [], custodians: [] } as const;
 * const ceremony = startCeremony({ id: "c1", org: "acme", crk_id: "k1", by: "ada", data: "AA==", ...shares }, 0, 1000);
 * console.log(ceremonyStatus(ceremony, 999), ceremonyStatus(ceremony, 1000)); // pending expired
 * ```
 */
export function ceremonyStatus(ceremony: Ceremony, now: number): CeremonyStatus {
  checkArgument("ceremony", ceremony, "object");
  checkArgument("now", now, "number");
  return ceremony.status === "pending" && isPast(ceremony.expires_at, now) ? "expired" : ceremony.status;
}

/**
 * One step. Throws `STATE_CONFLICT` when it is over or a holder has left, `CONFLICT` for a share given twice and for a person's
 * second, `CRK_THRESHOLD_NOT_MET` for an early end, `FORBIDDEN` for another's seat and for a witness who takes part.
 *
 * @example
 * ```ts
 * import { startCeremony, stepCeremony } from "@seneschal/core/keys";
 * const shares = { operation: "sign", threshold: 2, total_shares: 3, required_shares: 2, holders: [], custodians: [] } as const;
 * const ceremony = startCeremony({ id: "c1", org: "acme", crk_id: "k1", by: "ada", data: "AA==", ...shares }, 0);
 * const bob = { identity_id: "bob", identity_type: "user", name: "Bob", emails: ["bob@acme.example"] } as const;
 * const { state, effects } = stepCeremony(ceremony, { kind: "share", index: 1, holder: bob }, 1);
 * console.log(state.submitted_indexes, effects); // [ 1 ] [ { kind: 'hold_share', index: 1 } ]
 * ```
 */
export function stepCeremony(ceremony: Ceremony, input: CeremonyInput, now: number): Step<Ceremony, CeremonyEffect> {
  checkArgument("ceremony", ceremony, "object");
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const status = nextStatus("ceremony", ceremonyTable, ceremonyStatus(ceremony, now), input.kind);
  const at = timestamp(now);
  const seats = ceremony.seats ?? [];
  const next: Ceremony = { ...ceremony, status, updated_at: at };
  switch (input.kind) {
    case "share": {
      const { index, holder } = input;
      const state: Ceremony = {
        ...next,
        submitted_indexes: [...ceremony.submitted_indexes, index].sort((a, b) => a - b),
        seats: takeSeat(seats, { index, total: limits.shares.max, holder, free: "everybody" }, now),
      };
      return { state, effects: [{ kind: "hold_share", index: input.index }] };
    }
    case "complete": {
      if (ceremony.submitted_indexes.length < ceremony.required_shares) {
        throw refusal("CRK_THRESHOLD_NOT_MET", "not enough shares were submitted", {
          required: ceremony.required_shares,
          collected: ceremony.submitted_indexes.length,
        });
      }
      requireSeated(seats, ceremony.submitted_indexes, input.active);
      if (input.witness === input.by || seats.some((seat) => seat.taken_at !== null && seat.identity_id === input.witness)) {
        throw refusal("FORBIDDEN", "the witness must be neither the caller nor a submitter", { field: "witness" });
      }
      return { state: { ...next, completed_at: at, witness: input.witness }, effects: [{ kind: "erase_shares" }] };
    }
    case "cancel":
    case "expire":
      return { state: next, effects: [{ kind: "erase_shares" }] };
    default:
      return input satisfies never;
  }
}
