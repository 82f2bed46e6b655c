import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import type { StoreSchema } from "@seneschal/kernel/store";

/** Every document of a store, by collection and id. What the store has forgotten of its changes is not looked for. */
export type Documents = ReadonlyMap<string, ReadonlyMap<string, JsonObject>>;

export async function documentsOf(store: DocumentStore): Promise<Documents> {
  const ids = new Map<string, Set<string>>();
  for (const { coll, id } of await store.changes(0, 100_000)) ids.set(coll, (ids.get(coll) ?? new Set()).add(id));
  const found = new Map<string, Map<string, JsonObject>>();
  for (const [coll, all] of ids) {
    const stored = (await store.getMany(coll, [...all])).flatMap((one) =>
      one === undefined ? [] : [[one.id, one.doc] as const],
    );
    found.set(coll, new Map(stored));
  }
  return found;
}

/** The collections of a schema of which there is no document. */
export function emptyCollections(documents: Documents, schema: StoreSchema): readonly string[] {
  return Object.keys(schema.collections).filter((name) => (documents.get(name)?.size ?? 0) === 0);
}

/** What to do about a collection without a document: the page where documents are made, and why. */
export const oneOfEach = (page: string): string =>
  `these collections have no document in the directory that today's version writes, so that nothing tells when a later one cannot read theirs: ${page} makes one`;
