import { checkArgument } from "@seneschal/kernel";
import { refusal } from "./codes.ts";
import { lifetimes } from "./lifetimes.ts";
import type { ReplicaEvent } from "./replica/event.ts";
import { isPast, type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type Step, type TransitionTable, to, wrongState } from "./transition.ts";
import { stepWorkspace, type Workspace, type WorkspaceEffect } from "./workspace.ts";

export const invitationStatuses = ["pending", "accepted", "declined", "expired", "revoked"] as const;
export type InvitationStatus = (typeof invitationStatuses)[number];
export type InvitationInput = "accept" | "decline" | "revoke" | "expire";

/** An invitation of the owner's organisation to another one, `org_id`. */
export interface Invitation {
  readonly id: string;
  readonly org_id: string;
  readonly workspace_id: string;
  readonly invited_by: string;
  readonly status: InvitationStatus;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
  readonly expires_at: Timestamp;
  readonly responded_at: Timestamp | null;
}

const over = { accept: wrongState, decline: wrongState, revoke: wrongState, expire: wrongState } as const;

export const invitationTable: TransitionTable<InvitationStatus, InvitationInput> = {
  pending: { accept: to("accepted"), decline: to("declined"), revoke: to("revoked"), expire: to("expired") },
  accepted: over,
  declined: over,
  expired: { ...over, accept: { refuse: "INVITATION_EXPIRED" }, decline: { refuse: "INVITATION_EXPIRED" } },
  revoked: over,
};

/**
 * A pending invitation of `org`. `lifetime` in milliseconds.
 *
 * @example
 * ```ts
 * import { invite } from "@seneschal/core/keys";
 * console.log(invite({ id: "i1", workspace_id: "w1", org: "globex", by: "ada" }, 0).status); // pending
 * ```
 */
export function invite(
  input: { readonly id: string; readonly workspace_id: string; readonly org: string; readonly by: string },
  now: number,
  lifetime: number = lifetimes.invitation,
): Invitation {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  return {
    id: input.id,
    org_id: input.org,
    workspace_id: input.workspace_id,
    invited_by: input.by,
    status: "pending",
    created_at: at,
    updated_at: at,
    expires_at: timestamp(now + lifetime),
    responded_at: null,
  };
}

/**
 * The status at a moment: a pending invitation expires by itself.
 *
 * @example
 * ```ts
 * import { invitationStatus, invite } from "@seneschal/core/keys";
 * const invitation = invite({ id: "i1", workspace_id: "w1", org: "globex", by: "ada" }, 0, 1000);
 * console.log(invitationStatus(invitation, 999), invitationStatus(invitation, 1000)); // pending expired
 * ```
 */
export function invitationStatus(invitation: Invitation, now: number): InvitationStatus {
  checkArgument("invitation", invitation, "object");
  checkArgument("now", now, "number");
  return invitation.status === "pending" && isPast(invitation.expires_at, now) ? "expired" : invitation.status;
}

/**
 * One step; throws `STATE_CONFLICT` or `INVITATION_EXPIRED`. What is not answered can be revoked, whether its time is over or not.
 *
 * @example
 * ```ts
 * import { invite, stepInvitation } from "@seneschal/core/keys";
 * const invitation = invite({ id: "i1", workspace_id: "w1", org: "globex", by: "ada" }, 0);
 * console.log(stepInvitation(invitation, "accept", 1).status); // accepted
 * ```
 */
export function stepInvitation(invitation: Invitation, input: InvitationInput, now: number): Invitation {
  checkArgument("invitation", invitation, "object");
  checkArgument("input", input, "string");
  checkArgument("now", now, "number");
  const current = input === "revoke" ? invitation.status : invitationStatus(invitation, now);
  const status = nextStatus("invitation", invitationTable, current, input);
  const answered = status === "accepted" || status === "declined";
  return {
    ...invitation,
    status,
    updated_at: timestamp(now),
    responded_at: answered ? timestamp(now) : invitation.responded_at,
  };
}

/**
 * Only callers of the invited organisation may answer it.
 *
 * @example
 * ```ts
 * import { invite, requireInvited } from "@seneschal/core/keys";
 * const invitation = invite({ id: "i1", workspace_id: "w1", org: "globex", by: "ada" }, 0);
 * requireInvited(invitation, "globex");
 * try {
 *   requireInvited(invitation, "initech");
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // FORBIDDEN
 * }
 * ```
 */
export function requireInvited(invitation: Invitation, org: string): void {
  checkArgument("invitation", invitation, "object");
  checkArgument("org", org, "string");
  if (invitation.org_id !== org) throw refusal("FORBIDDEN", "the invitation is for another organisation");
}

/** What the acceptance of an invitation comes to at its workspace. */
export interface Joined {
  readonly invitation: Invitation;
  readonly step: Step<Workspace, WorkspaceEffect>;
  readonly event: ReplicaEvent;
}

/**
 * Lets the invited organisation take part. `group_id`: its group that is bound to the workspace. Throws the refusals of the invitation, then those of the
 * workspace.
 *
 * @example
 * ```ts
 * import { createWorkspace, invite, joinByInvitation } from "@seneschal/core/keys";
 * const facts = { id: "w1", org: "acme", by: "ada", name: "merger", purpose: "", group_id: null, crk_protected: false } as const;
 * const { state } = createWorkspace({ ...facts, classification: "CONFIDENTIAL", mode: "standard" }, 0);
 * const invitation = invite({ id: "i1", workspace_id: "w1", org: "globex", by: "ada" }, 0);
 * console.log(joinByInvitation(state, invitation, null, 1).step.effects); // [ { kind: 'wrap_deks', org: 'globex' } ]
 * ```
 */
export function joinByInvitation(workspace: Workspace, invitation: Invitation, group_id: string | null, now: number): Joined {
  checkArgument("workspace", workspace, "object");
  checkArgument("invitation", invitation, "object");
  checkArgument("now", now, "number");
  const { id: invitation_id, org_id } = invitation;
  return {
    invitation: stepInvitation(invitation, "accept", now),
    step: stepWorkspace(workspace, { kind: "join", org: org_id, group_id }, now),
    event: { type: "workspace.join", org: workspace.org_id, workspace: workspace.id, metadata: { org_id, invitation_id } },
  };
}
