import type { WaitingCopy } from "@seneschal/core/storage";
import type { StorageContext } from "../context.ts";
import { pageOf, replicationQueues } from "./replication-queues.ts";

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
