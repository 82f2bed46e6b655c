import type { DocumentStore } from "@seneschal/kernel/ports";
import type { StoreSchema } from "@seneschal/kernel/store";

/** The collections of which a store holds no document. What the store has forgotten of its changes is not looked for. */
export async function emptyCollections(store: Pick<DocumentStore, "changes">, schema: StoreSchema): Promise<readonly string[]> {
  const standing = new Map(Object.keys(schema.collections).map((name) => [name, new Set<string>()]));
  for (const { coll, id, version } of await store.changes(0, 100_000)) {
    if (version === undefined) standing.get(coll)?.delete(id);
    else standing.get(coll)?.add(id);
  }
  return [...standing].filter(([, ids]) => ids.size === 0).map(([name]) => name);
}

/** What to do about a collection without a document: the page where documents are made, and why. */
export const oneOfEach = (page: string): string =>
  `these collections have no document in the directory that today's version writes, so that nothing tells when a later one cannot read theirs: ${page} makes one`;
