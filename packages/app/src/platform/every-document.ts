import type { DocumentStore, IndexValue, Stored } from "@seneschal/kernel/ports";

const PAGE = 500;

/** Every document below an index prefix, in order, page by page: nothing is cut off. What is written meanwhile may be seen or not. */
export async function* everyDocument(
  store: Pick<DocumentStore, "list">,
  coll: string,
  index: string,
  prefix: readonly IndexValue[] = [],
): AsyncGenerator<Stored> {
  let cursor: string | undefined;
  do {
    const page = await store.list(coll, index, prefix, { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    yield* page.items;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
