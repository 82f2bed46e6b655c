import { createHmac } from "node:crypto";
import { CodedError } from "@seneschal/core";
import type { Notification, Notifier } from "@seneschal/core/ports";

export interface WebhookOptions {
  readonly url: string;
  /** Shared with the receiver; signs every message: `whsec_` and the base64 of 24 to 64 bytes (Standard Webhooks, Signature scheme). */
  readonly secret: string;
  readonly now: () => number;
  /** Default 5,000. */
  readonly timeoutMs?: number;
}

/**
 * A {@link Notifier} over HTTP, as standardwebhooks.com describes: `webhook-id` (for the receiver to act once),
 * `webhook-timestamp` in seconds, and `webhook-signature: v1,` with the base64 HMAC-SHA256 of `id.timestamp.body`. Any 2xx
 * acknowledges; everything else, also a redirect, throws `notify_failed`. Throws `TypeError` for a secret of another form.
 */
export function openWebhook({ url, secret, now, timeoutMs = 5000 }: WebhookOptions): Notifier {
  const key = webhookKey(secret);
  if (key === undefined) throw new TypeError("the webhook's secret is not whsec_ and the base64 of 24 to 64 bytes");
  return {
    async notify(notification: Notification) {
      const { id, type, at, payload } = notification;
      const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data: payload });
      const timestamp = String(Math.floor(now() / 1000));
      let status: number;
      try {
        const response = await fetch(url, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            "webhook-id": id,
            "webhook-timestamp": timestamp,
            "webhook-signature": `v1,${webhookSignature(key, id, timestamp, body)}`,
          },
          body,
          redirect: "manual",
          signal: AbortSignal.timeout(timeoutMs),
        });
        await response.body?.cancel();
        status = response.status;
      } catch (cause) {
        throw new CodedError("notify_failed", "the webhook's receiver does not answer", {}, cause);
      }
      if (status < 200 || status > 299)
        throw new CodedError("notify_failed", `the webhook's receiver answered ${status}`, { status });
    },
  };
}

/** The bytes of a `whsec_` secret; `undefined` when it is none. */
export function webhookKey(secret: string): Uint8Array | undefined {
  const [, text] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const key = Buffer.from(text ?? "", "base64");
  return text !== undefined && key.toString("base64") === text && key.length >= 24 && key.length <= 64 ? key : undefined;
}

function webhookSignature(key: Uint8Array, id: string, timestamp: string, body: string): string {
  return createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
}
