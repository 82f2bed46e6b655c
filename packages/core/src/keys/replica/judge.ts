import { checkArgument } from "@seneschal/kernel";
import { refusal } from "../codes.ts";
import type { Classification, Mode } from "../enums.ts";
import type { ShareStage } from "../share.ts";
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

/**
 * What of a workspace is told to who is invited.
 *
 * @example
 * ```ts
 * import { offerOf } from "@seneschal/core/keys";
 * const offer = { name: "merger", classification: "SECRET", mode: "standard", purpose: "", crk_protected: false } as const;
 * console.log(Object.keys(offerOf({ ...offer, ...{ id: "w1" } }))); // [ 'name', 'classification', 'mode', 'purpose', 'crk_protected' ]
 * ```
 */
export function offerOf(workspace: Offer): Offer {
  checkArgument("workspace", workspace, "object");
  const { name, classification, mode, purpose, crk_protected } = workspace;
  return { name, classification, mode, purpose, crk_protected };
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
  /** The invitation here; without it the invitation has the owner's id, as replicas of before. */
  readonly received_id?: string;
  /** Until when the offer can be answered; while it is one. */
  readonly offer_until?: Timestamp;
  readonly offer: Offer;
  readonly stage: ReplicaStage;
  /** Of the newest state that was applied. */
  readonly sequence: number;
  /** Of the newest revision that was taken over, and the SHA-256 of the workspace as it travelled, hex: one revision has one content. */
  readonly revision?: number;
  readonly state_sha256?: string;
  /** Versions of policies that the owner took away, newest last: they do not come back with another text. */
  readonly retired_policies?: Readonly<Record<string, number>>;
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
 *
 * @example
 * ```ts
 * import { judgePush } from "@seneschal/core/keys";
 * console.log(judgePush(undefined, { sequence: 1, stage: "offered" })); // offer
 * console.log(judgePush({ stage: "accepted", sequence: 1, invitation_id: "i1" }, { sequence: 2, stage: "shared" })); // share
 * ```
 */
export function judgePush(replica: Pick<Replica, "stage" | "sequence" | "invitation_id"> | undefined, push: Push): Judgement {
  checkArgument("push", push, "object");
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
 * Key versions only grow: throws `STATE_CONFLICT` for a push that goes back behind the version in force, or after which one would be
 * missing. `known` and `pushed` are version numbers: what is known need not be pushed again.
 *
 * @example
 * ```ts
 * import { requireKeyVersions } from "@seneschal/core/keys";
 * requireKeyVersions([1], 1, [2], 2);
 * try {
 *   requireKeyVersions([1], 1, [3], 3);
 * } catch (error) {
 *   console.log((error as Error).message); // key versions do not go back, and none is left out
 * }
 * ```
 */
export function requireKeyVersions(known: readonly number[], inForce: number, pushed: readonly number[], next: number): void {
  checkArgument("known", known, "array");
  checkArgument("inForce", inForce, "number");
  checkArgument("pushed", pushed, "array");
  checkArgument("next", next, "number");
  const held = new Set([...known, ...pushed]);
  const complete =
    held.size === next && [...held].every((version) => Number.isInteger(version) && version >= 1 && version <= next);
  if (next < inForce || !complete) {
    throw refusal("STATE_CONFLICT", "key versions do not go back, and none is left out", { known: inForce, pushed: next });
  }
}

/**
 * Throws `STATE_CONFLICT` for a revision that goes back, or that has another content than it had: an owner says one thing of one
 * revision, whomever it tells.
 *
 * @example
 * ```ts
 * import { requireRevision } from "@seneschal/core/keys";
 * requireRevision({ revision: 2, state_sha256: "00" }, { revision: 3, state_sha256: "01" });
 * try {
 *   requireRevision({ revision: 2, state_sha256: "00" }, { revision: 2, state_sha256: "01" });
 * } catch (error) {
 *   console.log((error as Error).message); // one revision has one content
 * }
 * ```
 */
export function requireRevision(
  known: { readonly revision?: number; readonly state_sha256?: string },
  pushed: { readonly revision: number; readonly state_sha256: string },
): void {
  checkArgument("known", known, "object");
  checkArgument("pushed", pushed, "object");
  const { revision = 0, state_sha256 } = known;
  if (pushed.revision < revision) {
    throw refusal("STATE_CONFLICT", "revisions do not go back", { known: revision, pushed: pushed.revision });
  }
  if (pushed.revision === revision && state_sha256 !== undefined && state_sha256 !== pushed.state_sha256) {
    throw refusal("STATE_CONFLICT", "one revision has one content", { revision });
  }
}

/** So many policies that were taken away are remembered; the oldest are forgotten first. */
const RETIRED = 1000;

/**
 * What is remembered of policies that an owner took away.
 *
 * @example
 * ```ts
 * import { retirePolicies } from "@seneschal/core/keys";
 * console.log(retirePolicies({ p1: 2 }, [{ id: "p1", version: 3 }])); // { p1: 3 }
 * ```
 */
export function retirePolicies(
  before: Readonly<Record<string, number>> = {},
  gone: readonly { readonly id: string; readonly version: number }[],
): Readonly<Record<string, number>> {
  const all = [...Object.entries(before), ...gone.map(({ id, version }) => [id, version] as const)];
  const latest = new Map<string, number>();
  for (const [id, version] of all) {
    const known = latest.get(id) ?? 0;
    latest.delete(id);
    latest.set(id, Math.max(known, version));
  }
  return Object.fromEntries([...latest].slice(-RETIRED));
}
