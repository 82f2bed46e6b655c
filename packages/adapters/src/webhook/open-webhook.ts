import type { Notification, Notifier } from "@seneschal/kernel/ports";
import { openSignedPost, type SignedPostOptions } from "./open-signed-post.ts";

/**
 * A {@link Notifier} over HTTP: each notification is a message as {@link openSignedPost} sends it, of its type, its time and its data, as
 * standardwebhooks.com recommends.
 */
export function openWebhook(options: SignedPostOptions): Notifier {
  const { post } = openSignedPost(options);
  return {
    notify: ({ id, type, at, payload }: Notification) =>
      post(id, JSON.stringify({ type, timestamp: new Date(at).toISOString(), data: payload })),
  };
}
