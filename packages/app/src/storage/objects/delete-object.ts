import { storageError } from "@seneschal/core/storage";
import { commit } from "../context.ts";
import type { ObjectDoc } from "../documents.ts";
import { openBucket } from "./buckets.ts";
import { checkKey, objectId } from "./object-id.ts";
import { trashPuts } from "./put-object.ts";
import { type ObjectServices, writableShard } from "./services.ts";

/** Deletes an object; deleting what is not there is no error. True when something was deleted. */
export async function deleteObject(services: ObjectServices, tenant: string, bucket: string, key: string): Promise<boolean> {
  checkKey(key);
  await openBucket(services, tenant, bucket);
  const { store } = services.context;
  const id = objectId(bucket, key);
  for (let attempt = 0; attempt < 50; attempt++) {
    const shard = await writableShard(services, bucket, key);
    const found = await store.get("storage_objects", id);
    if (found === undefined) return false;
    const object = found.doc as ObjectDoc;
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
