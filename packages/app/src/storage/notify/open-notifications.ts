import type { SignedPost } from "@seneschal/adapters/webhook";
import { eventMessage } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import { type Background, everyDocument, followStore, forgetChanges, gatherMs } from "../../platform/index.ts";
import { commit, type StorageContext } from "../context.ts";
import type { NoticeDoc, WebhookDoc } from "../schema.ts";
import { changesBehind, openNoticeBounds } from "./notices.ts";

/** Tells webhooks what happened to objects: each by itself, in the order of the commits, at least once. */
export interface Notifications {
  /** A turn of every webhook that is due, until each has heard of everything or does not answer. */
  deliver(): Promise<void>;
  /** Counts what waits, drops what may not wait, and looks whether something is due. One step of the cluster's background work. */
  watch(): Promise<void>;
  /** Forgets changes that every webhook has heard of; `keep`: of the newest so many stay. One step of the cluster's background work. */
  forget(keep?: number): Promise<void>;
  /** Begins to follow the store. */
  start(): void;
  stop(): Promise<void>;
}

/** Where notifications may go. */
export interface BucketWebhook {
  readonly post: SignedPost;
  /** Whose buckets may name it. */
  readonly tenants: ReadonlySet<string>;
}

interface NotificationParts {
  readonly context: StorageContext;
  readonly background: Background;
  /** By the names that buckets have for them. */
  readonly webhooks: ReadonlyMap<string, BucketWebhook>;
  /** True on the node that does this for the cluster. */
  readonly leads: () => boolean;
  /** Notifications that may wait for one webhook; default 100,000. */
  readonly maxWaiting?: number | undefined;
}

/** After a failure: doubled with each one more. */
const [firstRetryMs, lastRetryMs] = [1000, 60_000];
/** How many changes that tell a webhook nothing are passed before its place is written down. */
const passedUnwritten = 10_000;
const pageSize = 500;
/** An event that was definitely refused so many times is skipped: those behind it would wait for ever. */
const maxRefusals = 10;

export function openNotifications(parts: NotificationParts): Notifications {
  const { context, background, webhooks, leads, maxWaiting = 100_000 } = parts;
  const { store, metrics } = context;
  const bounds = openNoticeBounds({ context, configured: (name) => webhooks.has(name), maxWaiting });
  const ending = new AbortController();
  const followers = [...webhooks].map(([name, { post }]) => {
    // A counter that begins at what it counted first has no increase that an alert could see.
    for (const outcome of ["delivered", "failed", "skipped"]) metrics.notifications.inc({ webhook: name, outcome }, 0);
    const turn = openWebhookTurn({ context, leads, name, post, signal: ending.signal });
    // What fails here is the store: a webhook that does not answer is no failure of this step.
    return { step: `notifications to ${name}`, turn: async () => ({ waitsMs: await turn() }) };
  });
  const following = followStore({ store, background, leads, retryMs: lastRetryMs, followers });
  return {
    async deliver() {
      await Promise.all(followers.map(({ turn }) => turn()));
    },
    async watch() {
      await bounds();
      following.wake();
    },
    async forget(keep) {
      let heard = Number.MAX_SAFE_INTEGER;
      for await (const { id, doc } of everyDocument(store, "storage_webhooks", "all"))
        if (webhooks.has(id) || (await store.count("storage_notices", "by_webhook", [id])) > 0)
          heard = Math.min(heard, (doc as unknown as WebhookDoc).seq);
      await forgetChanges(store, { heard, ...(keep === undefined ? {} : { keep }) });
    },
    start: following.start,
    async stop() {
      ending.abort();
      await following.stop();
      await Promise.all([...webhooks.values()].map(({ post }) => post.close()));
    },
  };
}

/** One webhook's turns: each tells it all that it has not heard. What it gives is in how many milliseconds it is to be tried again. */
function openWebhookTurn({
  context,
  leads,
  name,
  post,
  signal,
}: Pick<NotificationParts, "context" | "leads"> & {
  readonly name: string;
  readonly post: SignedPost;
  readonly signal: AbortSignal;
}): () => Promise<number | undefined> {
  const { store, clock, metrics } = context;
  let failures = 0;
  let retryAt = 0;
  /** What the webhook refuses, and how often it did. */
  let refused = { notice: "", times: 0 };
  /** How far this process has looked, for the place that the store had by then. */
  let looked = { version: 0, seq: 0 };

  /** Writes the place down with what else is done; undefined when another node was there. */
  const place = async (version: number, doc: WebhookDoc, notice?: string): Promise<number | undefined> => {
    const puts = [{ coll: "storage_webhooks", id: name, doc, ifVersion: version }];
    const result = await commit(store, { puts, dels: notice === undefined ? [] : [{ coll: "storage_notices", id: notice }] });
    return result.ok ? (result.versions[`storage_webhooks/${name}`] as number) : undefined;
  };

  const failed = async (version: number, doc: WebhookDoc, error: Error): Promise<number> => {
    metrics.notifications.inc({ webhook: name, outcome: "failed" });
    const waits = Math.min(lastRetryMs, firstRetryMs * 2 ** failures);
    failures += 1;
    retryAt = clock.now() + waits;
    if (doc.failing_since === undefined) {
      await place(version, { ...doc, failing_since: clock.now() });
      context.emit("warning", "node", "a webhook is not reached: its notifications wait", {
        webhook: name,
        error: error.message,
        ...causeCode(error),
      });
    }
    return waits;
  };

  return async () => {
    if (!leads() || signal.aborted) return undefined;
    if (clock.now() < retryAt) return retryAt - clock.now();
    const found = await store.get("storage_webhooks", name);
    if (found === undefined) return undefined;
    let { version } = found;
    let doc = found.doc as WebhookDoc;
    let seq = looked.version === version ? Math.max(looked.seq, doc.seq) : doc.seq;
    for (;;) {
      const changes = await changesBehind(store, seq, pageSize);
      const last = changes.at(-1);
      if (last === undefined) break;
      const made = changes.filter(({ coll, version: put }) => coll === "storage_notices" && put !== undefined);
      const notices = await store.getMany(
        "storage_notices",
        made.map(({ id }) => id),
      );
      for (const [i, change] of made.entries()) {
        // One that is not there any more was heard of.
        const notice = notices[i];
        if (notice === undefined || notice.doc["webhook"] !== name) continue;
        if (!leads() || signal.aborted) return undefined;
        try {
          await post.post(notice.id, JSON.stringify(eventMessage(notice.doc as NoticeDoc, notice.version)), signal);
        } catch (error) {
          if (signal.aborted) return undefined;
          if (!isCoded(error, "notify_failed")) throw error;
          const { status } = error.details;
          if (!isRefusal(status)) return failed(version, doc, error);
          refused = { notice: notice.id, times: refused.notice === notice.id ? refused.times + 1 : 1 };
          if (refused.times < maxRefusals) return failed(version, doc, error);
          metrics.notifications.inc({ webhook: name, outcome: "failed" });
          doc = { ...doc, seq: change.seq };
          const skipped = await place(version, doc, notice.id);
          if (skipped === undefined) return gatherMs;
          version = skipped;
          retryAt = 0;
          metrics.notifications.inc({ webhook: name, outcome: "skipped" });
          const { bucket, event } = notice.doc as NoticeDoc;
          const what = { webhook: name, notification: notice.id, bucket, event, status: status as number };
          context.emit("warning", "node", "a webhook refuses a notification: it is skipped", what);
          continue;
        }
        metrics.notifications.inc({ webhook: name, outcome: "delivered" });
        if (doc.failing_since !== undefined) context.emit("info", "node", "a webhook is reached again", { webhook: name });
        [failures, retryAt] = [0, 0];
        doc = { seq: change.seq };
        const written = await place(version, doc, notice.id);
        // Another node tells it what there is, from where it stands.
        if (written === undefined) return gatherMs;
        version = written;
      }
      seq = last.seq;
      if (seq - doc.seq > passedUnwritten) {
        doc = { ...doc, seq };
        const written = await place(version, doc);
        if (written === undefined) return gatherMs;
        version = written;
      }
      looked = { version, seq };
    }
    return undefined;
  };
}

/** The code of what failed first, such as that of a refused connection. */
function causeCode({ cause }: Error): { readonly code?: string } {
  if (!(cause instanceof Error)) return {};
  const { code } = cause as NodeJS.ErrnoException;
  return { ...(typeof code === "string" && { code }), ...causeCode(cause) };
}

/** An answer that says that this message will never be taken, not that it is not the time for it. */
function isRefusal(status: unknown): boolean {
  return typeof status === "number" && status >= 400 && status < 500 && status !== 408 && status !== 429;
}
