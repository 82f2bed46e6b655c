import type { Bucket } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { Change, DocumentStore } from "@seneschal/kernel/ports";
import { everyDocument, newestChange } from "../../platform/index.ts";
import { commit } from "../context.ts";
import type { WebhookDoc } from "../documents.ts";

/**
 * Makes sure that it is known how far a webhook has been told of the changes of the store: for one that no bucket named before, of all until
 * now. Called before the first bucket names it, so that nothing that it is to hear of lies before that place.
 */
export async function placeWebhook(store: DocumentStore, webhook: string): Promise<void> {
  if ((await store.get("storage_webhooks", webhook)) !== undefined) return;
  const doc: WebhookDoc = { seq: await newestChange(store) };
  await commit(store, { puts: [{ coll: "storage_webhooks", id: webhook, doc, ifVersion: 0 }] });
}

/** After a restore, which brings buckets and no places. */
export async function placeWebhooks(store: DocumentStore): Promise<void> {
  const named = new Set<string>();
  for await (const { doc } of everyDocument(store, "storage_buckets", "by_tenant"))
    for (const { webhook } of (doc as Bucket).notifications ?? []) named.add(webhook);
  for (const webhook of named) await placeWebhook(store, webhook);
}

/**
 * Changes behind a place. What is forgotten behind it told its webhook nothing that waits: changes are kept from the place of every webhook that is
 * configured or has something waiting.
 */
export async function changesBehind(store: DocumentStore, seq: number, limit: number): Promise<readonly Change[]> {
  try {
    return await store.changes(seq, limit);
  } catch (error) {
    if (!isCoded(error, "changes_compacted")) throw error;
    return store.changes(Number(error.details["first"]) - 1, limit);
  }
}
