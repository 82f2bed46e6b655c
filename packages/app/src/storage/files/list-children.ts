import { entryOf, isFileName } from "@seneschal/core/storage";
import type { StorageContext } from "../context.ts";
import { indexedKey, indexedKeyBytes } from "../schema.ts";

/** A name in a directory. */
export interface Child {
  readonly name: string;
  readonly kind: "file" | "directory";
}

const pageSize = 256;

/**
 * What lies directly in the directory that has the key `directory`: a name that is both an object and the beginning of others is a
 * directory. Segments of keys that cannot be names are not seen. In no particular order.
 */
export async function listChildren({ store }: StorageContext, bucket: string, directory: string): Promise<readonly Child[]> {
  const children = new Map<string, Child>();
  let from = directory;
  let cursor: string | undefined;
  for (;;) {
    const page = await store.list("storage_objects", "by_key", [bucket], {
      limit: pageSize,
      ...(from === "" ? {} : { from: [indexedKey(from)] }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    let last: Child | undefined;
    for (const { doc } of page.items) {
      const key = doc["key"] as string;
      if (!key.startsWith(directory)) {
        if (Buffer.compare(Buffer.from(key), Buffer.from(directory)) > 0 && !sharesIndex(directory))
          return [...children.values()];
        continue;
      }
      const child = entryOf(directory, key);
      last = key === directory || !isFileName(child.name) ? undefined : child;
      if (last === undefined) continue;
      if (last.kind === "directory" || !children.has(last.name)) children.set(last.name, last);
    }
    if (page.cursor === undefined) return [...children.values()];
    cursor = page.cursor;
    // What else lies in a directory that was met last need not be read.
    const behind = last?.kind === "directory" ? `${directory}${last.name}0` : undefined;
    if (behind !== undefined && !sharesIndex(behind)) {
      from = behind;
      cursor = undefined;
    }
  }
}

/** Longer keys are not in the order of the index. */
function sharesIndex(key: string): boolean {
  return Buffer.byteLength(key) > indexedKeyBytes - 8;
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
