import { type Bucket, type BucketQuota, type CountedUsage, nothingCounted, storageError } from "@seneschal/core/storage";
import { type Actor, commit } from "../context.ts";
import { countBucket } from "./bucket-usage.ts";
import { openBucket } from "./buckets.ts";
import { type ObjectServices, refuseInMaintenance } from "./services.ts";

/** How many pages of 500 versions are counted before a quota is answered; the rest is counted by the cluster's background work. */
const pagesAtOnce = 100;

/** A bucket's limits and what it holds, as operators see them. */
export interface BucketQuotaView {
  readonly bucket: string;
  readonly tenant_id: string;
  readonly max_bytes: number | null;
  readonly max_objects: number | null;
  readonly used_bytes: number | null;
  readonly used_objects: number | null;
  readonly counting: boolean;
}

/** Throws `NotFound`. */
export async function readBucketQuota({ context: { store } }: ObjectServices, name: string): Promise<BucketQuotaView> {
  const { bucket } = await findBucket({ store }, name);
  const usage = bucket.quota && ((await store.get("storage_usage", name))?.doc as CountedUsage | undefined);
  return {
    bucket: name,
    tenant_id: bucket.tenant,
    max_bytes: bucket.quota?.max_bytes ?? null,
    max_objects: bucket.quota?.max_objects ?? null,
    used_bytes: usage?.bytes ?? null,
    used_objects: usage?.objects ?? null,
    counting: usage?.counting !== undefined,
  };
}

/**
 * Limits what a bucket may hold; `undefined`: nothing is limited or counted any more. Where there was no quota, or no record of what the
 * bucket holds, what is there already is counted first, as much of it as an answer may wait for. A limit below what is there refuses
 * whatever would add to it.
 *
 * @throws CodedError `NotFound`, `MaintenanceMode`, `ShardUnavailable`.
 */
export async function setBucketQuota(
  services: ObjectServices,
  name: string,
  quota: BucketQuota | undefined,
  actor: Actor,
): Promise<BucketQuotaView> {
  const { context } = services;
  const { store } = context;
  refuseInMaintenance(services);
  for (let attempt = 0; attempt < 50; attempt++) {
    const { bucket, version } = await findBucket(context, name);
    const { quota: before, ...unlimited } = bucket;
    if (quota === undefined && before === undefined) return readBucketQuota(services, name);
    const doc = (quota === undefined ? unlimited : { ...unlimited, quota: { ...quota } }) as Bucket;
    const usage = { coll: "storage_usage", id: name };
    const known = quota === undefined ? undefined : await store.get("storage_usage", name);
    const begins = quota !== undefined && (before === undefined || known === undefined);
    const event = { action: "bucket.quota", tenant: bucket.tenant, bucket: name, quota: { ...quota }, actor: actor.id };
    const result = await commit(store, {
      puts: [
        { coll: "storage_buckets", id: name, doc, ifVersion: version },
        ...(begins ? [{ ...usage, doc: nothingCounted, ifVersion: known?.version ?? 0 }] : []),
      ],
      dels: quota === undefined ? [usage] : [],
      audit: [{ stream: "storage", event }],
    });
    if (!result.ok) continue;
    // The quota is set. A count that cannot go on now is `counting`; the rounds go on with it, and are seen to fail where they cannot.
    if (begins) await countBucket(store, name, pagesAtOnce).catch(() => undefined);
    return readBucketQuota(services, name);
  }
  throw storageError("ShardUnavailable", "the bucket changes all the time, try again");
}

async function findBucket({ store }: Pick<ObjectServices["context"], "store">, name: string) {
  const found = await store.get("storage_buckets", name);
  const bucket = found?.doc as Bucket | undefined;
  if (found === undefined || bucket === undefined || bucket.deleting)
    throw storageError("NotFound", `no such bucket: ${name}`, { field: "bucket" });
  return { bucket, version: found.version };
}

/** What of a bucket's limit a file system tells: empty where there is none. */
export async function limitOf(
  services: ObjectServices,
  tenant: string,
  name: string,
): Promise<{ readonly max_bytes?: number; readonly bytes?: number }> {
  const { max_bytes } = (await openBucket(services, tenant, name)).bucket.quota ?? {};
  if (max_bytes === undefined) return {};
  const usage = await services.context.store.get("storage_usage", name);
  return { max_bytes, bytes: (usage?.doc as CountedUsage | undefined)?.bytes ?? 0 };
}
