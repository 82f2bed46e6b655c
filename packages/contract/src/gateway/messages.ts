import { messageStatuses } from "@seneschal/core/keys";
import * as z from "zod";
import { limitParam, offsetParam } from "../query.ts";
import type { Contract } from "../route.ts";
import { base64, identityId, idParam, listOf, moment, organizationId, timestamp } from "./shapes.ts";

const subject = z.string().min(1).max(256);
/** At most 64 KiB of ciphertext. */
const body = base64(1, 65_536);

const message = z
  .object({
    id: z.uuid(),
    org_id: organizationId,
    conversation_id: z.string().nullable(),
    sender_org_id: organizationId,
    sender_id: z.string(),
    recipient_org_id: organizationId,
    recipient_id: z.string(),
    subject: z.string(),
    body: z.string(),
    status: z.enum(messageStatuses),
    direction: z.enum(["sent", "received"]),
    expires_at: timestamp,
    delivered_at: timestamp.nullable(),
    read_at: timestamp.nullable(),
    error_detail: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Message" });

const ignored = z.unknown().optional();
const paging = z.strictObject({ limit: limitParam(50), offset: offsetParam() });
const route = { tag: "messages", auth: "principal", action: "message:own" } as const;
const base = "/api/v1/messages";

/** End-to-end encrypted messages: bodies are ciphertext for the recipient, here and on the way. */
export const messageRoutes = {
  sendMessage: {
    ...route,
    method: "POST",
    path: base,
    summary: "Send to an identity of this or a federated organisation",
    body: z.strictObject({
      recipient_org_id: organizationId,
      recipient_id: identityId,
      subject,
      body,
      expires_at: moment.optional(),
      conversation_id: z.string().min(1).max(128).optional(),
    }),
    bodyLimit: 128 << 10,
    status: 201,
    reply: message,
    errors: [409],
  },
  listInbox: {
    ...route,
    method: "GET",
    path: base,
    summary: "Received messages, newest first",
    query: paging,
    status: 200,
    reply: listOf("messages", message),
  },
  listSent: {
    ...route,
    method: "GET",
    path: `${base}/sent`,
    summary: "Sent messages, newest first",
    query: paging,
    status: 200,
    reply: listOf("messages", message),
  },
  getMessage: {
    ...route,
    method: "GET",
    path: `${base}/:id`,
    summary: "One message; the recipient's reading marks it read",
    entity: "message",
    changesOnRead: true,
    params: idParam,
    status: 200,
    reply: message,
  },
  deleteMessage: {
    ...route,
    method: "DELETE",
    path: `${base}/:id`,
    summary: "Remove one's own copy",
    entity: "message",
    params: idParam,
    status: 204,
  },
  deliverMessage: {
    ...route,
    method: "POST",
    path: `${base}/deliver`,
    summary: "Delivery from a federated partner's server; a repeat is answered alike",
    action: "message:deliver",
    body: z.strictObject({
      id: z.uuid(),
      conversation_id: z.string().max(128).nullable().default(null),
      sender_org_id: organizationId,
      sender_id: identityId,
      recipient_org_id: organizationId,
      recipient_id: identityId,
      subject,
      body,
      expires_at: moment,
      // The rest of a whole message is taken and ignored: it is the receiver's to say.
      org_id: ignored,
      status: ignored,
      direction: ignored,
      delivered_at: ignored,
      read_at: ignored,
      error_detail: ignored,
      created_at: ignored,
      updated_at: ignored,
    }),
    bodyLimit: 128 << 10,
    replyLimit: 4 << 10,
    values: 256,
    status: 201,
    reply: z.object({ message_id: z.uuid() }),
    errors: [409],
  },
} as const satisfies Contract;
