import type { DocumentStore } from "@seneschal/core/ports";

/** A kept checkpoint. */
export interface CheckpointDoc {
  readonly stream: string;
  /** Records that it counts. */
  readonly size: number;
  /** Base64, as the peaks. */
  readonly root: string;
  /** Roots of the perfect subtrees, from which the tree goes on; absent in checkpoints of earlier versions. */
  readonly peaks?: readonly string[];
  /** Records of all streams up to this sequence of the store are counted by checkpoints; 0 where that is not known. */
  readonly seq?: number;
  readonly note: string;
  readonly timestamp: string;
}

/** The newest checkpoint of a stream. */
export async function newestCheckpoint(store: DocumentStore, stream: string): Promise<CheckpointDoc | undefined> {
  const { items } = await store.list("audit_checkpoints", "by_size", [stream], { limit: 1, reverse: true });
  return items[0]?.doc as unknown as CheckpointDoc | undefined;
}

/** Every checkpoint of a stream, smallest first. */
export async function* checkpointsOf(store: DocumentStore, stream: string): AsyncGenerator<CheckpointDoc> {
  for (let cursor: string | undefined; ; ) {
    const options = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
    const page = await store.list("audit_checkpoints", "by_size", [stream], options);
    for (const { doc } of page.items) yield doc as unknown as CheckpointDoc;
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
}

/** Up to this sequence of the store all records are counted by checkpoints. */
export async function signedUpTo(store: DocumentStore): Promise<number> {
  const { items } = await store.list("audit_checkpoints", "by_seq", [], { limit: 1, reverse: true });
  return (items[0]?.doc as unknown as CheckpointDoc | undefined)?.seq ?? 0;
}
