import type { DocumentStore, IndexValue } from "@seneschal/kernel/ports";
import type { Collection } from "../../../platform/collection.ts";
import { everyDocument } from "../../../platform/index.ts";

/** {@link everyDocument} of a collection. */
export async function* every<T extends object>(
  { store }: { readonly store: DocumentStore },
  from: Collection<T>,
  index: string,
  prefix: readonly IndexValue[],
): AsyncGenerator<T> {
  for await (const { doc } of everyDocument(store, from.name, index, prefix)) yield doc as unknown as T;
}
