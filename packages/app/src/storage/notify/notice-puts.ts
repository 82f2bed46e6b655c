import { randomUUID } from "node:crypto";
import { type Bucket, type ObjectEventName, type RequestOrigin, rulesFor } from "@seneschal/core/storage";
import type { Put } from "@seneschal/kernel/ports";
import type { StorageContext } from "../context.ts";
import type { NoticeDoc, ObjectDoc } from "../schema.ts";
import type { BucketWebhook } from "./open-notifications.ts";
/** The webhooks that this node is configured with, by name, and the tenants of each. */
export type WebhookTenants = ReadonlyMap<string, Pick<BucketWebhook, "tenants">>;

interface NoticeParts {
  readonly context: StorageContext;
  readonly webhooks: WebhookTenants;
  readonly origin?: RequestOrigin;
}

/** Whether buckets of the tenant may name the webhook. */
export function mayTell(webhooks: WebhookTenants, tenant: string, webhook: string): boolean {
  return webhooks.get(webhook)?.tenants.has(tenant) === true;
}

/**
 * What a commit that changes an object puts besides, for each rule of its bucket that tells of it: the notice is there when the change is,
 * and not when it is not. `doc`: the object that was made, or the version that went.
 */
export function noticePuts(
  { context, webhooks, origin }: NoticeParts,
  bucket: Bucket,
  event: ObjectEventName,
  doc: ObjectDoc,
): readonly Put[] {
  const { notifications } = bucket;
  if (notifications === undefined) return [];
  const made = event.startsWith("ObjectCreated:");
  // What the operator took from a tenant its buckets name until they are told otherwise.
  const rules = rulesFor(notifications, event, doc.key).filter(({ webhook }) => mayTell(webhooks, bucket.tenant, webhook));
  return rules.map(({ id, webhook }) => {
    const notice: NoticeDoc = {
      webhook,
      rule: id,
      event,
      at: context.clock.now(),
      bucket: bucket.name,
      tenant: bucket.tenant,
      region: bucket.region,
      key: doc.key,
      ...(made && { size: doc.size, etag: doc.etag }),
      ...(doc.version_id !== undefined && { version_id: doc.version_id }),
      ...origin,
    };
    return { coll: "storage_notices", id: randomUUID(), doc: notice, ifVersion: 0 };
  });
}
