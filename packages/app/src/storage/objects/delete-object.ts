import {
  type Bucket,
  checkDeletion,
  type Deletion,
  type DeletionAsked,
  judgeDeletion,
  storageError,
  versionIdOf,
} from "@seneschal/core/storage";
import type { Commit } from "@seneschal/kernel/ports";
import { noticePuts } from "../notify/notice-puts.ts";
import { openBucket } from "./buckets.ts";
import { commitObjects, type ObjectsDraft } from "./commit-objects.ts";
import { checkKey, objectId } from "./object-id.ts";
import { knownReplica } from "./put-object.ts";
import { type ObjectServices, writableShard } from "./services.ts";
import { findVersion, type Located, putDeleteMarker, removeVersion } from "./versions.ts";

/** How a deletion goes: somebody's, or one of the node's own. */
interface Terms extends DeletionAsked {
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
  { event: family = "ObjectRemoved", also = async () => ({}), ...asked }: Terms = {},
): Promise<Deletion> {
  checkKey(key);
  checkDeletion(asked);
  const { version, replica } = asked;
  const { store, clock } = services.context;
  for (let attempt = 0; attempt < 50; attempt++) {
    const owner = await openBucket(services, tenant, bucket, attempt > 0);
    const shard = await writableShard(services, bucket, key);
    const known = replica === undefined ? undefined : await knownReplica(services, owner.bucket, { key }, replica);
    const found = known === undefined ? await findVersion(services, { bucket, key, version }) : undefined;
    const step = judgeDeletion(owner.bucket, { found: found?.doc, known }, asked, clock.now());
    if (step.kind === "nothing") return step.answer;
    if (step.kind === "hide") {
      const current = await store.get("storage_objects", objectId(bucket, key));
      if (current?.version !== found?.version) continue;
      const coming = { replica, expiry: family === "LifecycleExpiration" };
      const { puts, dels, checks, doc, bytes, objects } = await putDeleteMarker(services, owner, current, key, coming);
      const notices = noticePuts(services, owner.bucket, `${family}:DeleteMarkerCreated`, doc);
      const draft = { of: owner.bucket, puts: [...puts, ...notices], dels, checks };
      if (!(await commitObjects(store, together(draft, await also(owner.bucket)))).ok) continue;
      services.shards.changed(shard.id, bytes, objects);
      return { deleted: step.deleted, version: versionIdOf(doc), marker: true };
    }
    const { puts, dels, bytes, objects } = await removeVersion(services, owner.bucket, found as Located);
    // Who ended a retention before its time is on record.
    const event = { action: "object.delete.bypass", tenant, bucket, key, version: versionIdOf(step.version) };
    const checks = [{ coll: "storage_buckets", id: bucket, version: owner.version }];
    const audit = step.early ? [{ stream: "storage", event }] : [];
    const notices = noticePuts(services, owner.bucket, `${family}:Delete`, step.version);
    const draft = { of: owner.bucket, puts: [...puts, ...notices], dels, checks, audit };
    if (!(await commitObjects(store, together(draft, await also(owner.bucket)))).ok) continue;
    services.shards.changed(shard.id, bytes, objects);
    return step.answer;
  }
  throw storageError("ShardUnavailable", "too many writers of one key, try again");
}

/** One commit that does both. */
function together(draft: ObjectsDraft, { puts = [], dels = [], ranges }: Also): ObjectsDraft {
  return { ...draft, puts: [...(draft.puts ?? []), ...puts], dels: [...(draft.dels ?? []), ...dels], ...(ranges && { ranges }) };
}
