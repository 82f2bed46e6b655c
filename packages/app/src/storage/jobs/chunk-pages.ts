import type { DocumentStore } from "@seneschal/kernel/ports";
import { everyDocument } from "../../platform/index.ts";
import type { ChunkDoc } from "../schema.ts";

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
  for await (const { doc } of everyDocument(store, "storage_chunks", "by_id"))
    references += (doc as ChunkDoc).fragments.filter((f) => f?.device === device).length;
  return references;
}
