import { type Bucket, isBucketName, objectError, storageError } from "@seneschal/core/storage";
import type { Stored } from "@seneschal/kernel/ports";
import { everyDocument } from "../../platform/index.ts";
import { commit, type StorageContext } from "../context.ts";
import { trashPut } from "./references.ts";
import { type ObjectServices, refuseInMaintenance } from "./services.ts";

/** The record of a bucket, as the request has read it before unless `again`. */
export function bucketRecord({ context, records }: ObjectServices, name: string, again = false): Promise<Stored | undefined> {
  const known = again ? undefined : records?.get(name);
  if (known !== undefined) return known;
  const read = context.store.get("storage_buckets", name);
  records?.set(name, read);
  return read;
}

/**
 * A bucket of the tenant with the version to guard commits by; `again`: as it is now, where a commit met another. Throws `NoSuchBucket`,
 * `TenantAccessDenied`.
 */
export async function openBucket(services: ObjectServices, tenant: string, name: string, again = false): Promise<FoundBucket> {
  const found = await findBucket(services, tenant, name, again);
  if (found.bucket.deleting) throw objectError("NoSuchBucket", "the bucket does not exist", { bucket: name });
  return found;
}

export interface FoundBucket {
  readonly bucket: Bucket;
  readonly version: number;
}

/** The same, also of a bucket that is being deleted. */
async function findBucket(services: ObjectServices, tenant: string, name: string, again = false): Promise<FoundBucket> {
  const found = await bucketRecord(services, name, again);
  if (found === undefined) throw objectError("NoSuchBucket", "the bucket does not exist", { bucket: name });
  const bucket = found.doc as Bucket;
  if (bucket.tenant !== tenant) throw storageError("TenantAccessDenied", "the bucket belongs to another tenant");
  return { bucket, version: found.version };
}

/** Where buckets are that nobody named a region for. */
const defaultRegion = "us-east-1";

/**
 * Creates a bucket; an own existing one that is as asked for is no error. True when it was created now. `given`: what it begins with.
 * Throws `BucketAlreadyExists`, `BucketAlreadyOwnedByYou` where the existing one is in another region than is named.
 */
export async function createBucket(
  services: ObjectServices,
  tenant: string,
  name: string,
  region: string | undefined,
  given: Pick<Bucket, "versioning" | "object_lock" | "tags"> = {},
): Promise<boolean> {
  if (!isBucketName(name))
    throw objectError("InvalidBucketName", "a bucket name is 3-63 of a-z, 0-9, dot and hyphen", { bucket: name });
  const { context } = services;
  refuseInMaintenance(services);
  const doc: Bucket = {
    name,
    tenant,
    region: region ?? defaultRegion,
    created_at: context.clock.now(),
    deleting: false,
    ...given,
  };
  const result = await commit(context.store, {
    puts: [{ coll: "storage_buckets", id: name, doc, ifVersion: 0 }],
    audit: [{ stream: "storage", event: { action: "bucket.create", tenant, bucket: name } }],
  });
  if (result.ok) return true;
  const found = await context.store.get("storage_buckets", name);
  if (found?.doc["tenant"] !== tenant) throw objectError("BucketAlreadyExists", "the bucket name is taken", { bucket: name });
  const there = found.doc as Bucket;
  // To be told that it is there is to be told that it is as asked for.
  const lacking = given.object_lock !== undefined && there.object_lock === undefined;
  const otherwise = given.tags !== undefined && JSON.stringify(given.tags) !== JSON.stringify(there.tags ?? []);
  if (lacking || otherwise)
    throw objectError("BucketAlreadyExists", `the bucket exists ${lacking ? "without object lock" : "with other tags"}`, {
      bucket: name,
    });
  if (region !== undefined && there.region !== region)
    throw objectError("BucketAlreadyOwnedByYou", `the bucket exists in ${there.region}`, { bucket: name });
  if (!there.deleting) return false;
  // A node died while it looked whether the bucket was empty: nobody could use or delete it any more.
  const puts = [{ coll: "storage_buckets", id: name, doc: { ...there, deleting: false }, ifVersion: found.version }];
  if ((await commit(context.store, { puts })).ok) return false;
  throw objectError("OperationAborted", "the bucket changed meanwhile, try again", { bucket: name });
}

/** Changes what is set for a bucket. Throws `OperationAborted` when others change it too, and what `change` throws. */
export async function changeBucket(
  services: ObjectServices,
  tenant: string,
  name: string,
  setting: string,
  change: (bucket: Bucket) => Bucket,
): Promise<Bucket> {
  const { context } = services;
  refuseInMaintenance(services);
  for (let attempt = 0; attempt < 50; attempt++) {
    const { bucket, version } = await openBucket(services, tenant, name, attempt > 0);
    const doc = change(bucket);
    const result = await commit(context.store, {
      puts: [{ coll: "storage_buckets", id: name, doc, ifVersion: version }],
      audit: [{ stream: "storage", event: { action: "bucket.set", tenant, bucket: name, setting } }],
    });
    if (result.ok) return doc;
  }
  throw objectError("OperationAborted", "the bucket changes all the time, try again", { bucket: name });
}

/** Deletes an empty bucket. Two steps: no write may commit once the first is done, so the look is safe. */
export async function deleteBucket(services: ObjectServices, tenant: string, name: string): Promise<void> {
  const { context } = services;
  refuseInMaintenance(services);
  // One that is marked is what an earlier call left, whose end nobody heard of: this one ends it.
  const { bucket, version } = await findBucket(services, tenant, name);
  const marked = await commit(context.store, {
    puts: [{ coll: "storage_buckets", id: name, doc: { ...bucket, deleting: true }, ifVersion: version }],
  });
  if (!marked.ok) throw objectError("OperationAborted", "the bucket changed meanwhile, try again", { bucket: name });
  const ifVersion = marked.versions[`storage_buckets/${name}`] as number;
  const left = await Promise.all([
    context.store.list("storage_objects", "all", [name], { limit: 1 }),
    context.store.list("storage_versions", "by_key", [name], { limit: 1 }),
  ]);
  if (left.some(({ items }) => items.length > 0)) {
    await commit(context.store, {
      puts: [{ coll: "storage_buckets", id: name, doc: { ...bucket, deleting: false }, ifVersion }],
    });
    throw objectError("BucketNotEmpty", "the bucket is not empty", { bucket: name });
  }
  await endUploads(context, name);
  const counted = bucket.quota === undefined ? [] : [{ coll: "storage_usage", id: name }];
  await commit(context.store, {
    dels: [{ coll: "storage_buckets", id: name, ifVersion }, { coll: "storage_replication_scans", id: name }, ...counted],
    audit: [{ stream: "storage", event: { action: "bucket.delete", tenant, bucket: name } }],
  });
}

/** Uploads that were never completed are no objects: they end with their bucket, and their parts are collected. */
async function endUploads(context: StorageContext, bucket: string): Promise<void> {
  const { store } = context;
  for (;;) {
    const { items } = await store.list("storage_uploads", "by_key", [bucket], { limit: 100 });
    if (items.length === 0) return;
    await commit(store, {
      puts: items.map(({ id }) => trashPut(context, { kind: "upload", upload: id })),
      dels: items.map(({ id, version }) => ({ coll: "storage_uploads", id, ifVersion: version })),
    });
  }
}

/** The tenant's buckets by name. */
export async function listBuckets({ context }: ObjectServices, tenant: string): Promise<readonly Bucket[]> {
  const buckets: Bucket[] = [];
  for await (const { doc } of everyDocument(context.store, "storage_buckets", "by_tenant", [tenant])) buckets.push(doc as Bucket);
  return buckets;
}
