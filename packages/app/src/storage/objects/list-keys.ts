import type { Stored } from "@seneschal/core/ports";
import { indexedKey, indexedKeyBytes } from "../schema.ts";
import type { ObjectServices } from "./services.ts";

/** One page of a listing: keys and rolled-up prefixes in UTF-8 byte order, at most `limit` together. */
export interface KeyPage<T> {
  readonly items: readonly T[];
  readonly prefixes: readonly string[];
  /** The last key or prefix of a page that is not the end. */
  readonly next?: string;
}

export interface KeyQuery {
  readonly bucket: string;
  readonly prefix: string;
  readonly delimiter: string;
  /** Only keys behind this one, exclusive; a prefix that ends in the delimiter skips all that it rolled up. */
  readonly after: string;
  readonly limit: number;
}

/** Lists a collection whose documents have `bucket` and `key` and an index `by_key`. */
export async function listKeys<T extends { readonly key: string }>(
  services: ObjectServices,
  coll: "storage_objects" | "storage_uploads",
  query: KeyQuery,
): Promise<KeyPage<T>> {
  const { prefix, delimiter, after, limit } = query;
  const items: T[] = [];
  const prefixes: string[] = [];
  let last = "";
  if (limit === 0) return { items, prefixes };
  const rolledAfter = delimiter !== "" && after.startsWith(prefix) && after.endsWith(delimiter) ? after : undefined;
  const from = compareKeys(after, prefix) > 0 ? after : prefix;
  for await (const doc of scan<T>(services, coll, query.bucket, rolledAfter === undefined ? from : successor(rolledAfter))) {
    const { key } = doc;
    if (!key.startsWith(prefix)) {
      if (compareKeys(key, prefix) > 0) break;
      continue;
    }
    if (after !== "" && compareKeys(key, after) <= 0) continue;
    if (rolledAfter !== undefined && key.startsWith(rolledAfter)) continue;
    const at = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    const rolled = at < 0 ? undefined : key.slice(0, at + delimiter.length);
    if (rolled !== undefined && rolled === prefixes.at(-1)) continue;
    if (items.length + prefixes.length >= limit) return { items, prefixes, next: last };
    if (rolled === undefined) items.push(doc);
    else prefixes.push(rolled);
    last = rolled ?? key;
  }
  return { items, prefixes };
}

/** Keys of one bucket in byte order from `from` on. The index sorts by leading bytes; ties behind them are sorted here. */
async function* scan<T extends { readonly key: string }>(
  services: ObjectServices,
  coll: string,
  bucket: string,
  from: string,
): AsyncGenerator<T> {
  let cursor: string | undefined;
  let tied: T[] = [];
  let tie = "";
  const flush = () => {
    const sorted = tied.sort((a, b) => compareKeys(a.key, b.key));
    tied = [];
    return sorted;
  };
  do {
    const page: { readonly items: readonly Stored[]; readonly cursor?: string } = await services.context.store.list(
      coll,
      "by_key",
      [bucket],
      {
        limit: 1000,
        ...(from === "" ? {} : { from: [indexedKey(from)] }),
        ...(cursor === undefined ? {} : { cursor }),
      },
    );
    for (const { id, doc } of page.items) {
      const item = { id, ...doc } as unknown as T;
      const lead = indexedKey(item.key);
      if (lead !== tie) yield* flush();
      tie = lead;
      // Only a key that fills the index can have company behind the same leading bytes.
      if (Buffer.byteLength(lead) > indexedKeyBytes - 4) tied.push(item);
      else yield item;
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  yield* flush();
}

/** Order of UTF-8 bytes. */
function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** A text behind everything that starts with `prefix` and does not continue with U+10FFFF. */
function successor(prefix: string): string {
  return `${prefix}\u{10FFFF}`;
}
