import { checkArgument } from "@seneschal/kernel";
import { type Admission, revokeAdmission } from "../admission.ts";
import { type Invitation, stepInvitation } from "../invitation.ts";
import { timestamp } from "../time.ts";
import type { ReplicaEvent } from "./event.ts";
import type { Replica } from "./judge.ts";

/** Why an organisation's part in a workspace of another instance ends. */
export type ReplicaEnd = "owner" | "federation" | "refused" | "expired";

/** What the end of a part comes to here, beside what is destroyed. */
export interface ReplicaEnded {
  readonly invitation?: Invitation;
  readonly admissions: readonly Admission[];
  readonly event: ReplicaEvent;
}

/**
 * Ends an organisation's part in a workspace of another instance: an invitation that waits is revoked, and so are the admissions, which are the
 * active ones. `by`: who or what ends it.
 *
 * @example
 * ```ts
 * import { endReplica, receiveOffer } from "@seneschal/core/keys";
 * const route = { federation_id: "f1", org_id: "globex", owner_org_id: "acme" };
 * const workspace = { name: "merger", classification: "CONFIDENTIAL", mode: "standard", purpose: "", crk_protected: false } as const;
 * const invitation = { id: "i1", invited_by: "ada", expires_at: "1970-01-02T00:00:00.000Z" };
 * const received = receiveOffer(route, { workspace_id: "w1", sequence: 1, workspace, invitation }, { id: "i2", lifetime: 3_600_000 }, 0);
 * if (received) console.log(endReplica(received.replica, { invitation: received.invitation, admissions: [], by: "ada" }, "owner", 1).invitation?.status); // revoked
 * ```
 */
export function endReplica(
  replica: Replica,
  facts: { readonly invitation: Invitation | undefined; readonly admissions: readonly Admission[]; readonly by: string },
  reason: ReplicaEnd,
  now: number,
): ReplicaEnded {
  checkArgument("replica", replica, "object");
  checkArgument("facts", facts, "object");
  checkArgument("reason", reason, "string");
  checkArgument("now", now, "number");
  const { workspace_id: workspace, org_id: org, owner_org_id } = replica;
  const { invitation, admissions, by } = facts;
  return {
    ...(invitation?.status === "pending" && { invitation: stepInvitation(invitation, "revoke", now) }),
    admissions: admissions.map((admission) => revokeAdmission(admission, { id: by, org, ownsWorkspace: true }, now)),
    event: { type: "workspace.leave", org, workspace, metadata: { org_id: org, owner_org_id, reason } },
  };
}

/**
 * An acceptance that the owner does not take, with its code: it never was one. What is not accepted stays as it is.
 *
 * @example
 * ```ts
 * import { invite, stepInvitation, takeBackAcceptance } from "@seneschal/core/keys";
 * const accepted = stepInvitation(invite({ id: "i1", workspace_id: "w1", org: "globex", by: "ada" }, 0), "accept", 1);
 * console.log(takeBackAcceptance(accepted, "INVITATION_EXPIRED", 2).status); // expired
 * ```
 */
export function takeBackAcceptance(invitation: Invitation, code: string, now: number): Invitation {
  checkArgument("invitation", invitation, "object");
  checkArgument("code", code, "string");
  checkArgument("now", now, "number");
  if (invitation.status !== "accepted") return invitation;
  return { ...invitation, status: code === "INVITATION_EXPIRED" ? "expired" : "revoked", updated_at: timestamp(now) };
}
