import {
  awaitExistingVersion,
  type Bucket,
  type ExistingScan,
  type ListedVersion,
  rulesOfExisting,
  scannedPage,
  scanOf,
  versionIdOf,
  type WaitingCopy,
} from "@seneschal/core/storage";
import type { DocumentStore, IndexValue, Page } from "@seneschal/kernel/ports";
import { everyDocument } from "../../platform/index.ts";
import { commit, type StorageContext } from "../context.ts";
import { listVersions } from "../objects/list-keys.ts";
import { copyPut } from "../objects/replication-puts.ts";
import type { ObjectServices } from "../objects/services.ts";
import { findVersion } from "../objects/versions.ts";

/** What waits to be copied from one bucket to one other. */
export interface ReplicationQueue {
  readonly destination: string;
  readonly bucket: string;
  readonly into: string;
}

/** Behind every index value that begins so: no name has a space. */
const behind = (name: string): string => `${name} `;

/** The queues in which something waits, of one destination or of all, in the order of their names. What joins meanwhile may be seen or not. */
export async function* replicationQueues(store: DocumentStore, destination?: string): AsyncGenerator<ReplicationQueue> {
  const prefix = destination === undefined ? [] : [destination];
  let from: readonly IndexValue[] = [];
  for (;;) {
    const { items } = await store.list("storage_replications", "by_queue", prefix, {
      limit: 1,
      ...(from.length > 0 && { from }),
    });
    const first = items[0]?.doc as WaitingCopy | undefined;
    if (first === undefined) return;
    yield { destination: first.destination, bucket: first.bucket, into: first.into };
    from = [...(destination === undefined ? [first.destination] : []), first.bucket, behind(first.into)];
  }
}

/** What waits longest in a queue, in its order, behind a `cursor` where there is one. */
export async function pageOf(
  store: DocumentStore,
  { destination, bucket, into }: ReplicationQueue,
  limit: number,
  cursor?: string,
): Promise<Page> {
  return store.list("storage_replications", "by_queue", [destination, bucket, into], {
    limit,
    ...(cursor !== undefined && { cursor }),
  });
}

/** Of so many that wait longest in a queue the bytes are summed: of more there are at least as many. */
const summed = 1000;
/** So many queues are shown, those that are behind most: tenants make buckets as they like. */
const shown = 100;

/** What another node measures from now on. */
export function forgetReplication(metrics: StorageContext["metrics"]): void {
  for (const gauge of [metrics.replicationVersions, metrics.replicationWaitingBytes, metrics.replicationLag]) gauge.reset();
}

/** Measures what waits to be copied, by destination and bucket: how many versions, how many bytes, since when. */
export async function measureReplication({ store, clock, metrics }: StorageContext): Promise<void> {
  const queues = [];
  for await (const queue of replicationQueues(store)) {
    const head = (await pageOf(store, queue, summed)).items.map(({ doc }) => doc as WaitingCopy);
    const { destination, bucket, into } = queue;
    const versions =
      head.length < summed ? head.length : await store.count("storage_replications", "by_queue", [destination, bucket, into]);
    const since = Math.min(...head.map(({ at }) => at), clock.now());
    queues.push({
      labels: { destination, bucket: `${bucket}:${into}` },
      versions,
      bytes: head.reduce((sum, { size }) => sum + size, 0),
      lag: (clock.now() - since) / 1000,
    });
  }
  forgetReplication(metrics);
  for (const { labels, versions, bytes, lag } of queues.sort((a, b) => b.lag - a.lag).slice(0, shown)) {
    metrics.replicationVersions.set(labels, versions);
    metrics.replicationWaitingBytes.set(labels, bytes);
    metrics.replicationLag.set(labels, lag);
  }
}

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
