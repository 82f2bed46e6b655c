import type { DocumentStore } from "@seneschal/core/ports";
import type { ChunkDoc } from "../documents.ts";

/** A page of all chunks in a stable order; go on with `cursor`. */
export async function chunkPage(
  store: DocumentStore,
  cursor: string | undefined,
  limit = 64,
): Promise<{ readonly chunks: readonly { readonly id: string; readonly doc: ChunkDoc }[]; readonly cursor?: string }> {
  const page = await store.list("storage_chunks", "by_id", [], { limit, ...(cursor === undefined ? {} : { cursor }) });
  const chunks = page.items.map(({ id, doc }) => ({ id, doc: doc as ChunkDoc }));
  return page.cursor === undefined ? { chunks } : { chunks, cursor: page.cursor };
}

/** How many fragments placement records count on a device. */
export async function countReferences(store: DocumentStore, device: string): Promise<number> {
  let references = 0;
  let cursor: string | undefined;
  do {
    const page = await chunkPage(store, cursor, 500);
    for (const { doc } of page.chunks) references += doc.fragments.filter((f) => f?.device === device).length;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return references;
}
