import { type Timestamp, timestamp } from "../time.ts";
import { nextStatus, type TransitionTable, to, wrongState } from "../transition.ts";

export const shareStages = ["offered", "shared", "ended"] as const;
export type ShareStage = (typeof shareStages)[number];

/**
 * The owner's record of a workspace in which a partner on another instance takes part, or is invited to. The owner's word counts; the
 * partner is told the whole state each time, under a number that only grows.
 */
export interface Share {
  readonly workspace_id: string;
  /** The owner. */
  readonly org_id: string;
  readonly partner_org_id: string;
  readonly federation_id: string;
  readonly invitation_id: string;
  readonly stage: ShareStage;
  /** Of the newest state that the partner has to hear of. */
  readonly sequence: number;
  /** Of the newest state that it confirmed. */
  readonly confirmed: number;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

export type ShareInput =
  | { readonly kind: "offer"; readonly invitation_id: string; readonly federation_id: string }
  | { readonly kind: "join" }
  /** Something about the workspace changed. */
  | { readonly kind: "change" }
  | { readonly kind: "end" };

export const shareTable: TransitionTable<ShareStage, ShareInput["kind"]> = {
  offered: { offer: to("offered"), join: to("shared"), change: to("offered"), end: to("ended") },
  shared: { offer: wrongState, join: wrongState, change: to("shared"), end: to("ended") },
  ended: { offer: to("offered"), join: wrongState, change: to("ended"), end: to("ended") },
};

/** A share that begins with an invitation. */
export function offerShare(
  input: Pick<Share, "workspace_id" | "org_id" | "partner_org_id" | "federation_id" | "invitation_id">,
  now: number,
): Share {
  const at = timestamp(now);
  return { ...input, stage: "offered", sequence: 1, confirmed: 0, created_at: at, updated_at: at };
}

/** One step; what has ended changes no more. Throws `STATE_CONFLICT`. */
export function stepShare(share: Share, input: ShareInput, now: number): Share {
  const stage = nextStatus("share", shareTable, share.stage, input.kind);
  if (share.stage === "ended" && stage === "ended") return share;
  const offer = input.kind === "offer" ? { invitation_id: input.invitation_id, federation_id: input.federation_id } : {};
  return { ...share, ...offer, stage, sequence: share.sequence + 1, updated_at: timestamp(now) };
}

/**
 * The partner says up to where it knows. One that knows more than was ever said remembers an owner before a restore: the numbers go
 * on behind its own.
 */
export function confirmShare(share: Share, known: number): Share {
  if (known > share.sequence) return { ...share, sequence: known + 1 };
  return { ...share, confirmed: Math.max(share.confirmed, known) };
}

/** True when the partner knows all that there is. */
export function isSettled(share: Share): boolean {
  return share.confirmed >= share.sequence;
}
