import {
  type Bucket,
  expiringVersions,
  type LifecycleRule,
  type ListedVersion,
  ordinalOf,
  uploadExpired,
  versionIdOf,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import { everyDocument } from "../../platform/index.ts";
import { deleteObject } from "../objects/delete-object.ts";
import { uploadsFrom, versionsFrom } from "../objects/list-keys.ts";
import { abortUpload } from "../objects/multipart.ts";
import type { MaintenanceParts } from "./parts.ts";

/**
 * Deletes what the lifecycle of its bucket says is due, and gives up uploads. A version that is locked stays, and so does what was
 * written since it was looked at. Returns how many went.
 */
export async function expireVersions(parts: MaintenanceParts, dayMs = 86_400_000): Promise<number> {
  const { store } = parts.context;
  let gone = 0;
  for await (const { doc } of everyDocument(store, "storage_buckets", "by_tenant")) {
    const bucket = doc as Bucket;
    if (bucket.lifecycle === undefined || bucket.deleting) continue;
    gone += await expireBucket(parts, bucket, bucket.lifecycle, dayMs);
    gone += await abortUploads(parts, bucket, bucket.lifecycle, dayMs);
  }
  return gone;
}

async function expireBucket(
  { objects, context }: MaintenanceParts,
  { name, tenant }: Bucket,
  rules: readonly LifecycleRule[],
  dayMs: number,
): Promise<number> {
  const now = context.clock.now();
  let gone = 0;
  const expire = async (versions: readonly ListedVersion[]): Promise<void> => {
    for (const { version, due } of expiringVersions(rules, versions, now, dayMs)) {
      const event = "LifecycleExpiration" as const;
      const options = { event, ordinal: ordinalOf(version), ...(due === "remove" && { version: versionIdOf(version) }) };
      const done = await deleteObject(objects, tenant, name, version.key, options).catch((error: unknown) => {
        if (isCoded(error, "ObjectLocked", "NoSuchBucket")) return { deleted: false };
        throw error;
      });
      if (done.deleted) gone += 1;
    }
  };
  let ofKey: ListedVersion[] = [];
  for await (const version of versionsFrom(objects, name)) {
    if (ofKey[0] !== undefined && ofKey[0].key !== version.key) {
      await expire(ofKey);
      ofKey = [];
    }
    ofKey.push(version);
  }
  await expire(ofKey);
  return gone;
}

async function abortUploads(
  { objects, context }: MaintenanceParts,
  { name, tenant }: Bucket,
  rules: readonly LifecycleRule[],
  dayMs: number,
): Promise<number> {
  if (rules.every(({ abort }) => abort === undefined)) return 0;
  const now = context.clock.now();
  let gone = 0;
  for await (const upload of uploadsFrom(objects, name)) {
    if (!uploadExpired(rules, upload, now, dayMs)) continue;
    const target = { tenant, bucket: name, key: upload.key, upload: upload.id };
    await abortUpload(objects, target).then(
      () => {
        gone += 1;
      },
      (error: unknown) => {
        if (!isCoded(error, "NoSuchUpload", "NoSuchBucket")) throw error;
      },
    );
  }
  return gone;
}
