import { createHmac } from "node:crypto";
import { CodedError, checkOptions } from "@seneschal/kernel";
import { mtlsFetch } from "../http/mtls-fetch.ts";
import type { TargetGuard } from "../http/target-guard.ts";

export interface SignedPostOptions {
  readonly url: string;
  /** Shared with the receiver; signs every message: `whsec_` and the base64 of 24 to 64 bytes (Standard Webhooks, Signature scheme). */
  readonly secret: string;
  readonly now: () => number;
  /** Default 5,000. */
  readonly timeoutMs?: number;
  /** Which addresses may be called; absent: any. */
  readonly guard?: TargetGuard;
  /** PEM of whom to trust about the receiver; absent: the public CAs. */
  readonly ca?: string;
}

/** Sends messages to one receiver. */
export interface SignedPost {
  /** Resolves when the receiver acknowledged with any 2xx; everything else, also a redirect, throws `notify_failed`. */
  post(id: string, body: string, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * Messages over HTTP, as standardwebhooks.com describes: `webhook-id` (for the receiver to act once), `webhook-timestamp` in seconds, and
 * `webhook-signature: v1,` with the base64 HMAC-SHA256 of `id.timestamp.body`. Throws `TypeError` for a secret of another form.
 *
 * @example
 * ```ts
 * import { openSignedPost } from "@seneschal/adapters/webhook";
 * const secret = `whsec_${Buffer.alloc(32).toString("base64")}`;
 * const hook = openSignedPost({ url: "https://hooks.example.org/", secret, now: Date.now });
 * await hook.close();
 * ```
 */
export function openSignedPost(options: SignedPostOptions): SignedPost {
  checkOptions("options", options, {
    url: "string",
    secret: "string",
    now: "function",
    timeoutMs: "number?",
    guard: "object?",
    ca: "string?",
  });
  const { url, secret, now, timeoutMs = 5000, guard, ca } = options;
  const key = webhookKey(secret);
  if (key === undefined) throw new TypeError("the webhook's secret is not whsec_ and the base64 of 24 to 64 bytes");
  const own =
    guard || ca ? mtlsFetch({ timeout: timeoutMs, ...(guard && { lookup: guard.lookup }), ...(ca && { ca }) }) : undefined;
  const send = own?.fetch ?? fetch;
  return {
    async post(id, body, signal) {
      const timestamp = String(Math.floor(now() / 1000));
      const refusal = guard?.refusal(new URL(url));
      if (refusal !== undefined) throw new CodedError("notify_failed", `the webhook's receiver may not be called: ${refusal}`);
      let status: number;
      try {
        const limit = AbortSignal.timeout(timeoutMs);
        const response = await send(url, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            "webhook-id": id,
            "webhook-timestamp": timestamp,
            "webhook-signature": `v1,${webhookSignature(key, id, timestamp, body)}`,
          },
          body,
          redirect: "manual",
          signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
        });
        await response.body?.cancel();
        status = response.status;
      } catch (cause) {
        throw new CodedError("notify_failed", "the webhook's receiver does not answer", {}, cause);
      }
      if (status < 200 || status > 299)
        throw new CodedError("notify_failed", `the webhook's receiver answered ${status}`, { status });
    },
    close: async () => own?.close(),
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
