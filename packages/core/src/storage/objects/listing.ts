import { checkArgument } from "@seneschal/kernel";
import { utf8 } from "@seneschal/kernel/store";
import type { VersionPlace } from "../replication.ts";
import type { KeyPage, KeyQuery } from "./object-store.ts";
import { type ObjectVersion, versionIdOf } from "./records.ts";
import { ordinalOf } from "./versions.ts";

/**
 * The order of keys, that of their UTF-8 bytes: below zero where the first comes first.
 *
 * @example
 * ```ts
 * import { compareKeys } from "@seneschal/core/storage";
 * console.log(["b", "a/b", "a"].sort(compareKeys)); // [ 'a', 'a/b', 'b' ]
 * ```
 */
export function compareKeys(a: string, b: string): number {
  const [first, second] = [utf8(a), utf8(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** A page of a listing that is being made. */
export interface KeyListing<T> {
  /** Nothing that comes before this key is on the page: where to begin to look. */
  readonly from: string;
  /** Takes what is next in the order of keys; false: nothing behind it is on the page. */
  take(item: T): boolean;
  page(): KeyPage<T>;
}

/**
 * Begins a page of what there is: keys with a prefix, those that hold a delimiter behind it rolled up to one (Amazon S3 API reference,
 * ListObjectsV2). `within`: which of the key that the last page ended with come behind it; absent: none.
 *
 * @example
 * ```ts
 * import { listKeysOf } from "@seneschal/core/storage";
 * const listing = listKeysOf({ prefix: "", delimiter: "/", after: "", limit: 2 });
 * for (const key of ["a", "b/1", "b/2", "c"]) if (!listing.take({ key })) break;
 * console.log(listing.page()); // { items: [ { key: 'a' } ], prefixes: [ 'b/' ], next: 'b/' }
 * ```
 */
export function listKeysOf<T extends { readonly key: string }>(
  query: Omit<KeyQuery, "bucket">,
  within: (item: T) => boolean = () => false,
): KeyListing<T> {
  checkArgument("query", query, "object");
  checkArgument("within", within, "function");
  const { prefix, delimiter, after, limit } = query;
  const items: T[] = [];
  const prefixes: string[] = [];
  let last = "";
  let full = false;
  const rolledUp = (key: string): string | undefined => {
    const at = delimiter === "" || !key.startsWith(prefix) ? -1 : key.indexOf(delimiter, prefix.length);
    return at < 0 ? undefined : key.slice(0, at + delimiter.length);
  };
  // A key may end in the delimiter too: rolled up is what has it behind the prefix for the first time at its end.
  const rolledAfter = rolledUp(after) === after ? after : undefined;
  const isBehind = (item: T): boolean => {
    if (after === "") return true;
    if (rolledAfter !== undefined && item.key.startsWith(rolledAfter)) return false;
    const order = compareKeys(item.key, after);
    return order > 0 || (order === 0 && within(item));
  };
  const begins = rolledAfter === undefined ? after : `${rolledAfter}\u{10FFFF}`;
  return {
    from: compareKeys(begins, prefix) > 0 ? begins : prefix,
    take(item) {
      if (limit === 0) return false;
      if (!item.key.startsWith(prefix)) return compareKeys(item.key, prefix) < 0;
      const rolled = rolledUp(item.key);
      if (!isBehind(item) || (rolled !== undefined && rolled === prefixes.at(-1))) return true;
      full = items.length + prefixes.length >= limit;
      if (full) return false;
      if (rolled === undefined) items.push(item);
      else prefixes.push(rolled);
      last = rolled ?? item.key;
      return true;
    },
    page: () => ({ items, prefixes, ...(full && { next: last }) }),
  };
}

/**
 * Whether a version comes behind another of its key in a listing, the latest of which comes first. Two of one moment come in the order of their names.
 *
 * @example
 * ```ts
 * import { isListedBehind } from "@seneschal/core/storage";
 * const place = { ordinal: 2, version: "null" };
 * console.log(isListedBehind({ ordinal: 1, modified_at: 0 }, place), isListedBehind({ ordinal: 3, modified_at: 0 }, place)); // true false
 * ```
 */
export function isListedBehind(
  version: Pick<ObjectVersion, "ordinal" | "modified_at" | "version_id">,
  place: VersionPlace,
): boolean {
  checkArgument("place", place, "object");
  checkArgument("version", version, "object");
  const ordinal = ordinalOf(version);
  return ordinal < place.ordinal || (ordinal === place.ordinal && versionIdOf(version) > place.version);
}
