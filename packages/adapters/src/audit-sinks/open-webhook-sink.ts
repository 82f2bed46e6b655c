import { CodedError } from "@seneschal/kernel";
import { openSignedPost, type SignedPostOptions } from "../webhook/open-signed-post.ts";
import type { AuditSink } from "./audit-sink.ts";

/**
 * A receiver of Standard Webhooks: each batch is one message of type `audit.events`, whose `data.events` are the events. Its `webhook-id` names the batch by its
 * first and last event; the same events may come in another batch after a failure, each with the same `seq`.
 */
export function openWebhookSink(options: SignedPostOptions): AuditSink {
  const { post, close } = openSignedPost(options);
  return {
    async send(messages, signal) {
      const [first, last] = [messages[0], messages.at(-1)];
      if (first === undefined || last === undefined) return;
      const id = `audit_${first.service}_${first.seq}_${last.seq}`;
      const body = { type: "audit.events", timestamp: last.time, data: { events: messages } };
      await post(id, JSON.stringify(body), signal).catch((cause: Error) => {
        throw new CodedError("sink_failed", cause.message, {}, cause);
      });
    },
    close,
  };
}
