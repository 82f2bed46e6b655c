import type { DocumentStore, IndexValue, ListOptions, Stored } from "@seneschal/kernel/ports";
import type { Collection } from "../../../platform/collection.ts";

export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
}

export interface PageOf<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** The part of a whole list that is asked for. */
export function pageOf<T>(all: readonly T[], { limit, offset }: PageRequest): PageOf<T> {
  return { items: all.slice(offset, offset + limit), total: all.length };
}

type Listed<Name extends string, T> = Record<Name, T[]> & { readonly count: number; readonly total: number };

/** A page as routes answer lists: the items under their name, how many are here and how many there are. */
export function listed<Name extends string, T>(name: Name, page: PageOf<T>): Listed<Name, T>;
export function listed<Name extends string, T, View>(name: Name, page: PageOf<T>, view: (item: T) => View): Listed<Name, View>;
export function listed(name: string, { items, total }: PageOf<unknown>, view: (item: unknown) => unknown = (item) => item) {
  return { [name]: items.map((item) => view(item)), count: items.length, total };
}

/** Typed reads over a {@link DocumentStore}. */
export interface Reader {
  get<T extends object>(from: Collection<T>, id: string): Promise<T | undefined>;
  /** Documents in index order. */
  list<T extends object>(
    from: Collection<T>,
    index: string,
    prefix: readonly IndexValue[],
    options?: Partial<ListOptions>,
  ): Promise<readonly T[]>;
  /** One page, the greatest index values first: newest first where the index ends in a time. */
  page<T extends object>(
    from: Collection<T>,
    index: string,
    prefix: readonly IndexValue[],
    page: PageRequest,
  ): Promise<PageOf<T>>;
  count<T extends object>(from: Collection<T>, index: string, prefix: readonly IndexValue[]): Promise<number>;
}

/** Reads whatever is committed. */
export function reader(store: DocumentStore): Reader {
  return {
    async get<T extends object>(from: Collection<T>, id: string) {
      return (await store.get(from.name, id))?.doc as T | undefined;
    },
    async list<T extends object>(
      from: Collection<T>,
      index: string,
      prefix: readonly IndexValue[],
      options?: Partial<ListOptions>,
    ) {
      return documents(await listStored(store, from, index, prefix, options));
    },
    async page<T extends object>(
      from: Collection<T>,
      index: string,
      prefix: readonly IndexValue[],
      { limit, offset }: PageRequest,
    ) {
      const [{ items }, total] = await Promise.all([
        store.list(from.name, index, prefix, { limit, offset, reverse: true }),
        store.count(from.name, index, prefix),
      ]);
      return { items: documents(items), total };
    },
    count: (from, index, prefix) => store.count(from.name, index, prefix),
  };
}

/** Up to a thousand documents in index order, with their versions. */
export async function listStored(
  store: DocumentStore,
  from: Collection<object>,
  index: string,
  prefix: readonly IndexValue[],
  options: Partial<ListOptions> = {},
): Promise<readonly Stored[]> {
  const { items } = await store.list(from.name, index, prefix, { limit: 1000, ...options });
  return items;
}

/** What was stored, as the collection's type. */
export function documents<T extends object>(stored: readonly Stored[]): readonly T[] {
  return stored.map((item) => item.doc as unknown as T);
}

/** A {@link Reader} that may remember what it read. */
export interface CachedReader extends Reader {
  /** Something was written: nothing remembered counts any more. */
  forget(): void;
  /** The same as a store: what it gives has its version. */
  readonly store: DocumentStore;
}

/** More than this is not remembered. */
const ENTRIES = 20_000;

/**
 * Remembers reads until anything is written. Only over a store that is this process's alone and tells of every change: there
 * no answer is older than the last commit that was acknowledged. Over any other store nothing is remembered. What comes
 * back is shared: do not change it.
 */
export function cachedReader(store: DocumentStore): CachedReader {
  const { multiProcess, subscribe } = store.capabilities;
  if (multiProcess || subscribe !== "push") return { ...reader(store), store, forget: () => undefined };

  let changed = 0;
  let kept = new Map<string, Promise<unknown>>();
  const forget = (): void => {
    // A new one: V8 chains a cleared table to the next, and with it all that it held until the next full collection.
    kept = new Map();
  };
  store.subscribe((seq) => {
    if (seq === changed) return;
    changed = seq;
    forget();
  });

  // What is still being read is shared too: many ask for the same right after a write.
  const remembered = <T>(key: string, load: () => Promise<T>): Promise<T> => {
    const known = kept.get(key);
    if (known !== undefined) return known as Promise<T>;
    const loading = load();
    // INVARIANT: what was read before a write is not remembered after it, which leaves this table behind.
    const own = kept;
    if (own.size < ENTRIES) {
      own.set(key, loading);
      loading.catch(() => own.delete(key));
    }
    return loading;
  };

  const view: DocumentStore = {
    capabilities: store.capabilities,
    get: (coll, id) => remembered(`${coll}/${id}`, async () => store.get(coll, id)),
    getMany: (coll, ids) => store.getMany(coll, ids),
    list: (coll, index, prefix, options) =>
      remembered(`${coll}.${index} ${JSON.stringify([prefix, options])}`, async () => store.list(coll, index, prefix, options)),
    count: (coll, index, prefix, range) => store.count(coll, index, prefix, range),
    auditRead: (after, limit) => store.auditRead(after, limit),
    changes: (after, limit) => store.changes(after, limit),
    compact: (upTo) => store.compact(upTo),
    commit: (commit) => store.commit(commit),
    subscribe: (callback) => store.subscribe(callback),
    close: () => store.close(),
  };
  const { page, count } = reader(store);
  return { ...reader(view), page, count, store: view, forget };
}
