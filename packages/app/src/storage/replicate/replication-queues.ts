import type { WaitingCopy } from "@seneschal/core/storage";
import type { DocumentStore, IndexValue, Page } from "@seneschal/kernel/ports";
import type { StorageContext } from "../context.ts";

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
