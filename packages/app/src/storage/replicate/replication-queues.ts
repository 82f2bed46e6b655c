import type { WaitingCopy } from "@seneschal/core/storage";
import type { DocumentStore, IndexValue, Page } from "@seneschal/kernel/ports";

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
