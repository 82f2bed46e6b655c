export { openWebhook, type WebhookOptions, webhookKey } from "./open-webhook.ts";
