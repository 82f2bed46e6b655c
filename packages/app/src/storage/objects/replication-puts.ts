import { awaitAgain, awaitDescriptions, type Bucket, type WaitingCopy } from "@seneschal/core/storage";
import type { Put } from "@seneschal/kernel/ports";
import { everyDocument } from "../../platform/index.ts";
import { commit } from "../context.ts";
import type { ObjectDoc } from "../schema.ts";
import { objectId } from "./object-id.ts";
import type { ObjectServices } from "./services.ts";

/** What waits to be copied of a version to one destination is one record: writing it down again changes nothing. */
export function copyPut(copy: WaitingCopy): Put {
  const id = `${objectId(copy.bucket, copy.key)}.${copy.version}.${copy.destination}/${copy.into}`;
  return { coll: "storage_replications", id, doc: copy, ifVersion: 0 };
}

/** A version whose tags or lock changed, and what is written down so that its copies change too. */
export async function descriptionPuts(
  { context: { store, clock } }: ObjectServices,
  bucket: Bucket,
  doc: ObjectDoc,
): Promise<{ readonly doc: ObjectDoc; readonly puts: readonly Put[] }> {
  const { version, copies } = awaitDescriptions(bucket, doc, clock.now());
  const puts = copies.map(async (copy): Promise<Put> => {
    const put = copyPut(copy);
    const waiting = await store.get(put.coll, put.id);
    return waiting === undefined ? put : { ...put, doc: { ...waiting.doc, described: true }, ifVersion: waiting.version };
  });
  return { doc: version, puts: await Promise.all(puts) };
}

/** After a restore, which brings versions that wait to be copied and not what is written down of them. */
export async function awaitReplication({ store, clock }: ObjectServices["context"]): Promise<void> {
  for await (const { doc } of everyDocument(store, "storage_buckets", "replicated")) {
    const bucket = doc as Bucket;
    for (const [coll, index] of [
      ["storage_objects", "all"],
      ["storage_versions", "by_key"],
    ] as const)
      for await (const version of everyDocument(store, coll, index, [bucket.name]))
        for (const copy of awaitAgain(bucket, version.doc as ObjectDoc, clock.now()))
          await commit(store, { puts: [copyPut(copy)] });
  }
}
