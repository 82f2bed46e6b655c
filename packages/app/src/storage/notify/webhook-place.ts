import type { DocumentStore } from "@seneschal/kernel/ports";
import { everyDocument } from "../../platform/index.ts";
import { commit } from "../context.ts";
import type { BucketDoc, WebhookDoc } from "../documents.ts";

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
    for (const { webhook } of (doc as BucketDoc).notifications ?? []) named.add(webhook);
  for (const webhook of named) await placeWebhook(store, webhook);
}

/** The newest change: they are dense from 1, so that doubling and halving finds it. */
async function newestChange(store: DocumentStore): Promise<number> {
  const isThere = async (seq: number) => (await store.changes(seq - 1, 1)).length > 0;
  let [there, not] = [0, 1];
  for (; await isThere(not); not *= 2) there = not;
  while (not - there > 1) {
    const middle = there + Math.floor((not - there) / 2);
    if (await isThere(middle)) there = middle;
    else not = middle;
  }
  return there;
}
