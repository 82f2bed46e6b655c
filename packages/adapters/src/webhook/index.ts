export { openSignedPost, type SignedPost, type SignedPostOptions, webhookKey } from "./open-signed-post.ts";
export { openWebhook } from "./open-webhook.ts";
