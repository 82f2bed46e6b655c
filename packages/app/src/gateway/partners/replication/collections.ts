import { isSettled, type Replica, type Share } from "@seneschal/core/keys";
import { keyText } from "../../../platform/index.ts";
import { collection } from "../../ground/index.ts";

/** The owner's side: which workspaces partners on other instances take part in, or are invited to. */
export const shares = collection<Share>("workspace_shares", {
  by_org: { key: (share) => [share.org_id, share.created_at] },
  by_workspace: { key: (share) => [share.workspace_id] },
  by_federation: { key: (share) => [share.federation_id] },
  /** Of which the partner does not know the newest. */
  unconfirmed: { key: (share) => (isSettled(share) ? undefined : [share.updated_at]) },
});

export const shareId = (workspace: string, partner: string): string => `${workspace}/${keyText(partner)}`;

/** The partner's side: workspaces of other instances. */
export const replicas = collection<Replica>("workspace_replicas", {
  by_org: { key: (replica) => [replica.org_id, replica.created_at] },
  by_workspace: { key: (replica) => [replica.workspace_id] },
  by_federation: { key: (replica) => [replica.federation_id] },
  /** Offers that wait for an answer, by the end of their time. */
  offered: {
    key: ({ stage, offer_until, federation_id }) => (stage === "offered" ? [federation_id, offer_until ?? ""] : undefined),
  },
  offered_until: {
    key: ({ stage, offer_until }) => (stage === "offered" && offer_until !== undefined ? [offer_until] : undefined),
  },
});

export const replicaId = (workspace: string, org: string): string => `${workspace}/${keyText(org)}`;

/** Of the invitation as it is kept here. */
export const receivedId = ({ received_id, invitation_id }: Replica): string => received_id ?? invitation_id;

/** What still has to reach a partner's instance. What is said is made when it is sent, from what is true then. */
export interface Dispatch {
  readonly kind: "state" | "answer" | "consent";
  readonly org_id: string;
  readonly federation_id: string;
  readonly workspace_id: string;
  /** Another one each time that it is queued: a delivery takes away only what it delivered. */
  readonly token: string;
  readonly attempts: number;
  /** The next try. */
  readonly due_at: string;
  readonly error_detail: string | null;
  readonly created_at: string;
}

export const dispatches = collection<Dispatch>("dispatches", {
  by_org: { key: (dispatch) => [dispatch.org_id, dispatch.created_at] },
  by_age: { key: (dispatch) => [dispatch.created_at] },
  by_federation: { key: (dispatch) => [dispatch.federation_id] },
  due: { key: (dispatch) => [dispatch.due_at] },
  /** A lane for each federation. */
  lanes: { key: (dispatch) => [dispatch.federation_id, dispatch.due_at] },
});

export const dispatchId = (of: Pick<Dispatch, "kind" | "federation_id" | "workspace_id">): string =>
  `${of.kind}/${of.federation_id}/${of.workspace_id}`;
