import type { JsonObject } from "@seneschal/kernel";
import type { AnyCollection } from "../../../platform/collection.ts";
import type { GroundServices } from "../services.ts";

const PAGE = 250;

/**
 * Deletes the documents of a collection that an index of times has up to one, but for those that stay: page by page until none is left, so that the collection
 * stays as small however many are made. One that changes meanwhile keeps its page for the next time.
 */
export async function forgetEnded(
  { store, newId }: Pick<GroundServices, "store" | "newId">,
  { name }: Pick<AnyCollection, "name">,
  ended: { readonly index: string; readonly until: string; readonly now: number; readonly stays?: (doc: JsonObject) => boolean },
): Promise<void> {
  const { index, until, now, stays = () => false } = ended;
  let cursor: string | undefined;
  do {
    const page = await store.list(name, index, [], { to: [until], limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    const gone = page.items.filter(({ doc }) => !stays(doc));
    const dels = gone.map(({ id, version }) => ({ coll: name, id, ifVersion: version }));
    if (dels.length > 0) await store.commit({ commitId: newId(now), dels });
    cursor = page.cursor;
  } while (cursor !== undefined);
}
