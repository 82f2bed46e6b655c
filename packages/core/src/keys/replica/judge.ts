import { refusal } from "../codes.ts";
import type { Classification, Mode } from "../enums.ts";
import type { ShareStage } from "../share/step.ts";
import type { Timestamp } from "../time.ts";

export const replicaStages = ["offered", "accepted", "declined", "shared"] as const;
export type ReplicaStage = (typeof replicaStages)[number];

/** What an invited organisation is told of a workspace before it answers. */
export interface Offer {
  readonly name: string;
  readonly classification: Classification;
  readonly mode: Mode;
  readonly purpose: string;
  readonly crk_protected: boolean;
}

/** A partner's record of a workspace that another instance owns: how far it followed the owner, and what it answered. */
export interface Replica {
  readonly workspace_id: string;
  /** The organisation here that takes part. */
  readonly org_id: string;
  readonly owner_org_id: string;
  readonly federation_id: string;
  readonly invitation_id: string;
  /** The group here that was bound to the workspace with the acceptance. */
  readonly group_id: string | null;
  readonly offer: Offer;
  readonly stage: ReplicaStage;
  /** Of the newest state that was applied. */
  readonly sequence: number;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

/** The outline of what an owner says. */
export interface Push {
  readonly sequence: number;
  readonly stage: ShareStage;
  /** With an offer. */
  readonly invitation_id?: string;
}

/**
 * What a push comes to: `stale` is answered and changes nothing; `offer` and `share` are taken over; `replace` ends what was and is a
 * new offer; `end` takes the keys.
 */
export type Judgement = "stale" | "offer" | "replace" | "share" | "end";

/**
 * Judges an owner's push by what is known here. Nobody becomes part of a workspace without having accepted, and an owner cannot
 * take back a state. Throws `STATE_CONFLICT`.
 */
export function judgePush(replica: Pick<Replica, "stage" | "sequence" | "invitation_id"> | undefined, push: Push): Judgement {
  if (replica === undefined) {
    if (push.stage === "shared") throw refusal("STATE_CONFLICT", "the invitation was not accepted here");
    return push.stage === "offered" ? "offer" : "stale";
  }
  if (push.sequence <= replica.sequence) return "stale";
  switch (push.stage) {
    case "ended":
      return "end";
    case "shared":
      if (replica.stage === "accepted" || replica.stage === "shared") return "share";
      throw refusal("STATE_CONFLICT", "the invitation was not accepted here", { stage: replica.stage });
    case "offered":
      if (push.invitation_id !== replica.invitation_id) return "replace";
      if (replica.stage === "shared")
        throw refusal("STATE_CONFLICT", "the workspace is shared already", { stage: replica.stage });
      return "offer";
    default:
      return push.stage satisfies never;
  }
}

/**
 * Key versions only grow: throws `STATE_CONFLICT` for a push that goes back behind the version in force, or that leaves one out.
 * `known` and `pushed` are version numbers.
 */
export function requireKeyVersions(known: readonly number[], inForce: number, pushed: readonly number[], next: number): void {
  const complete = Array.from({ length: next }, (_, i) => i + 1).every((version) => pushed.includes(version));
  if (next < inForce || !complete || known.some((version) => version > next)) {
    throw refusal("STATE_CONFLICT", "key versions do not go back", { known: inForce, pushed: next });
  }
}
