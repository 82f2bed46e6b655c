import { type Message, nextDelivery, timestamp } from "@seneschal/core/keys";
import { collection, keyText } from "../store/collection.ts";

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
