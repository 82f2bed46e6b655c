import { gatewayContract } from "@seneschal/contract/gateway";
import { isPast, type Message, type MessageInput, stepMessage } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import { keyText } from "../../../platform/index.ts";
import { systemCall } from "../../ground/index.ts";
import { refusesForGood } from "../federation/channel.ts";
import { findFederation } from "../federation/find.ts";
import { openLanes } from "../federation/lanes.ts";
import type { PartnerServices } from "../services.ts";
import { copyId, messages } from "./collections.ts";

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
export async function deliver(services: PartnerServices, message: Message, now: number): Promise<boolean> {
  const outcome = isPast(message.expires_at, now) ? miss("expired") : await attempt(services, message);
  const result = ({ deliver: "done", refuse: "refused", miss: "retry" } as const)[outcome.input.kind];
  services.metrics.dispatched("message", result);
  await services.transact(systemCall("system:outbox", message.org_id, now), async (unit) => {
    const current = await unit.get(messages, copyId(message));
    if (current?.status !== "pending") return;
    const next = stepMessage(current, outcome.input, now);
    unit.put(messages, copyId(next), next);
    if (next.status !== "pending") {
      unit.record({
        type: "message.deliver",
        result: next.status === "delivered" ? "success" : "error",
        metadata: { message_id: next.id, recipient_org_id: next.recipient_org_id, attempts: next.attempts },
      });
    }
  });
  return outcome.unreachable !== true;
}

interface Outcome {
  readonly input: Exclude<MessageInput, { readonly kind: "read" }>;
  readonly unreachable?: boolean;
}

const miss = (detail: string, final = false): Outcome => ({ input: { kind: final ? "refuse" : "miss", detail } });

async function attempt(services: PartnerServices, message: Message): Promise<Outcome> {
  const { id, conversation_id, sender_org_id, sender_id, recipient_org_id, recipient_id, subject, body } = message;
  const { created_at, expires_at } = message;
  const federation = await findFederation(services.read, recipient_org_id, sender_org_id);
  if (federation?.status !== "active") return miss("the federation is not active", true);
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
    if (answer.status === 201 && answer.body?.message_id === id) return { input: { kind: "deliver" } };
    return miss(`the partner refused with ${answer.code ?? `status ${answer.status}`}`, refusesForGood(answer));
  } catch (error) {
    if (isCoded(error, "FEDERATION_FAILED")) return { ...miss(error.message), unreachable: true };
    services.log.error({ error, message: id }, "a delivery failed on our side");
    return miss("failed here");
  }
}
