import { checkArgument } from "@seneschal/kernel";
import { type Invitation, invitationStatus, type Joined, joinByInvitation, stepInvitation } from "./invitation.ts";
import type { ReplicaEvent } from "./replica/event.ts";
import { type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type Step, type TransitionTable, to, wrongState } from "./transition.ts";
import { participates, stepWorkspace, type Workspace, type WorkspaceEffect } from "./workspace.ts";

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
  /** What stood under the number that was confirmed last. */
  readonly follower?: Told & { readonly confirmed_at: Timestamp };
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

/** What a partner was told of a workspace. */
export interface Told {
  readonly revision: number;
  /** Of the workspace as it travelled, hex. */
  readonly state_sha256: string;
  /** The newest key version. */
  readonly dek_version: number;
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

/**
 * A share that begins with an invitation.
 *
 * @example
 * ```ts
 * import { offerShare } from "@seneschal/core/keys";
 * const share = offerShare({ workspace_id: "w1", org_id: "acme", partner_org_id: "globex", federation_id: "f1", invitation_id: "i1" }, 0);
 * console.log(share.stage, share.sequence); // offered 1
 * ```
 */
export function offerShare(
  input: Pick<Share, "workspace_id" | "org_id" | "partner_org_id" | "federation_id" | "invitation_id">,
  now: number,
): Share {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  return { ...input, stage: "offered", sequence: 1, confirmed: 0, created_at: at, updated_at: at };
}

/**
 * One step; what has ended changes no more. Throws `STATE_CONFLICT`.
 *
 * @example
 * ```ts
 * import { offerShare, stepShare } from "@seneschal/core/keys";
 * const share = offerShare({ workspace_id: "w1", org_id: "acme", partner_org_id: "globex", federation_id: "f1", invitation_id: "i1" }, 0);
 * const joined = stepShare(share, { kind: "join" }, 1);
 * console.log(joined.stage, stepShare(joined, { kind: "end" }, 2).stage); // shared ended
 * ```
 */
export function stepShare(share: Share, input: ShareInput, now: number): Share {
  checkArgument("share", share, "object");
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const stage = nextStatus("share", shareTable, share.stage, input.kind);
  if (share.stage === "ended" && stage === "ended") return share;
  const offer = input.kind === "offer" ? { invitation_id: input.invitation_id, federation_id: input.federation_id } : {};
  // Who joins holds nothing, whatever it held before.
  const kept = input.kind === "change" || input.kind === "end" ? share : forgetFollower(share);
  return { ...kept, ...offer, stage, sequence: share.sequence + 1, updated_at: timestamp(now) };
}

/** So many changes an owner may have forgotten by a restore. */
const FORGOTTEN = 65_536;

/** What a confirmation comes to; `refused` is a number that was never said. */
export type Confirmation = { readonly kind: "confirmed" | "ahead"; readonly share: Share } | { readonly kind: "refused" };

/**
 * The partner says up to where it knows. One that knows a little more than was ever said (`ahead`) remembers an owner before a restore:
 * the numbers go on behind its own. A leap is refused: it would use up the numbers. `told` is what was said under `sent`.
 *
 * @example
 * ```ts
 * import { confirmShare, offerShare } from "@seneschal/core/keys";
 * const share = offerShare({ workspace_id: "w1", org_id: "acme", partner_org_id: "globex", federation_id: "f1", invitation_id: "i1" }, 0);
 * console.log(confirmShare(share, share.sequence, { sent: share.sequence, told: undefined }, 1).kind); // confirmed
 * ```
 */
export function confirmShare(
  share: Share,
  known: number,
  given: { readonly sent: number; readonly told: Told | undefined },
  now: number,
): Confirmation {
  checkArgument("share", share, "object");
  checkArgument("known", known, "number");
  checkArgument("given", given, "object");
  checkArgument("now", now, "number");
  const { sent, told } = given;
  if (known > share.sequence + FORGOTTEN) return { kind: "refused" };
  if (known > share.sequence) return { kind: "ahead", share: { ...share, sequence: known + 1 } };
  const confirmed = { ...share, confirmed: Math.max(share.confirmed, known) };
  if (told === undefined || known < sent || share.stage !== "shared") return { kind: "confirmed", share: confirmed };
  return { kind: "confirmed", share: { ...confirmed, follower: { ...told, confirmed_at: timestamp(now) } } };
}

/**
 * The share of a partner that does not know what it confirmed, such as one that was restored: it is told all again.
 *
 * @example
 * ```ts
 * import { forgetFollower, offerShare } from "@seneschal/core/keys";
 * const share = offerShare({ workspace_id: "w1", org_id: "acme", partner_org_id: "globex", federation_id: "f1", invitation_id: "i1" }, 0);
 * const follower = { revision: 1, state_sha256: "00", dek_version: 1, confirmed_at: "1970-01-01T00:00:00.000Z" };
 * console.log("follower" in forgetFollower({ ...share, follower })); // false
 * ```
 */
export function forgetFollower(given: Share): Share {
  checkArgument("given", given, "object");
  const { follower: _, ...share } = given;
  return share;
}

/**
 * True when the partner knows all that there is.
 *
 * @example
 * ```ts
 * import { isSettled, offerShare } from "@seneschal/core/keys";
 * const share = offerShare({ workspace_id: "w1", org_id: "acme", partner_org_id: "globex", federation_id: "f1", invitation_id: "i1" }, 0);
 * console.log(isSettled(share), isSettled({ ...share, confirmed: share.sequence })); // false true
 * ```
 */
export function isSettled(share: Share): boolean {
  checkArgument("share", share, "object");
  return share.confirmed >= share.sequence;
}

/** What a partner's answer comes to at the owner's: nothing new when it was given before. */
export type ShareAnswer =
  | { readonly kind: "before"; readonly share: Share }
  | ({ readonly kind: "joined" } & Joined)
  /** `share` is what the reply tells, which is all that is left to say. */
  | { readonly kind: "declined"; readonly share: Share; readonly invitation: Invitation; readonly event: ReplicaEvent };

/**
 * The owner's side of an answer to its invitation, which may come twice. `invitation` is the one that the partner names. Throws the refusals of
 * {@link joinByInvitation}.
 *
 * @example
 * ```ts
 * import { createWorkspace, invite, offerShare, takeAnswer } from "@seneschal/core/keys";
 * const input = { name: "merger", classification: "CONFIDENTIAL", mode: "standard", purpose: "", group_id: null, crk_protected: false } as const;
 * const { state: workspace } = createWorkspace({ id: "w1", org: "acme", by: "ada", ...input }, 0);
 * const invitation = invite({ id: "i1", workspace_id: "w1", org: "globex", by: "ada" }, 0);
 * const share = offerShare({ workspace_id: "w1", org_id: "acme", partner_org_id: "globex", federation_id: "f1", invitation_id: "i1" }, 0);
 * console.log(takeAnswer({ share, workspace, invitation }, { accept: true, group_id: null }, 1).kind); // joined
 * ```
 */
export function takeAnswer(
  facts: { readonly share: Share; readonly workspace: Workspace; readonly invitation: Invitation },
  answer: { readonly accept: boolean; readonly group_id: string | null },
  now: number,
): ShareAnswer {
  checkArgument("facts", facts, "object");
  checkArgument("answer", answer, "object");
  checkArgument("now", now, "number");
  const { share, workspace, invitation } = facts;
  if (answer.accept) {
    if (invitation.status === "accepted" && share.stage === "shared") return { kind: "before", share };
    return { kind: "joined", ...joinByInvitation(workspace, invitation, answer.group_id, now) };
  }
  const sequence = share.sequence + 1;
  const ended: Share = { ...share, stage: "ended", sequence, confirmed: sequence };
  if (invitation.status === "declined") return { kind: "before", share: ended };
  const { id: invitation_id, org_id } = invitation;
  const of = { org: workspace.org_id, workspace: workspace.id };
  return {
    kind: "declined",
    share: ended,
    invitation: stepInvitation(invitation, "decline", now),
    event: { type: "workspace.invite.decline", ...of, metadata: { org_id, invitation_id } },
  };
}

/** What the end of a federation comes to at a workspace of the owner's. */
export interface PartnerGone {
  /** Revoked, when it waited for an answer. */
  readonly invitation?: Invitation;
  /** When the partner took part. */
  readonly step?: Step<Workspace, WorkspaceEffect>;
  readonly events: readonly ReplicaEvent[];
}

/**
 * A partner with which the federation ends leaves a workspace: it answers no invitation any more, and what it knows of the keys ends.
 *
 * @example
 * ```ts
 * import { createWorkspace, invite, partnerGone } from "@seneschal/core/keys";
 * const input = { name: "merger", classification: "CONFIDENTIAL", mode: "standard", purpose: "", group_id: null, crk_protected: false } as const;
 * const { state: workspace } = createWorkspace({ id: "w1", org: "acme", by: "ada", ...input }, 0);
 * const invitation = invite({ id: "i1", workspace_id: "w1", org: "globex", by: "ada" }, 0);
 * console.log(partnerGone(workspace, invitation, "globex", 1).invitation?.status); // revoked
 * ```
 */
export function partnerGone(workspace: Workspace, invitation: Invitation | undefined, partner: string, now: number): PartnerGone {
  checkArgument("workspace", workspace, "object");
  checkArgument("partner", partner, "string");
  checkArgument("now", now, "number");
  const open = invitation !== undefined && invitationStatus(invitation, now) === "pending";
  const revoked = open ? { invitation: stepInvitation(invitation, "revoke", now) } : {};
  if (!participates(workspace, partner)) return { ...revoked, events: [] };
  const step = stepWorkspace(workspace, { kind: "leave", org: partner }, now);
  const of = { org: workspace.org_id, workspace: workspace.id };
  return {
    ...revoked,
    step,
    events: [
      { type: "workspace.leave", ...of, metadata: { org_id: partner } },
      { type: "key.rotate", ...of, metadata: { version: step.state.dek_version } },
    ],
  };
}
