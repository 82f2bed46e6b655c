import { checkArgument } from "@seneschal/kernel";
import { requireThreshold } from "./crk.ts";
import { type Custodian, type CustodianSeat, type Holder, keepSeats, requireSeated, takeSeat } from "./custody.ts";
import { lifetimes } from "./lifetimes.ts";
import { isPast, type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type Step, type TransitionTable, to, wrongState } from "./transition.ts";

export const generationStatuses = ["pending", "seeded", "complete", "cancelled", "expired"] as const;
export type GenerationStatus = (typeof generationStatuses)[number];

/** Argon2id cost on the custodian's side; memory in KiB. */
export interface KdfParams {
  readonly time: number;
  readonly memory: number;
  readonly threads: number;
}

/** What the brief assumes where the custodian does not say. */
export const defaultKdf: KdfParams = { time: 3, memory: 65_536, threads: 4 };

/** The public half of a custodian's seed: never the derived key. */
export interface SeedEntry {
  readonly index: number;
  readonly custodian_name: string;
  readonly salt: string;
  readonly kdf_params: KdfParams;
}

/** A key ceremony in which each custodian seals a share under a password that never leaves them. */
export interface GenerationCeremony {
  readonly id: string;
  readonly org_id: string;
  readonly total_shares: number;
  readonly threshold: number;
  readonly status: GenerationStatus;
  readonly seed_entries: readonly SeedEntry[];
  /** Who seeded, and for whom an index is kept. */
  readonly seats?: readonly CustodianSeat[];
  readonly crk_id: string | null;
  readonly started_by: string;
  readonly started_at: Timestamp;
  readonly expires_at: Timestamp;
  readonly completed_at: Timestamp | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

export type GenerationInput =
  /** `holder` is who seeds, `undefined` unless registered and active. */
  | { readonly kind: "seed"; readonly entry: SeedEntry; readonly holder: Holder | undefined }
  /** `active`: which identities of those seated are registered and active now. */
  | { readonly kind: "complete"; readonly crk_id: string; readonly active: readonly string[] }
  | { readonly kind: "cancel" }
  | { readonly kind: "expire" };

export type GenerationEffect =
  | { readonly kind: "hold_key"; readonly index: number }
  /** The derived keys are of no use any more, however the ceremony ended. */
  | { readonly kind: "erase_keys" };

const ended = { seed: wrongState, complete: wrongState, cancel: wrongState, expire: wrongState } as const;

/** `pending` + seed may lead to `seeded`; the step decides, when the last index arrives. */
export const generationTable: TransitionTable<GenerationStatus, GenerationInput["kind"]> = {
  pending: { seed: to("pending"), complete: wrongState, cancel: to("cancelled"), expire: to("expired") },
  seeded: { seed: wrongState, complete: to("complete"), cancel: to("cancelled"), expire: to("expired") },
  complete: ended,
  cancelled: ended,
  expired: ended,
};

export interface GenerationStart {
  readonly id: string;
  readonly org: string;
  readonly by: string;
  readonly total_shares: number;
  readonly threshold: number;
  /** Whose seats are kept; an index that is not here is for whoever comes first. */
  readonly custodians: readonly Custodian[];
}

/**
 * A pending ceremony. Throws `INVALID_THRESHOLD`.
 *
 * @example
 * ```ts
 * import { startGeneration } from "@seneschal/core/keys";
 * console.log(startGeneration({ id: "g1", org: "acme", by: "ada", total_shares: 3, threshold: 2, custodians: [] }, 0).status); // pending
 * ```
 */
export function startGeneration(
  input: GenerationStart,
  now: number,
  lifetime: number = lifetimes.generationCeremony,
): GenerationCeremony {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  requireThreshold(input.threshold, input.total_shares);
  const at = timestamp(now);
  return {
    id: input.id,
    org_id: input.org,
    total_shares: input.total_shares,
    threshold: input.threshold,
    status: "pending",
    seed_entries: [],
    seats: keepSeats(input.custodians),
    crk_id: null,
    started_by: input.by,
    started_at: at,
    expires_at: timestamp(now + lifetime),
    completed_at: null,
    created_at: at,
    updated_at: at,
  };
}

/**
 * The status at a moment: a ceremony that was not ended expires by itself.
 *
 * @example
 * ```ts
 * import { generationStatus, startGeneration } from "@seneschal/core/keys";
 * const ceremony = startGeneration({ id: "g1", org: "acme", by: "ada", total_shares: 3, threshold: 2, custodians: [] }, 0, 1000);
 * console.log(generationStatus(ceremony, 999), generationStatus(ceremony, 1000)); // pending expired
 * ```
 */
export function generationStatus(ceremony: GenerationCeremony, now: number): GenerationStatus {
  checkArgument("ceremony", ceremony, "object");
  checkArgument("now", now, "number");
  const open = ceremony.status === "pending" || ceremony.status === "seeded";
  return open && isPast(ceremony.expires_at, now) ? "expired" : ceremony.status;
}

/**
 * One step. Each index within 1..total (`VALIDATION_ERROR`) is seeded once and by one person (`CONFLICT`), who is registered and for whom
 * it is kept, if for anybody (`FORBIDDEN`); nothing is made of it once one of them has left (`STATE_CONFLICT`).
 *
 * @example
 * ```ts
 * import { startGeneration, stepGeneration } from "@seneschal/core/keys";
 * const ceremony = startGeneration({ id: "g1", org: "acme", by: "ada", total_shares: 3, threshold: 2, custodians: [] }, 0);
 * console.log(stepGeneration(ceremony, { kind: "cancel" }, 1).effects); // [ { kind: 'erase_keys' } ]
 * ```
 */
export function stepGeneration(
  ceremony: GenerationCeremony,
  input: GenerationInput,
  now: number,
): Step<GenerationCeremony, GenerationEffect> {
  checkArgument("ceremony", ceremony, "object");
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  const { total_shares: total, seats = [] } = ceremony;
  // Before the status: whoever has no seat learns that first, and a seat that is taken stays a conflict when all are.
  const taken =
    input.kind === "seed"
      ? takeSeat(seats, { index: input.entry.index, total, holder: input.holder, free: "everybody" }, now)
      : seats;
  const status = nextStatus("generation ceremony", generationTable, generationStatus(ceremony, now), input.kind);
  const next: GenerationCeremony = { ...ceremony, status, updated_at: at };
  switch (input.kind) {
    case "seed": {
      const seed_entries = [...ceremony.seed_entries, input.entry].sort((a, b) => a.index - b.index);
      const full = seed_entries.length === total;
      return {
        state: { ...next, seed_entries, seats: taken, status: full ? "seeded" : "pending" },
        effects: [{ kind: "hold_key", index: input.entry.index }],
      };
    }
    case "complete":
      requireSeated(
        seats,
        Array.from({ length: total }, (_, i) => i + 1),
        input.active,
      );
      return { state: { ...next, crk_id: input.crk_id, completed_at: at }, effects: [{ kind: "erase_keys" }] };
    case "cancel":
    case "expire":
      return { state: next, effects: [{ kind: "erase_keys" }] };
    default:
      return input satisfies never;
  }
}
