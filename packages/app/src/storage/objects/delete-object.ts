import {
  type Bucket,
  checkDeletable,
  type DeleteConditions,
  type DeleteOptions,
  type Deletion,
  objectError,
  storageError,
  versionIdOf,
} from "@seneschal/core/storage";
import type { Commit } from "@seneschal/kernel/ports";
import type { ObjectDoc } from "../documents.ts";
import { noticePuts } from "../notify/notice-puts.ts";
import { openBucket } from "./buckets.ts";
import { commitObjects, type ObjectsDraft } from "./commit-objects.ts";
import { checkKey, objectId } from "./object-id.ts";
import { knownReplica } from "./put-object.ts";
import { type ObjectServices, writableShard } from "./services.ts";
import { findVersion, ordinalOf, ordinalOfId, putDeleteMarker, removeVersion } from "./versions.ts";

/** How a deletion goes: somebody's, or one of the node's own. */
interface Terms extends DeleteOptions {
  /** Only when the version that is there is still the one with this ordinal. */
  readonly ordinal?: number;
  /** What notifications call it: somebody's doing, or a lifecycle's. */
  readonly event?: "ObjectRemoved" | "LifecycleExpiration";
  /** What is committed with the deletion, asked for at each try. */
  readonly also?: (bucket: Bucket) => Promise<Also>;
}

/** What else one commit does. */
export type Also = Pick<Commit, "puts" | "dels" | "ranges">;

/**
 * Deletes a key, or one version of it; deleting what is not there is no error. A bucket with versions keeps them all, and gets a
 * delete marker. Throws `PreconditionFailed` when there is another object than the conditions say, `ObjectLocked` for a version that
 * is kept.
 */
export async function deleteObject(
  services: ObjectServices,
  tenant: string,
  bucket: string,
  key: string,
  {
    conditions = {},
    version,
    bypass = false,
    replica,
    ordinal,
    event: family = "ObjectRemoved",
    also = async () => ({}),
  }: Terms = {},
): Promise<Deletion> {
  checkKey(key);
  if (version !== undefined && version !== "null" && ordinalOfId(version) === undefined)
    throw objectError("NoSuchVersion", "that is no version id", { elements: { VersionId: version } });
  const { store, clock } = services.context;
  for (let attempt = 0; attempt < 50; attempt++) {
    const owner = await openBucket(services, tenant, bucket, attempt > 0);
    const shard = await writableShard(services, bucket, key);
    if (replica !== undefined) {
      if (version !== undefined) throw objectError("InvalidArgument", "a version is removed, or a delete marker is copied");
      const known = await knownReplica(services, owner.bucket, { key }, replica);
      if (known !== undefined && known.delete_marker !== true)
        throw objectError("PreconditionFailed", "the version under that name is no delete marker");
      if (known !== undefined) return { deleted: false, version: replica, marker: true };
    }
    const found = await findVersion(services, { bucket, key, version });
    if (ordinal !== undefined && (found === undefined || ordinalOf(found.doc) !== ordinal)) return { deleted: false };
    const conditional = Object.keys(conditions).length > 0;
    if (found !== undefined && !isMeant(found.doc, conditions))
      throw objectError("PreconditionFailed", "the object is not the one that is to be deleted", { condition: "If-Match" });
    const hides = version === undefined && owner.bucket.versioning !== undefined;
    if (found === undefined && (!hides || conditional)) return { deleted: false };
    if (hides) {
      const current = await store.get("storage_objects", objectId(bucket, key));
      if (current?.version !== found?.version) continue;
      const coming = { replica, expiry: family === "LifecycleExpiration" };
      const { puts, dels, checks, doc, bytes, objects } = await putDeleteMarker(services, owner, current, key, coming);
      const notices = noticePuts(services, owner.bucket, `${family}:DeleteMarkerCreated`, doc);
      const draft = { of: owner.bucket, puts: [...puts, ...notices], dels, checks };
      if (!(await commitObjects(store, together(draft, await also(owner.bucket)))).ok) continue;
      services.shards.changed(shard.id, bytes, objects);
      return { deleted: found?.doc.delete_marker !== true && found !== undefined, version: versionIdOf(doc), marker: true };
    }
    if (found === undefined) return { deleted: false };
    const { doc } = found;
    const now = clock.now();
    checkDeletable(doc, now, bypass);
    const { puts, dels, bytes, objects } = await removeVersion(services, owner.bucket, found);
    // Who ended a retention before its time is on record.
    const early = doc.retention !== undefined && doc.retention.until > now;
    const event = { action: "object.delete.bypass", tenant, bucket, key, version: versionIdOf(doc) };
    const checks = [{ coll: "storage_buckets", id: bucket, version: owner.version }];
    const audit = early ? [{ stream: "storage", event }] : [];
    const notices = noticePuts(services, owner.bucket, `${family}:Delete`, doc);
    const draft = { of: owner.bucket, puts: [...puts, ...notices], dels, checks, audit };
    if (!(await commitObjects(store, together(draft, await also(owner.bucket)))).ok) continue;
    services.shards.changed(shard.id, bytes, objects);
    const named = version !== undefined || doc.version_id !== undefined;
    return { deleted: true, ...(named && { version: versionIdOf(doc) }), ...(doc.delete_marker && { marker: true }) };
  }
  throw storageError("ShardUnavailable", "too many writers of one key, try again");
}

/** One commit that does both. */
function together(draft: ObjectsDraft, { puts = [], dels = [], ranges }: Also): ObjectsDraft {
  return { ...draft, puts: [...(draft.puts ?? []), ...puts], dels: [...(draft.dels ?? []), ...dels], ...(ranges && { ranges }) };
}

function isMeant({ etag, size, modified_at }: ObjectDoc, conditions: DeleteConditions): boolean {
  const seconds = (at: number) => Math.floor(at / 1000);
  if (conditions.ifMatch !== undefined && !conditions.ifMatch.includes("*") && !conditions.ifMatch.includes(etag)) return false;
  if (conditions.size !== undefined && conditions.size !== size) return false;
  return conditions.modifiedAt === undefined || seconds(conditions.modifiedAt) === seconds(modified_at);
}
