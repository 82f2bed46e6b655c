import { checkArgument, type JsonObject } from "@seneschal/kernel";
import { refusal } from "./codes.ts";
import type { AuditResult } from "./enums.ts";
import { lifetimes } from "./lifetimes.ts";
import { type Delivery, type PartnerAnswer, retryDelay, unsuccessful } from "./outbox.ts";
import { isPast, type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type TransitionTable, to, wrongState } from "./transition.ts";

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

/** What a sender says in a message. */
export type MessageFacts = Pick<
  Message,
  | "id"
  | "conversation_id"
  | "sender_org_id"
  | "sender_id"
  | "recipient_org_id"
  | "recipient_id"
  | "subject"
  | "body"
  | "expires_at"
>;

/**
 * The sender's copy of a new message, which waits to be delivered. Throws `VALIDATION_ERROR` for an expiry that is not within the year to come.
 *
 * @example
 * ```ts
 * import { createMessage, receiveMessage } from "@seneschal/core/keys";
 * const now = Date.UTC(2026, 0, 1);
 * const facts = { id: "m1", conversation_id: null, subject: "hello", body: "AAAA", expires_at: "2026-02-01T00:00:00Z" };
 * const people = { sender_org_id: "acme", sender_id: "ada", recipient_org_id: "globex", recipient_id: "bob" };
 * const sent = createMessage({ ...facts, ...people }, now);
 * console.log(sent.org_id, sent.status, receiveMessage(sent, now).org_id); // acme pending globex
 * ```
 */
export function createMessage(facts: MessageFacts, now: number): Message {
  checkArgument("facts", facts, "object");
  checkArgument("now", now, "number");
  requireExpiry(facts.expires_at, now);
  return { ...factsOf(facts), ...begun(timestamp(now)), org_id: facts.sender_org_id, direction: "sent", status: "pending" };
}

/**
 * The recipient's copy of a message that arrives now; what the sender says of its own copy is not asked. Throws as {@link createMessage}.
 *
 * @example
 * ```ts
 * import { receiveMessage } from "@seneschal/core/keys";
 * const people = { sender_org_id: "acme", sender_id: "ada", recipient_org_id: "globex", recipient_id: "bob" };
 * const facts = { id: "m1", conversation_id: null, subject: "hello", body: "AAAA", expires_at: "1970-02-01T00:00:00.000Z", ...people };
 * console.log(receiveMessage(facts, 0).org_id, receiveMessage(facts, 0).status); // globex delivered
 * ```
 */
export function receiveMessage(facts: MessageFacts, now: number): Message {
  checkArgument("facts", facts, "object");
  checkArgument("now", now, "number");
  requireExpiry(facts.expires_at, now);
  const at = timestamp(now);
  const arrived = { org_id: facts.recipient_org_id, direction: "received", status: "delivered", delivered_at: at } as const;
  return { ...factsOf(facts), ...begun(at), ...arrived };
}

/**
 * Whether a partner's gateway may deliver this: a message of its own organisation to the one that it is federated with. `before`: the digest of the message that
 * it delivered under the same id, if it did. True: this one is new. Throws `FORBIDDEN`, and `CONFLICT` for another message of an id that was delivered.
 *
 * @example
 * ```ts
 * import { judgeDelivery } from "@seneschal/core/keys";
 * const facts = { sender_org_id: "globex", recipient_org_id: "acme" };
 * const parties = { partner: "globex", host: "acme", digest: "00" };
 * console.log(judgeDelivery(facts, parties), judgeDelivery(facts, { ...parties, before: "00" })); // true false
 * ```
 */
export function judgeDelivery(
  facts: Pick<MessageFacts, "sender_org_id" | "recipient_org_id">,
  parties: { readonly partner: string; readonly host: string; readonly digest: string; readonly before?: string },
): boolean {
  checkArgument("facts", facts, "object");
  checkArgument("parties", parties, "object");
  const { partner, host, digest, before } = parties;
  if (facts.sender_org_id !== partner)
    throw refusal("FORBIDDEN", "partners deliver for their own organisation only", { field: "sender_org_id" });
  if (facts.recipient_org_id !== host)
    throw refusal("FORBIDDEN", "the federation is with another organisation", { field: "recipient_org_id" });
  if (before !== undefined && before !== digest) throw refusal("CONFLICT", "another message of that id was delivered");
  return before === undefined;
}

/** What is its own, whatever else an object of the like holds. */
function factsOf(facts: MessageFacts): MessageFacts {
  const { id, conversation_id, sender_org_id, sender_id, recipient_org_id, recipient_id, subject, body, expires_at } = facts;
  return { id, conversation_id, sender_org_id, sender_id, recipient_org_id, recipient_id, subject, body, expires_at };
}

function begun(at: Timestamp) {
  return { delivered_at: null, read_at: null, error_detail: null, attempts: 0, created_at: at, updated_at: at };
}

function requireExpiry(expires_at: string, now: number): void {
  const at = Date.parse(expires_at);
  const problem = !(at > now) ? "must be in the future" : at > now + lifetimes.messageMax ? "is too far away" : undefined;
  if (problem !== undefined)
    throw refusal("VALIDATION_ERROR", `expires_at: ${problem}`, { field: "expires_at", reason: problem });
}

export type MessageInput =
  | { readonly kind: "deliver" }
  /** A try that failed: pending stays pending until the message expires. */
  | { readonly kind: "miss"; readonly detail: string }
  /** The recipient's side refused it for good. */
  | { readonly kind: "refuse"; readonly detail: string }
  | { readonly kind: "read" };

const table: Readonly<Record<MessageDirection, TransitionTable<MessageStatus, MessageInput["kind"]>>> = {
  sent: {
    pending: { deliver: to("delivered"), miss: to("pending"), refuse: to("failed"), read: to("pending") },
    delivered: { deliver: to("delivered"), miss: to("delivered"), refuse: to("delivered"), read: to("delivered") },
    read: { deliver: wrongState, miss: wrongState, refuse: wrongState, read: wrongState },
    failed: { deliver: wrongState, miss: wrongState, refuse: wrongState, read: to("failed") },
  },
  received: {
    pending: { deliver: to("delivered"), miss: wrongState, refuse: wrongState, read: wrongState },
    delivered: { deliver: to("delivered"), miss: wrongState, refuse: wrongState, read: to("read") },
    read: { deliver: to("read"), miss: wrongState, refuse: wrongState, read: to("read") },
    failed: { deliver: wrongState, miss: wrongState, refuse: wrongState, read: wrongState },
  },
};

/** Sent copies go pending to delivered or failed; received ones delivered to read. */
export const messageTable = table;

/**
 * One step. Delivering or reading again changes nothing.
 *
 * @example
 * ```ts
 * import { createMessage, stepMessage } from "@seneschal/core/keys";
 * const people = { sender_org_id: "acme", sender_id: "ada", recipient_org_id: "globex", recipient_id: "bob" };
 * const facts = { id: "m1", conversation_id: null, subject: "hello", body: "AAAA", expires_at: "1970-02-01T00:00:00.000Z", ...people };
 * console.log(stepMessage(createMessage(facts, 0), { kind: "deliver" }, 1).status); // delivered
 * ```
 */
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
    case "refuse":
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

/**
 * What a partner's answer to a message means: only that it took this one is a success.
 *
 * @example
 * ```ts
 * import { judgeReceipt } from "@seneschal/core/keys";
 * console.log(judgeReceipt("m1", { status: 201, message_id: "m1" }).kind, judgeReceipt("m1", { status: 503 }).kind); // done retry
 * ```
 */
export function judgeReceipt(id: string, answer: PartnerAnswer & { readonly message_id?: string | undefined }): Delivery {
  checkArgument("id", id, "string");
  checkArgument("answer", answer, "object");
  return answer.status === 201 && answer.message_id === id ? { kind: "done" } : unsuccessful(answer);
}

/** What a try leaves of a message. */
export interface DeliveryStep {
  readonly message: Message;
  /** What the sender's log hears, once it is not tried again. */
  readonly event?: { readonly type: "message.deliver"; readonly result: AuditResult; readonly metadata: JsonObject };
}

/**
 * One try of a message that waits for its partner: delivered or refused for good it is over, else it is tried again, less and less often, until it expires.
 * `undefined`: it does not wait any more.
 *
 * @example
 * ```ts
 * import { createMessage, stepDelivery } from "@seneschal/core/keys";
 * const facts = { id: "m1", conversation_id: null, subject: "hello", body: "AAAA", expires_at: "1970-02-01T00:00:00.000Z" };
 * const sent = createMessage({ ...facts, sender_org_id: "acme", sender_id: "ada", recipient_org_id: "globex", recipient_id: "bob" }, 0);
 * console.log(stepDelivery(sent, { kind: "retry", detail: "no connection" }, 1)?.message.status); // pending
 * console.log(stepDelivery(sent, { kind: "done" }, 1)?.event?.result); // success
 * ```
 */
export function stepDelivery(message: Message, delivery: Delivery, now: number): DeliveryStep | undefined {
  checkArgument("message", message, "object");
  checkArgument("delivery", delivery, "object");
  checkArgument("now", now, "number");
  if (message.status !== "pending") return undefined;
  const next = stepMessage(message, inputOf(delivery), now);
  if (next.status === "pending") return { message: next };
  const { id: message_id, recipient_org_id, attempts } = next;
  const result = next.status === "delivered" ? "success" : "error";
  return { message: next, event: { type: "message.deliver", result, metadata: { message_id, recipient_org_id, attempts } } };
}

function inputOf(delivery: Delivery): MessageInput {
  switch (delivery.kind) {
    case "done":
      return { kind: "deliver" };
    case "retry":
      return { kind: "miss", detail: delivery.detail };
    case "refused":
      return { kind: "refuse", detail: delivery.detail ?? delivery.code };
    default:
      return delivery satisfies never;
  }
}

/**
 * When a pending message is tried again, in milliseconds since the epoch.
 *
 * @example
 * ```ts
 * import { createMessage, nextDelivery, stepMessage } from "@seneschal/core/keys";
 * const people = { sender_org_id: "acme", sender_id: "ada", recipient_org_id: "globex", recipient_id: "bob" };
 * const facts = { id: "m1", conversation_id: null, subject: "hello", body: "AAAA", expires_at: "1970-02-01T00:00:00.000Z", ...people };
 * const missed = stepMessage(createMessage(facts, 0), { kind: "miss", detail: "no connection" }, 1000);
 * console.log(nextDelivery(missed)); // 6000
 * ```
 */
export function nextDelivery(message: Message): number {
  checkArgument("message", message, "object");
  if (message.attempts === 0) return Date.parse(message.created_at);
  return Date.parse(message.updated_at) + retryDelay(message.attempts);
}
