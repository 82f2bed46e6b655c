import { countedSize, type Message, nextDelivery, timestamp } from "@seneschal/core/keys";
import { keyText } from "../../../platform/index.ts";
import { collection } from "../../ground/index.ts";

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
