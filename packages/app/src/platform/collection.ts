import type { JsonObject } from "@seneschal/kernel";
import type { CollectionSpec, DocumentVersions, IndexSpec, IndexValue } from "@seneschal/kernel/ports";

/** A declared collection with the type of its documents. */
export interface Collection<T extends object> extends CollectionSpec {
  readonly name: string;
  /** What a caller reads when a unique index would be violated, by index. */
  readonly clashes: Readonly<Record<string, string>>;
  /** Carries the document type; never set. */
  readonly document?: T;
}

/** A declared collection whatever its documents are: what a store needs to know of it. */
export type AnyCollection = Pick<Collection<object>, "name" | keyof CollectionSpec>;

interface IndexOf<T> {
  readonly key: (doc: T) => readonly IndexValue[] | undefined;
  /** Two documents may not share the key; this is what the loser is told. */
  readonly unique?: string;
  /** Raised when `key` changes its meaning, so that stores rebuild the index. Default 1. */
  readonly revision?: number;
}

/**
 * Declares a collection. Whoever changes `T` so that documents of before are none of it any more raises `version` and gives the step
 * that makes them so; an optional member needs none.
 */
export function collection<T extends object>(
  name: string,
  indexes: Readonly<Record<string, IndexOf<T>>> = {},
  versions: DocumentVersions = {},
): Collection<T> {
  const specs: Record<string, IndexSpec> = {};
  const clashes: Record<string, string> = {};
  for (const [index, { key, unique, revision = 1 }] of Object.entries(indexes)) {
    specs[index] = { key: (doc: JsonObject) => key(doc as unknown as T), unique: unique !== undefined, revision };
    if (unique !== undefined) clashes[index] = unique;
  }
  return { name, indexes: specs, clashes, ...versions };
}
