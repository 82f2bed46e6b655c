import {
  countedSize,
  type Dispatch,
  type EdgeNode,
  type EdgeSync,
  type Federation,
  isSettled,
  type LogWitness,
  type Message,
  nextDelivery,
  type Replica,
  type SeenCard,
  type Share,
  timestamp,
  type WitnessedLog,
} from "@seneschal/core/keys";
import type { CardStatement } from "@seneschal/crypto/custody";
import { keyText } from "../../platform/index.ts";
import { type AnyCollection, collection } from "../ground/index.ts";

/** What another organisation has said of a person's card, each fingerprint once, in the order in which it came. */
export interface SeenCards {
  readonly org_id: string;
  readonly partner_org_id: string;
  readonly identity_id: string;
  readonly seen: readonly SeenCard<CardStatement>[];
}

export const seenCards = collection<SeenCards>("seen_cards", {
  by_org: { key: ({ org_id, partner_org_id }) => [org_id, keyText(partner_org_id)] },
});

export const seenCardsId = (org: string, partner: string, identity: string): string =>
  [org, partner, identity].map(encodeURIComponent).join("/");

export const edges = collection<EdgeNode>("edges", {
  by_org: { key: (edge) => [edge.org_id, edge.created_at] },
  by_name: { key: (edge) => [edge.org_id, keyText(edge.name)], unique: "an edge node of that name exists" },
});

export const edgeSyncs = collection<EdgeSync>("edge_syncs");

export const federations = collection<Federation>("federations", {
  by_org: { key: (federation) => [federation.org_id, federation.created_at] },
  by_partner: { key: (federation) => [federation.org_id, keyText(federation.partner_org_id), federation.created_at] },
  open: {
    key: (federation) => (federation.status === "revoked" ? undefined : [federation.org_id, keyText(federation.partner_org_id)]),
    unique: "a federation with that partner exists",
  },
  active: { key: (federation) => (federation.status === "active" ? [federation.org_id] : undefined) },
});

/** An organisation's key for its federations: one key, one request, signed by every partner. */
export interface FederationIdentity {
  readonly org_id: string;
  /** PEM. */
  readonly csr: string;
  /** PEM: the organisation's own certificate of the key, its CA and the root: what a partner pins. */
  readonly certificate: string;
  readonly serial_number: string;
  readonly expires_at: string;
  /** PKCS#8, sealed by the vault. */
  readonly sealed_key: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export const federationIdentities = collection<FederationIdentity>("federation_identities");

const holderOf = (message: Message): string => (message.direction === "sent" ? message.sender_id : message.recipient_id);

/** Sent and received copies, each its holder's alone. */
export const messages = collection<Message>("messages", {
  inbox: {
    key: (message) =>
      message.direction === "received" ? [message.org_id, keyText(message.recipient_id), message.created_at] : undefined,
  },
  sent: {
    key: (message) =>
      message.direction === "sent" ? [message.org_id, keyText(message.sender_id), message.created_at] : undefined,
  },
  held: {
    key: (message) => [message.org_id, keyText(holderOf(message)), message.id, message.direction],
    unique: "a message of that id exists",
  },
  /** The outbox: what still has to reach a partner, by the time of the next try. */
  due: {
    key: (message) =>
      message.direction === "sent" && message.status === "pending" ? [timestamp(nextDelivery(message))] : undefined,
  },
  /** The same, a lane for each partner. */
  lanes: {
    key: (message) =>
      message.direction === "sent" && message.status === "pending"
        ? [message.org_id, keyText(message.recipient_org_id), timestamp(nextDelivery(message))]
        : undefined,
  },
  /** What came from elsewhere and was not read. */
  waiting: {
    key: (message) =>
      message.direction === "received" && message.status === "delivered" && message.sender_org_id !== message.org_id
        ? [message.org_id, keyText(message.sender_org_id), countedSize(message)]
        : undefined,
  },
  /** What was not read, or did not reach its partner yet, by who sent it. */
  unsettled: {
    key: (message) =>
      message.status === (message.direction === "sent" ? "pending" : "delivered")
        ? [keyText(message.sender_org_id), keyText(message.sender_id)]
        : undefined,
  },
  by_expiry: { key: (message) => [message.expires_at] },
});

export const copyId = ({ id, org_id, direction, sender_org_id }: Message): string =>
  `${id}/${direction}/${keyText(org_id)}/${keyText(sender_org_id)}`;

/** Of the receipt of a received copy. */
export const receiptId = ({
  recipient_org_id,
  sender_org_id,
  id,
}: Pick<Message, "recipient_org_id" | "sender_org_id" | "id">): string =>
  `${keyText(recipient_org_id)}/${keyText(sender_org_id)}/${id}`;

/** That a partner's message came in: it stays when the copy is deleted, so that a replay brings nothing back. */
export interface Receipt {
  /** SHA-256 over what was delivered, hex. */
  readonly digest: string;
  readonly expires_at: string;
}

export const messageReceipts = collection<Receipt>("message_receipts", {
  by_expiry: { key: (receipt) => [receipt.expires_at] },
});

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

/** Our log as a partner has witnessed it, by federation. */
export const logWitnesses = collection<LogWitness>("log_witnesses", {
  by_org: { key: ({ org_id, partner_org_id }) => [org_id, keyText(partner_org_id)] },
  by_age: { key: ({ cosigned_at }) => (cosigned_at === null ? undefined : [cosigned_at]) },
  troubled: { key: ({ trouble }) => (trouble === null ? undefined : [trouble.growth]) },
});

/** A partner's log as we have witnessed it, by federation. */
export const witnessedLogs = collection<WitnessedLog>("witnessed_logs", {
  troubled: { key: ({ trouble }) => (trouble === null ? undefined : [trouble.growth]) },
});

/** All that the floor stores. */
export const partnersCollections: readonly AnyCollection[] = [
  dispatches,
  edgeSyncs,
  edges,
  federationIdentities,
  federations,
  logWitnesses,
  messageReceipts,
  messages,
  replicas,
  seenCards,
  shares,
  witnessedLogs,
];
