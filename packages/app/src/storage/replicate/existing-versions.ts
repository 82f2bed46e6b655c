import {
  awaitExistingVersion,
  type Bucket,
  type ExistingScan,
  type ListedVersion,
  rulesOfExisting,
  scannedPage,
  scanOf,
  versionIdOf,
} from "@seneschal/core/storage";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { everyDocument } from "../../platform/index.ts";
import { commit } from "../context.ts";
import { listVersions } from "../objects/list-keys.ts";
import { copyPut } from "../objects/replication-puts.ts";
import type { ObjectServices } from "../objects/services.ts";
import { findVersion } from "../objects/versions.ts";

const pageSize = 500;

/** How far a bucket is looked through, and the version to guard changes by. */
export async function scanOfBucket(
  store: DocumentStore,
  bucket: string,
): Promise<{ readonly doc: ExistingScan; readonly version: number } | undefined> {
  return (await store.get("storage_replication_scans", bucket)) as
    | { readonly doc: ExistingScan; readonly version: number }
    | undefined;
}

/** Writes down what was in buckets before rules that are about that too, from where an earlier run of it ended. */
export async function awaitExisting(services: ObjectServices, signal: AbortSignal): Promise<void> {
  const { store } = services.context;
  for await (const { doc } of everyDocument(store, "storage_buckets", "replicated")) {
    const bucket = doc as Bucket;
    if (rulesOfExisting(bucket).length > 0 && !bucket.deleting) await awaitBucket(services, bucket, signal);
  }
}

async function awaitBucket(services: ObjectServices, bucket: Bucket, signal: AbortSignal): Promise<void> {
  const { store } = services.context;
  const { name } = bucket;
  for (;;) {
    signal.throwIfAborted();
    const found = await scanOfBucket(store, name);
    const scan = scanOf(bucket, found?.doc);
    if (scan.done) return;
    const { after = "", afterVersion } = scan;
    const query = { bucket: name, prefix: "", delimiter: "", after, afterVersion, limit: pageSize };
    const page = await listVersions(services, query);
    for (const version of page.items) await awaitVersion(services, bucket, version);
    const next = scannedPage(scan, page.items, page.next !== undefined);
    const puts = [{ coll: "storage_replication_scans", id: name, doc: next, ifVersion: found?.version ?? 0 }];
    // The bucket has other rules by now: those are another run's.
    const current = (await store.get("storage_buckets", name))?.doc as Bucket | undefined;
    if (current === undefined || scanOf(current, scan) !== scan) return;
    await commit(store, { puts });
  }
}

/** Writes down that one version waits, where it never did or was refused. */
async function awaitVersion(services: ObjectServices, bucket: Bucket, listed: ListedVersion): Promise<void> {
  const { context } = services;
  const target = { bucket: listed.bucket, key: listed.key, version: versionIdOf(listed) };
  for (let attempt = 0; attempt < 50; attempt++) {
    const found = await findVersion(services, target);
    if (found === undefined) return;
    const { version, copies } = awaitExistingVersion(bucket, found.doc, context.clock.now());
    if (copies.length === 0) return;
    const put = { coll: found.coll, id: found.id, doc: version, ifVersion: found.version };
    if ((await commit(context.store, { puts: [put, ...copies.map(copyPut)] })).ok) return;
  }
}
