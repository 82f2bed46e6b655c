import { storageError } from "@seneschal/core/storage";
import { commit } from "../context.ts";
import type { ObjectDoc } from "../documents.ts";
import { objectError, openBucket } from "./buckets.ts";
import { checkKey, objectId } from "./object-id.ts";
import { trashPuts } from "./put-object.ts";
import { type ObjectServices, writableShard } from "./services.ts";

/** What may be demanded of the object that is to go. ETags without quotes; `*` is any. */
export interface DeleteConditions {
  readonly ifMatch?: readonly string[];
  readonly size?: number;
  /** Milliseconds; to the second, as clients are told it. */
  readonly modifiedAt?: number;
}

/**
 * Deletes an object; deleting what is not there is no error. True when something was deleted. Throws `PreconditionFailed` when
 * there is another object than the conditions say.
 */
export async function deleteObject(
  services: ObjectServices,
  tenant: string,
  bucket: string,
  key: string,
  conditions: DeleteConditions = {},
): Promise<boolean> {
  checkKey(key);
  await openBucket(services, tenant, bucket);
  const { store } = services.context;
  const id = objectId(bucket, key);
  for (let attempt = 0; attempt < 50; attempt++) {
    const shard = await writableShard(services, bucket, key);
    const found = await store.get("storage_objects", id);
    if (found === undefined) return false;
    const object = found.doc as ObjectDoc;
    if (!isMeant(object, conditions))
      throw objectError("PreconditionFailed", "the object is not the one that is to be deleted", { condition: "If-Match" });
    const result = await commit(store, {
      puts: trashPuts(services, object),
      dels: [{ coll: "storage_objects", id, ifVersion: found.version }],
    });
    if (!result.ok) continue;
    services.shards.changed(shard.id, -object.size, -1);
    return true;
  }
  throw storageError("ShardUnavailable", "too many writers of one key, try again");
}

function isMeant({ etag, size, modified_at }: ObjectDoc, conditions: DeleteConditions): boolean {
  const seconds = (at: number) => Math.floor(at / 1000);
  if (conditions.ifMatch !== undefined && !conditions.ifMatch.includes("*") && !conditions.ifMatch.includes(etag)) return false;
  if (conditions.size !== undefined && conditions.size !== size) return false;
  return conditions.modifiedAt === undefined || seconds(conditions.modifiedAt) === seconds(modified_at);
}
