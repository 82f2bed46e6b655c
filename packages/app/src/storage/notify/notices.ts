import type { Bucket } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { Change, DocumentStore } from "@seneschal/kernel/ports";
import { everyDocument, newestChange } from "../../platform/index.ts";
import { commit, type StorageContext } from "../context.ts";
import type { WebhookDoc } from "../schema.ts";

/** How long what waits for a webhook is kept once it is not configured any more: time to put back what was left out by mistake. */
const unconfiguredMs = 3_600_000;
/** Pages of one webhook in one round: the next round goes on. */
const [pageSize, pagesOfRound] = [500, 100];

interface NoticeBounds {
  readonly context: StorageContext;
  readonly configured: (webhook: string) => boolean;
  /** Notifications that may wait for one webhook. */
  readonly maxWaiting: number;
}

/**
 * Counts what waits for each webhook, and drops what may not: of more than `maxWaiting` the oldest, and all that has waited for an hour for
 * one that is not configured any more. Gives one round of it.
 */
export function openNoticeBounds({ context, configured, maxWaiting }: NoticeBounds): () => Promise<void> {
  const { store, clock, metrics } = context;
  /** Webhooks for which too much waited in the last round: that is told once. */
  const full = new Set<string>();

  const replace = (id: string, version: number, doc: WebhookDoc) =>
    commit(store, { puts: [{ coll: "storage_webhooks", id, doc, ifVersion: version }] });

  const dropped = (webhook: string, count: number): void => metrics.notifications.inc({ webhook, outcome: "dropped" }, count);

  const bound = async (webhook: string, waiting: number): Promise<void> => {
    if (waiting <= maxWaiting) {
      full.delete(webhook);
      return;
    }
    if (!full.has(webhook)) {
      full.add(webhook);
      context.emit("warning", "node", "too many notifications wait for a webhook: the oldest are dropped", {
        webhook,
        max_waiting: maxWaiting,
      });
    }
    dropped(webhook, await dropOldest(context, webhook, waiting - maxWaiting));
  };

  const unconfigured = async (webhook: string, version: number, doc: WebhookDoc): Promise<void> => {
    const now = clock.now();
    if (doc.unconfigured_since === undefined) {
      await replace(webhook, version, { ...doc, failing_since: doc.failing_since ?? now, unconfigured_since: now });
      context.emit("warning", "node", "notifications wait for a webhook that is not configured: they are dropped in an hour", {
        webhook,
      });
    } else if (now - doc.unconfigured_since >= unconfiguredMs) {
      const count = await dropAll(context, webhook);
      dropped(webhook, count);
      context.emit("warning", "node", "notifications are dropped: their webhook is not configured", { webhook, count });
    }
  };

  return async () => {
    for await (const { id, doc: stored, version } of everyDocument(store, "storage_webhooks", "all")) {
      const doc = stored as WebhookDoc;
      const waiting = await store.count("storage_notices", "by_webhook", [id]);
      metrics.notificationsWaiting.set({ webhook: id }, waiting);
      // A counter that begins at what it counted first has no increase that an alert could see.
      dropped(id, 0);
      const known = configured(id);
      if (waiting === 0) {
        const { seq } = doc;
        if (doc.failing_since !== undefined || doc.unconfigured_since !== undefined) await replace(id, version, { seq });
      } else if (!known) await unconfigured(id, version, doc);
      else if (doc.unconfigured_since !== undefined) {
        const { unconfigured_since: _, ...again } = doc;
        await replace(id, version, again as WebhookDoc);
      }
      if (known) await bound(id, waiting);
    }
  };
}

/** Drops so many of the oldest with the webhook's place behind them; gives how many. */
async function dropOldest({ store }: StorageContext, webhook: string, surplus: number): Promise<number> {
  let found = await store.get("storage_webhooks", webhook);
  let seq = (found?.doc as WebhookDoc | undefined)?.seq ?? 0;
  let count = 0;
  for (let page = 1; found !== undefined && count < surplus && page <= pagesOfRound; page++) {
    const changes = await changesBehind(store, seq, pageSize);
    const last = changes.at(-1);
    if (last === undefined) break;
    const made = changes.filter(({ coll, version }) => coll === "storage_notices" && version !== undefined);
    const notices = await store.getMany(
      "storage_notices",
      made.map(({ id }) => id),
    );
    const own = made.filter((_, i) => notices[i]?.doc["webhook"] === webhook).slice(0, surplus - count);
    const ends = count + own.length === surplus;
    seq = (ends ? own.at(-1)?.seq : undefined) ?? last.seq;
    // Pages that tell it nothing are passed with the next that does, or with the round.
    if (own.length === 0 && page < pagesOfRound) continue;
    const doc: WebhookDoc = { ...(found.doc as WebhookDoc), seq };
    const result = await commit(store, {
      puts: [{ coll: "storage_webhooks", id: webhook, doc, ifVersion: found.version }],
      dels: own.map(({ id }) => ({ coll: "storage_notices", id })),
    });
    if (result.ok) count += own.length;
    // It was told of something meanwhile.
    found = await store.get("storage_webhooks", webhook);
    seq = (found?.doc as WebhookDoc | undefined)?.seq ?? 0;
  }
  return count;
}

/** Drops what waits; gives how many. */
async function dropAll({ store }: StorageContext, webhook: string): Promise<number> {
  let count = 0;
  for (let page = 0; page < pagesOfRound; page++) {
    const { items } = await store.list("storage_notices", "by_webhook", [webhook], { limit: pageSize });
    if (items.length === 0) break;
    await commit(store, { dels: items.map(({ id }) => ({ coll: "storage_notices", id })) });
    count += items.length;
  }
  return count;
}

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
