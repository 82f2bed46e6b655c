import { checkArgument } from "@seneschal/kernel";
import { utf8Length } from "@seneschal/kernel/store";
import { compareKeys } from "../objects/listing.ts";
import { entryOf, isFileName } from "./names.ts";

/** The entries that every directory has: itself, and the one above. Their cookies come before all others ({@link cookieOf}). */
export const ownEntries = [
  { name: ".", cookie: 1n },
  { name: "..", cookie: 2n },
] as const;

/**
 * Entries in the order in which a listing tells them: by their cookies, those that share one by their names.
 *
 * @example
 * ```ts
 * import { inListingOrder } from "@seneschal/core/storage";
 * console.log(inListingOrder([{ name: "b", cookie: 2n }, { name: "a", cookie: 1n }]).map(({ name }) => name)); // [ 'a', 'b' ]
 * ```
 */
export function inListingOrder<E extends { readonly name: string; readonly cookie: bigint }>(
  entries: readonly E[],
): readonly E[] {
  checkArgument("entries", entries, "array");
  return [...entries].sort((a, b) => (a.cookie < b.cookie ? -1 : a.cookie > b.cookie ? 1 : a.name < b.name ? -1 : 1));
}

/**
 * Those of entries in their order that come behind a cookie.
 *
 * @example
 * ```ts
 * import { entriesBehind } from "@seneschal/core/storage";
 * console.log(entriesBehind([{ cookie: 1n }, { cookie: 2n }], 1n)); // [ { cookie: 2n } ]
 * ```
 */
export function entriesBehind<E extends { readonly cookie: bigint }>(entries: readonly E[], after: bigint): readonly E[] {
  checkArgument("entries", entries, "array");
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle] as E).cookie <= after) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? entries : entries.slice(low);
}

/**
 * What a listing tells next, `limit` entries at the most, of a directory with these entries behind the cookie: `own` are those that every
 * directory has; `end`: there is nothing behind.
 *
 * @example
 * ```ts
 * import { nextEntries } from "@seneschal/core/storage";
 * console.log(nextEntries([{ name: "a", cookie: 99n }], 1n, 9).own.map(({ name }) => name)); // [ '..' ]
 * ```
 */
export function nextEntries<E extends { readonly cookie: bigint }>(
  entries: readonly E[],
  after: bigint,
  limit: number,
): { readonly own: readonly (typeof ownEntries)[number][]; readonly taken: readonly E[]; readonly end: boolean } {
  checkArgument("entries", entries, "array");
  checkArgument("limit", limit, "number");
  const own = ownEntries.filter(({ cookie }) => cookie > after);
  const taken = entries.slice(0, Math.max(0, limit - own.length));
  return { own: own.slice(0, limit), taken, end: own.length <= limit && taken.length === entries.length };
}

/** A name in a directory. */
export interface Child {
  readonly name: string;
  readonly kind: "file" | "directory";
}

/** What lies directly in a directory, found among keys. */
export interface ChildListing {
  /** Takes the key that is next in the order of the index; false: nothing behind it lies in the directory. */
  take(key: string): boolean;
  /** A key to look on from: what comes before it lies in a directory that was met last. `undefined`: there is none to pass over. */
  past(): string | undefined;
  /** In no particular order. */
  children(): readonly Child[];
}

/**
 * Begins to look for what lies directly in the directory that has the key `directory`, among keys of its bucket from there on. A name that is both an
 * object and the beginning of others is a directory; segments that cannot be names are not seen. An index that has keys by their first
 * `indexed` bytes alone has longer ones in any order: where they may be, nothing is passed over.
 *
 * @example
 * ```ts
 * import { childrenOf } from "@seneschal/core/storage";
 * const listing = childrenOf("in/", 600);
 * for (const key of ["in/a", "in/b/1", "in/b/2", "out"]) if (!listing.take(key)) break;
 * console.log(listing.children()); // [ { name: 'a', kind: 'file' }, { name: 'b', kind: 'directory' } ]
 * ```
 */
export function childrenOf(directory: string, indexed: number): ChildListing {
  checkArgument("directory", directory, "string");
  checkArgument("indexed", indexed, "number");
  const found = new Map<string, Child>();
  let last: Child | undefined;
  const mayShareIndex = (key: string): boolean => utf8Length(key) > indexed - 8;
  return {
    take(key) {
      if (!key.startsWith(directory)) return compareKeys(key, directory) < 0 || mayShareIndex(directory);
      const child = entryOf(directory, key);
      last = key === directory || !isFileName(child.name) ? undefined : child;
      if (last !== undefined && (last.kind === "directory" || !found.has(last.name))) found.set(last.name, last);
      return true;
    },
    past() {
      const behind = last?.kind === "directory" ? `${directory}${last.name}0` : undefined;
      last = undefined;
      return behind === undefined || mayShareIndex(behind) ? undefined : behind;
    },
    children: () => [...found.values()],
  };
}
