import {
  type Bucket,
  dueAt,
  inFilter,
  type LifecycleRule,
  type ListedVersion,
  lifecycleDue,
  ordinalOf,
  versionIdOf,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import { everyDocument } from "../../platform/index.ts";
import { deleteObject } from "../objects/delete-object.ts";
import { listUploads, listVersions } from "../objects/list-keys.ts";
import { abortUpload } from "../objects/multipart.ts";
import type { MaintenanceParts } from "./parts.ts";

const pageSize = 1000;

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
  }
  return gone;
}

async function expireBucket(
  parts: MaintenanceParts,
  bucket: Bucket,
  rules: readonly LifecycleRule[],
  dayMs: number,
): Promise<number> {
  const { objects } = parts;
  const now = parts.context.clock.now();
  let gone = 0;
  const expire = async (versions: readonly ListedVersion[]): Promise<void> => {
    const past = versions.filter(({ latest }) => !latest);
    for (const version of versions) {
      const { key, size, tags = [], modified_at: modifiedAt, superseded_at: supersededAt, latest } = version;
      const facts = { key, size, tags, modifiedAt, marker: version.delete_marker === true };
      const place = latest
        ? { others: past.length }
        : { others: past.indexOf(version), supersededAt: supersededAt ?? modifiedAt };
      const due = lifecycleDue(rules, { ...facts, ...place }, now, dayMs);
      if (due === undefined) continue;
      const event = "LifecycleExpiration" as const;
      const options = { event, ordinal: ordinalOf(version), ...(due === "remove" && { version: versionIdOf(version) }) };
      const done = await deleteObject(objects, bucket.tenant, bucket.name, key, options).catch((error: unknown) => {
        if (isCoded(error, "ObjectLocked", "NoSuchBucket")) return { deleted: false };
        throw error;
      });
      if (done.deleted) gone += 1;
    }
  };
  let group: ListedVersion[] = [];
  let [after, afterVersion]: [string, string | undefined] = ["", undefined];
  for (;;) {
    const page = await listVersions(objects, {
      bucket: bucket.name,
      prefix: "",
      delimiter: "",
      after,
      afterVersion,
      limit: pageSize,
    });
    for (const version of page.items) {
      if (group[0] !== undefined && group[0].key !== version.key) {
        await expire(group);
        group = [];
      }
      group.push(version);
    }
    const last = page.items.at(-1);
    if (page.next === undefined || last === undefined) break;
    [after, afterVersion] = [last.key, versionIdOf(last)];
  }
  await expire(group);
  return gone + (await abortUploads(parts, bucket, rules, now, dayMs));
}

async function abortUploads(
  { objects }: MaintenanceParts,
  { name, tenant }: Bucket,
  rules: readonly LifecycleRule[],
  now: number,
  dayMs: number,
): Promise<number> {
  const aborts = rules.filter(({ enabled, abort }) => enabled && abort !== undefined);
  if (aborts.length === 0) return 0;
  let gone = 0;
  let [after, afterUpload]: [string, string | undefined] = ["", undefined];
  for (;;) {
    const page = await listUploads(objects, { bucket: name, prefix: "", delimiter: "", after, afterUpload, limit: pageSize });
    for (const { id, key, started_at } of page.items) {
      const due = aborts.some(
        ({ filter, abort = 0 }) => inFilter(filter, { key, size: 0, tags: [] }) && dueAt(started_at, abort, dayMs) <= now,
      );
      if (!due) continue;
      const target = { tenant, bucket: name, key, upload: id };
      await abortUpload(objects, target).then(
        () => {
          gone += 1;
        },
        (error: unknown) => {
          if (!isCoded(error, "NoSuchUpload", "NoSuchBucket")) throw error;
        },
      );
    }
    const last = page.items.at(-1);
    if (page.next === undefined || last === undefined) return gone;
    [after, afterUpload] = [last.key, last.id];
  }
}
