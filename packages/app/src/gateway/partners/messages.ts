import type { Handlers, Principal } from "@seneschal/contract";
import { type GatewayContract, gatewayContract } from "@seneschal/contract/gateway";
import {
  createMessage,
  type Delivery,
  isPast,
  judgeDelivery,
  judgeReceipt,
  lifetimes,
  type Message,
  notFound,
  reachesPartner,
  receiveMessage,
  stepDelivery,
  stepMessage,
  timestamp,
} from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import { isCoded } from "@seneschal/kernel";
import { keyText } from "../../platform/index.ts";
import { type EntityReading, forgetEnded, isLocal, listed, type Reader, systemCall, utf8 } from "../ground/index.ts";
import { identityKinds, requireRoom } from "../people/index.ts";
import { copyId, messageReceipts, messages, receiptId } from "./collections.ts";
import { requireRoomForMessage } from "./federation/budgets.ts";
import { federationOfCaller, findFederation, requireActive } from "./federation/find.ts";
import { judged } from "./federation/judged.ts";
import { openLanes } from "./federation/lanes.ts";
import type { PartnerServices } from "./services.ts";

/**
 * The rounds of the outbox of messages. What is refused for good fails; anything else is tried again, less and less often, until the
 * message expires. Two processes may try the same message: the receiver takes it once.
 */
export const messageLanes = () =>
  openLanes<Message>({
    outbox: messages,
    laneOf: ({ org_id, recipient_org_id }) => [org_id, keyText(recipient_org_id)],
    deliver: (services, _id, message, now) => deliver(services, message, now),
  });

/** One try of one message; false when the partner is not to be reached. */
async function deliver(services: PartnerServices, message: Message, now: number): Promise<boolean> {
  const delivery: Delivery = isPast(message.expires_at, now)
    ? { kind: "retry", detail: "expired" }
    : await attempt(services, message);
  services.metrics.dispatched("message", delivery.kind);
  await services.transact(systemCall("system:outbox", message.org_id, now), async (unit) => {
    const current = await unit.get(messages, copyId(message));
    const step = current && stepDelivery(current, delivery, now);
    if (step === undefined) return;
    unit.put(messages, copyId(step.message), step.message);
    if (step.event !== undefined) unit.record(step.event);
  });
  return reachesPartner(delivery);
}

async function attempt(services: PartnerServices, message: Message): Promise<Delivery> {
  const { id, conversation_id, sender_org_id, sender_id, recipient_org_id, recipient_id, subject, body } = message;
  const { created_at, expires_at } = message;
  const federation = await findFederation(services.read, recipient_org_id, sender_org_id);
  if (federation?.status !== "active")
    return { kind: "refused", code: "FEDERATION_INACTIVE", detail: "the federation is not active" };
  const letter = {
    id,
    conversation_id,
    sender_org_id,
    sender_id,
    recipient_org_id,
    recipient_id,
    subject,
    body,
    created_at,
    expires_at,
  };
  try {
    const answer = await services.channels.call(services.read, federation, {
      route: gatewayContract.deliverMessage,
      body: letter,
    });
    return judgeReceipt(id, { ...answer, message_id: answer.body?.message_id });
  } catch (error) {
    if (isCoded(error, "FEDERATION_FAILED")) return { kind: "retry", detail: error.message, unreachable: true };
    services.log.error({ error, message: id }, "a delivery failed on our side");
    return { kind: "retry", detail: "failed here" };
  }
}

/** Throws `NOT_FOUND` unless the organisation has an identity of that id, of whatever kind. A partner's federation is none. */
async function requireRecipient(read: Reader, org: string, id: string): Promise<void> {
  for (const finder of Object.values(identityKinds)) {
    const known = await finder?.find(read, id);
    if (known?.org === org && known.removed !== true) return;
  }
  throw notFound("recipient");
}

type Routes = Pick<GatewayContract, "sendMessage" | "listInbox" | "listSent" | "getMessage" | "deleteMessage" | "deliverMessage">;

/** The caller's copies of a message: of one sent to oneself there are two, the received one first. */
async function ownCopies(read: Reader, id: string, { org, id: holder }: Principal): Promise<readonly Message[]> {
  const copies = await read.list(messages, "held", [org, keyText(holder), id]);
  if (copies.length === 0) throw notFound("message");
  return copies;
}

async function inboxPage(read: Reader, principal: Principal, index: "inbox" | "sent", page: { limit: number; offset: number }) {
  return listed("messages", await read.page(messages, index, [principal.org, keyText(principal.id)], page));
}

/** What a change with `If-Match` is judged on: the `GET` marks the message read. */
export const messageReading: EntityReading<{ readonly id: string }> = {
  read: async ({ read }, { principal, params }) => (await ownCopies(read, params.id, principal))[0] as Message,
};

export const messageHandlers: Handlers<Routes, PartnerServices> = {
  async sendMessage(services, { principal, body, now, requestId }) {
    const { recipient_org_id, recipient_id } = body;
    const pending = createMessage(
      {
        id: services.newId(now),
        conversation_id: body.conversation_id ?? null,
        sender_org_id: principal.org,
        sender_id: principal.id,
        recipient_org_id,
        recipient_id,
        subject: body.subject,
        body: body.body,
        expires_at: body.expires_at ?? timestamp(now + lifetimes.message),
      },
      now,
    );
    const message = await services.transact({ principal, now, requestId }, async (unit) => {
      const local = recipient_org_id === principal.org || (await isLocal(unit, recipient_org_id));
      if (local) await requireRecipient(unit, recipient_org_id, recipient_id);
      else await requireActive(unit, recipient_org_id, principal.org);
      await requireRoom(services, unit, principal, "messages", {
        own: () => unit.count(messages, "unsettled", [keyText(principal.org), keyText(principal.id)]),
        all: () => unit.count(messages, "unsettled", [keyText(principal.org)]),
      });
      const sent = local ? stepMessage(pending, { kind: "deliver" }, now) : pending;
      unit.insert(messages, copyId(sent), sent);
      const metadata = { message_id: sent.id, recipient_org_id, recipient_id };
      unit.record({ type: "message.send", metadata });
      if (local) {
        const copy = receiveMessage(sent, now);
        unit.insert(messages, copyId(copy), copy);
        unit.record({ type: "message.deliver", org: recipient_org_id, metadata });
      } else {
        // The first try is made at once; the outbox makes the others, also after a restart.
        unit.afterCommit(() => {
          deliver(services, sent, now).catch((error: unknown) => services.log.warn({ error }, "a delivery failed"));
        });
      }
      return sent;
    });
    return message;
  },

  listInbox: ({ read }, { principal, query }) => inboxPage(read, principal, "inbox", query),

  listSent: ({ read }, { principal, query }) => inboxPage(read, principal, "sent", query),

  async getMessage(services, { principal, params, now, requestId }) {
    const [first] = await ownCopies(services.read, params.id, principal);
    if (first?.direction === "sent" || first?.status === "read") return first;
    return services.transact({ principal, now, requestId }, async (unit) => {
      const [found] = await ownCopies(unit, params.id, principal);
      const copy = found === undefined ? undefined : await unit.get(messages, copyId(found));
      if (copy === undefined) throw notFound("message");
      const read = stepMessage(copy, { kind: "read" }, now);
      if (read === copy) return copy;
      unit.put(messages, copyId(read), read);
      unit.record({ type: "message.read", metadata: { message_id: read.id } });
      return read;
    });
  },

  async deleteMessage(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      for (const copy of await ownCopies(unit, params.id, principal)) unit.delete(messages, copyId(copy));
      unit.record({ type: "message.delete", metadata: { message_id: params.id } });
    });
  },

  deliverMessage: (services, { principal, body, now, requestId }) =>
    judged(services, { principal, now, requestId }, "message", {}, (call) =>
      services.transact(call, async (unit) => {
        const { id, conversation_id, sender_org_id, sender_id, recipient_org_id, recipient_id, subject, expires_at } = body;
        const federation = await federationOfCaller(unit, principal);
        const content = canonicalJson({ conversation_id, sender_id, recipient_id, subject, body: body.body, expires_at });
        const digest = Buffer.from(services.crypto.hash("sha256", utf8(content))).toString("hex");
        const receiptOf = receiptId({ recipient_org_id, sender_org_id, id });
        const receipt = await unit.get(messageReceipts, receiptOf);
        const parties = { partner: principal.org, host: federation.org_id, digest, ...(receipt && { before: receipt.digest }) };
        if (!judgeDelivery(body, parties)) return { message_id: id };
        const copy = receiveMessage(body, now);
        await requireRecipient(unit, recipient_org_id, recipient_id);
        await requireRoomForMessage(services, unit, federation);
        unit.insert(messages, copyId(copy), copy);
        unit.insert(messageReceipts, receiptOf, { digest, expires_at });
        unit.record({
          type: "message.deliver",
          org: recipient_org_id,
          metadata: { message_id: id, sender_org_id, sender_id, recipient_id },
        });
        return { message_id: id };
      }),
    ),
};

/** Removes copies and receipts that ended a tidy buffer ago; what is still pending is left to the outbox, which fails it. */
export async function purgeMessages(services: PartnerServices, now: number): Promise<void> {
  const ended = { index: "by_expiry", until: timestamp(now - lifetimes.tidyBuffer), now };
  await forgetEnded(services, messages, { ...ended, stays: ({ status }) => status === "pending" });
  await forgetEnded(services, messageReceipts, ended);
}
