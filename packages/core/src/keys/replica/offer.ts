import { checkArgument } from "@seneschal/kernel";
import { notFound, refusal } from "../codes.ts";
import { type Invitation, invite, stepInvitation } from "../invitation.ts";
import { isPast, milliseconds, type Timestamp, timestamp } from "../time.ts";
import type { ReplicaEvent } from "./event.ts";
import type { Offer, Replica } from "./judge.ts";

/** An invitation as the owner's instance tells of it. */
export interface OfferState {
  readonly workspace_id: string;
  readonly sequence: number;
  readonly workspace: Offer;
  readonly invitation: { readonly id: string; readonly invited_by: string; readonly expires_at: Timestamp };
}

/** Over which federation it came, and for whom. */
export interface OfferRoute {
  readonly federation_id: string;
  readonly org_id: string;
  readonly owner_org_id: string;
}

/** What an answer, or an offer, comes to here. */
export interface OfferStep {
  readonly invitation: Invitation;
  readonly replica: Replica;
  readonly event: ReplicaEvent;
}

/**
 * An offer told again: only what it says of the workspace may have changed.
 *
 * @example
 * ```ts
 * import { receiveOffer, repeatOffer } from "@seneschal/core/keys";
 * const route = { federation_id: "f1", org_id: "globex", owner_org_id: "acme" };
 * const workspace = { name: "merger", classification: "CONFIDENTIAL", mode: "standard", purpose: "", crk_protected: false } as const;
 * const invitation = { id: "i1", invited_by: "ada", expires_at: "1970-01-02T00:00:00.000Z" };
 * const received = receiveOffer(route, { workspace_id: "w1", sequence: 1, workspace, invitation }, { id: "i2", lifetime: 3_600_000 }, 0);
 * if (received) console.log(repeatOffer(received.replica, { workspace: { ...workspace, purpose: "new" }, sequence: 2 }, 1).offer.purpose); // new
 * ```
 */
export function repeatOffer(replica: Replica, state: Pick<OfferState, "workspace" | "sequence">, now: number): Replica {
  checkArgument("replica", replica, "object");
  checkArgument("state", state, "object");
  const { workspace: offer, sequence } = state;
  checkArgument("now", now, "number");
  return { ...replica, offer, sequence, updated_at: timestamp(now) };
}

/**
 * An invitation from elsewhere under the id that it has here. It begins when it comes, and ends no later than one of ours would (`lifetime`,
 * milliseconds); who invited is the owner's word. `undefined`: it is over, which is nothing to keep.
 *
 * @example
 * ```ts
 * import { receiveOffer } from "@seneschal/core/keys";
 * const route = { federation_id: "f1", org_id: "globex", owner_org_id: "acme" };
 * const workspace = { name: "merger", classification: "CONFIDENTIAL", mode: "standard", purpose: "", crk_protected: false } as const;
 * const invitation = { id: "i1", invited_by: "ada", expires_at: "1970-01-02T00:00:00.000Z" };
 * const received = receiveOffer(route, { workspace_id: "w1", sequence: 1, workspace, invitation }, { id: "i2", lifetime: 3_600_000 }, 0);
 * console.log(received?.replica.stage, received?.invitation.expires_at); // offered 1970-01-01T01:00:00.000Z
 * ```
 */
export function receiveOffer(
  route: OfferRoute,
  offer: OfferState,
  facts: { readonly id: string; readonly lifetime: number },
  now: number,
): OfferStep | undefined {
  checkArgument("route", route, "object");
  checkArgument("offer", offer, "object");
  checkArgument("facts", facts, "object");
  checkArgument("now", now, "number");
  const { workspace_id, sequence, invitation } = offer;
  const { org_id, owner_org_id, federation_id } = route;
  if (isPast(invitation.expires_at, now)) return undefined;
  const { id } = facts;
  const by = `${owner_org_id}/${invitation.invited_by}`;
  const lifetime = Math.min(milliseconds(invitation.expires_at) - now, facts.lifetime);
  const received = invite({ id, workspace_id, org: org_id, by }, now, lifetime);
  return {
    invitation: received,
    replica: {
      workspace_id,
      org_id,
      owner_org_id,
      federation_id,
      invitation_id: invitation.id,
      received_id: id,
      group_id: null,
      offer: offer.workspace,
      offer_until: received.expires_at,
      stage: "offered",
      sequence,
      created_at: received.created_at,
      updated_at: received.updated_at,
    },
    event: {
      type: "workspace.invite",
      org: org_id,
      workspace: workspace_id,
      metadata: { org_id, owner_org_id, invitation_id: id },
    },
  };
}

/**
 * Throws unless the offer waits for an answer: `NOT_FOUND` for one that was declined, `CONFLICT` for one that was accepted.
 *
 * @example
 * ```ts
 * import { requireOpenOffer } from "@seneschal/core/keys";
 * requireOpenOffer({ stage: "offered" });
 * try {
 *   requireOpenOffer({ stage: "shared" });
 * } catch (error) {
 *   console.log((error as Error).message); // the organisation already takes part
 * }
 * ```
 */
export function requireOpenOffer(replica: Pick<Replica, "stage">): void {
  checkArgument("replica", replica, "object");
  const { stage } = replica;
  if (stage === "declined") throw notFound("workspace");
  if (stage !== "offered") throw refusal("CONFLICT", "the organisation already takes part");
}

/**
 * The answer to an offer that waits for one. Throws the refusals of {@link requireOpenOffer} and of the invitation.
 *
 * @example
 * ```ts
 * import { answerOffer, receiveOffer } from "@seneschal/core/keys";
 * const route = { federation_id: "f1", org_id: "globex", owner_org_id: "acme" };
 * const workspace = { name: "merger", classification: "CONFIDENTIAL", mode: "standard", purpose: "", crk_protected: false } as const;
 * const invitation = { id: "i1", invited_by: "ada", expires_at: "1970-01-02T00:00:00.000Z" };
 * const received = receiveOffer(route, { workspace_id: "w1", sequence: 1, workspace, invitation }, { id: "i2", lifetime: 3_600_000 }, 0);
 * if (received) console.log(answerOffer(received.replica, received.invitation, { accept: true, group_id: null }, 1).replica.stage); // accepted
 * ```
 */
export function answerOffer(
  replica: Replica,
  invitation: Invitation,
  answer: { readonly accept: true; readonly group_id: string | null } | { readonly accept: false },
  now: number,
): OfferStep {
  checkArgument("replica", replica, "object");
  checkArgument("invitation", invitation, "object");
  checkArgument("answer", answer, "object");
  checkArgument("now", now, "number");
  const { org_id: org, workspace_id: workspace, owner_org_id } = replica;
  requireOpenOffer(replica);
  const answered = stepInvitation(invitation, answer.accept ? "accept" : "decline", now);
  const updated_at = timestamp(now);
  const invitation_id = invitation.id;
  return answer.accept
    ? {
        invitation: answered,
        replica: { ...replica, stage: "accepted", group_id: answer.group_id, updated_at },
        event: { type: "workspace.invite.accept", org, workspace, metadata: { org_id: org, owner_org_id, invitation_id } },
      }
    : {
        invitation: answered,
        replica: { ...replica, stage: "declined", updated_at },
        event: { type: "workspace.invite.decline", org, workspace, metadata: { invitation_id } },
      };
}
