export { openWebhook, type WebhookOptions, webhookSignature } from "./open-webhook.ts";
