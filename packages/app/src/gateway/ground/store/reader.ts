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
