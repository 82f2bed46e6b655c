import type { DocumentStore, IndexValue } from "@seneschal/core/ports";
import type { Collection } from "./collection.ts";

/** Every document below an index prefix, in order, page by page: nothing is cut off. What is written meanwhile may be seen or not. */
export async function* every<T extends object>(
  { store }: { readonly store: DocumentStore },
  from: Collection<T>,
  index: string,
  prefix: readonly IndexValue[],
): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const page = await store.list(from.name, index, prefix, { limit: 500, ...(cursor === undefined ? {} : { cursor }) });
    for (const { doc } of page.items) yield doc as unknown as T;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
