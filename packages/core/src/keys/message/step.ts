import { checkArgument } from "@seneschal/kernel";
import { isPast, type Timestamp, timestamp } from "../time.ts";
import { nextStatus, type TransitionTable, to, wrongState } from "../transition.ts";

export const messageStatuses = ["pending", "delivered", "read", "failed"] as const;
export type MessageStatus = (typeof messageStatuses)[number];
export type MessageDirection = "sent" | "received";

/** One organisation's copy of a message. The body is ciphertext: the server never sees what it says. */
export interface Message {
  readonly id: string;
  /** Whose copy it is. */
  readonly org_id: string;
  readonly direction: MessageDirection;
  readonly conversation_id: string | null;
  readonly sender_org_id: string;
  readonly sender_id: string;
  readonly recipient_org_id: string;
  readonly recipient_id: string;
  readonly subject: string;
  /** Base64 ciphertext. */
  readonly body: string;
  readonly status: MessageStatus;
  readonly expires_at: Timestamp;
  readonly delivered_at: Timestamp | null;
  readonly read_at: Timestamp | null;
  readonly error_detail: string | null;
  readonly attempts: number;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

export type MessageInput =
  | { readonly kind: "deliver" }
  /** A try that failed: pending stays pending until the message expires. */
  | { readonly kind: "miss"; readonly detail: string }
  | { readonly kind: "read" };

const table: Readonly<Record<MessageDirection, TransitionTable<MessageStatus, MessageInput["kind"]>>> = {
  sent: {
    pending: { deliver: to("delivered"), miss: to("pending"), read: to("pending") },
    delivered: { deliver: to("delivered"), miss: to("delivered"), read: to("delivered") },
    read: { deliver: wrongState, miss: wrongState, read: wrongState },
    failed: { deliver: wrongState, miss: wrongState, read: to("failed") },
  },
  received: {
    pending: { deliver: to("delivered"), miss: wrongState, read: wrongState },
    delivered: { deliver: to("delivered"), miss: wrongState, read: to("read") },
    read: { deliver: to("read"), miss: wrongState, read: to("read") },
    failed: { deliver: wrongState, miss: wrongState, read: wrongState },
  },
};

/** Sent copies go pending to delivered or failed; received ones delivered to read. */
export const messageTable = table;

/** One step. Delivering or reading again changes nothing. */
export function stepMessage(message: Message, input: MessageInput, now: number): Message {
  checkArgument("message", message, "object");
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const status = nextStatus("message", table[message.direction], message.status, input.kind);
  const at = timestamp(now);
  switch (input.kind) {
    case "deliver":
      return message.status === "pending"
        ? { ...message, status, delivered_at: at, error_detail: null, attempts: message.attempts + 1, updated_at: at }
        : message;
    case "miss": {
      if (message.status !== "pending") return message;
      const over = isPast(message.expires_at, now);
      return {
        ...message,
        status: over ? "failed" : status,
        error_detail: input.detail,
        attempts: message.attempts + 1,
        updated_at: at,
      };
    }
    case "read":
      return message.direction === "received" && message.read_at === null
        ? { ...message, status, read_at: at, updated_at: at }
        : message;
    default:
      return input satisfies never;
  }
}

const firstRetry = 5_000;
const lastRetry = 15 * 60_000;

/** Milliseconds between a failed try, the `attempts`th, and the next: doubling from 5 s to 15 min. */
export function retryDelay(attempts: number): number {
  return Math.min(firstRetry * 2 ** (attempts - 1), lastRetry);
}

/** When a pending message is tried again, in milliseconds since the epoch. */
export function nextDelivery(message: Message): number {
  checkArgument("message", message, "object");
  if (message.attempts === 0) return Date.parse(message.created_at);
  return Date.parse(message.updated_at) + retryDelay(message.attempts);
}
