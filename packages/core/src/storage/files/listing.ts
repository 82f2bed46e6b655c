import { checkArgument } from "@seneschal/kernel";

/** The entries that every directory has: itself, and the one above. Their cookies come before all others ({@link cookieOf}). */
export const ownEntries = [
  { name: ".", cookie: 1n },
  { name: "..", cookie: 2n },
] as const;

/** Entries in the order in which a listing tells them: by their cookies, those that share one by their names. */
export function inListingOrder<E extends { readonly name: string; readonly cookie: bigint }>(
  entries: readonly E[],
): readonly E[] {
  checkArgument("entries", entries, "array");
  return [...entries].sort((a, b) => (a.cookie < b.cookie ? -1 : a.cookie > b.cookie ? 1 : a.name < b.name ? -1 : 1));
}

/** Those of entries in their order that come behind a cookie. */
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
