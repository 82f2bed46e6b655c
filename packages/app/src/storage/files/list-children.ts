import { type Child, childrenOf } from "@seneschal/core/storage";
import type { StorageContext } from "../context.ts";
import { indexedKey, indexedKeyBytes } from "../schema.ts";

const pageSize = 256;

/** What lies directly in the directory that has the key `directory`. In no particular order. */
export async function listChildren({ store }: StorageContext, bucket: string, directory: string): Promise<readonly Child[]> {
  const listing = childrenOf(directory, indexedKeyBytes);
  let from: string | undefined = directory === "" ? undefined : directory;
  let cursor: string | undefined;
  for (;;) {
    const page = await store.list("storage_objects", "by_key", [bucket], {
      limit: pageSize,
      ...(from !== undefined && { from: [indexedKey(from)] }),
      ...(cursor !== undefined && { cursor }),
    });
    for (const { doc } of page.items) if (!listing.take(doc["key"] as string)) return listing.children();
    if (page.cursor === undefined) return listing.children();
    const past = listing.past();
    from = past ?? from;
    cursor = past === undefined ? page.cursor : undefined;
  }
}

/** Whether there is anything below the key of a directory, itself among it. */
export async function isDirectory({ store }: StorageContext, bucket: string, key: string): Promise<boolean> {
  let cursor: string | undefined;
  do {
    const page = await store.list("storage_objects", "by_key", [bucket], {
      limit: 1,
      from: [indexedKey(key)],
      ...(cursor === undefined ? {} : { cursor, limit: pageSize }),
    });
    if (page.items.some(({ doc }) => (doc["key"] as string).startsWith(key))) return true;
    // Only among keys that fill the index may there be one behind others.
    if (!page.items.some(({ doc }) => indexedKey(doc["key"] as string) === indexedKey(key))) return false;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return false;
}
