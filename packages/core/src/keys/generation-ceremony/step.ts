import { invalidField, refusal } from "../codes.ts";
import { requireThreshold } from "../crk/step.ts";
import { lifetimes } from "../lifetimes.ts";
import { isPast, type Timestamp, timestamp } from "../time.ts";
import { nextStatus, type Step, type TransitionTable, to, wrongState } from "../transition.ts";

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
  readonly crk_id: string | null;
  readonly started_by: string;
  readonly started_at: Timestamp;
  readonly expires_at: Timestamp;
  readonly completed_at: Timestamp | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

export type GenerationInput =
  | { readonly kind: "seed"; readonly entry: SeedEntry }
  | { readonly kind: "complete"; readonly crk_id: string }
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
}

/** A pending ceremony. Throws `INVALID_THRESHOLD`. */
export function startGeneration(
  input: GenerationStart,
  now: number,
  lifetime: number = lifetimes.generationCeremony,
): GenerationCeremony {
  requireThreshold(input.threshold, input.total_shares);
  const at = timestamp(now);
  return {
    id: input.id,
    org_id: input.org,
    total_shares: input.total_shares,
    threshold: input.threshold,
    status: "pending",
    seed_entries: [],
    crk_id: null,
    started_by: input.by,
    started_at: at,
    expires_at: timestamp(now + lifetime),
    completed_at: null,
    created_at: at,
    updated_at: at,
  };
}

/** The status at a moment: a ceremony that was not ended expires by itself. */
export function generationStatus(ceremony: GenerationCeremony, now: number): GenerationStatus {
  const open = ceremony.status === "pending" || ceremony.status === "seeded";
  return open && isPast(ceremony.expires_at, now) ? "expired" : ceremony.status;
}

/** One step. Each index is seeded once (`CONFLICT`), within 1..total (`VALIDATION_ERROR`). */
export function stepGeneration(
  ceremony: GenerationCeremony,
  input: GenerationInput,
  now: number,
): Step<GenerationCeremony, GenerationEffect> {
  const at = timestamp(now);
  if (input.kind === "seed" && ceremony.seed_entries.some((entry) => entry.index === input.entry.index)) {
    throw refusal("CONFLICT", `index ${input.entry.index} is already seeded`, { index: input.entry.index });
  }
  const status = nextStatus("generation ceremony", generationTable, generationStatus(ceremony, now), input.kind);
  const next: GenerationCeremony = { ...ceremony, status, updated_at: at };
  switch (input.kind) {
    case "seed": {
      if (input.entry.index < 1 || input.entry.index > ceremony.total_shares) {
        throw invalidField("index", `must be between 1 and ${ceremony.total_shares}`);
      }
      const seed_entries = [...ceremony.seed_entries, input.entry].sort((a, b) => a.index - b.index);
      const full = seed_entries.length === ceremony.total_shares;
      return {
        state: { ...next, seed_entries, status: full ? "seeded" : "pending" },
        effects: [{ kind: "hold_key", index: input.entry.index }],
      };
    }
    case "complete":
      return { state: { ...next, crk_id: input.crk_id, completed_at: at }, effects: [{ kind: "erase_keys" }] };
    case "cancel":
    case "expire":
      return { state: next, effects: [{ kind: "erase_keys" }] };
    default:
      return input satisfies never;
  }
}
