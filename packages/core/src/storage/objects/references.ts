import { checkArgument, type JsonObject } from "@seneschal/kernel";
import { storageError } from "../errors.ts";

/** A use of a chunk by an object: the wrapped derivation parameters open it for one tenant. */
export interface ChunkRef extends JsonObject {
  readonly id: string;
  /** Bytes. */
  readonly size: number;
  readonly key: string;
}

/** Where the bytes of an object are. */
export type Body =
  | {
      readonly kind: "inline";
      readonly id: string;
      readonly key: string;
      readonly epoch: number;
      readonly nonce: string;
      readonly sealed: string;
    }
  | { readonly kind: "chunks"; readonly chunks: readonly ChunkRef[] }
  | { readonly kind: "parts"; readonly parts: readonly { readonly id: string; readonly size: number }[] }
  /** A delete marker's. */
  | { readonly kind: "none" };

/** What garbage collection takes back: chunks, parts with theirs, or all parts of an upload that ended. */
export type Trash = Extract<Body, { kind: "chunks" | "parts" }> | { readonly kind: "upload"; readonly upload: string };

/**
 * What there is to take back of a body that is nobody's any more; `undefined`: it goes with its record.
 *
 * @example
 * ```ts
 * import { trashOf } from "@seneschal/core/storage";
 * console.log(trashOf({ kind: "none" })); // undefined
 * ```
 */
export function trashOf(body: Body): Trash | undefined {
  checkArgument("body", body, "object");
  return body.kind === "inline" || body.kind === "none" ? undefined : body;
}

/** How often chunks are mentioned, by their ids: so many references to each are counted. */
export type Mentions = ReadonlyMap<string, number>;

/**
 * How often each chunk is among these, on top of what was counted `before`.
 *
 * @example
 * ```ts
 * import { mentionsOf } from "@seneschal/core/storage";
 * console.log([...mentionsOf([{ id: "c1" }, { id: "c1" }])]); // [ [ 'c1', 2 ] ]
 * ```
 */
export function mentionsOf(refs: Iterable<{ readonly id: string }>, before: Mentions = new Map()): Mentions {
  checkArgument("refs", refs, "iterable");
  checkArgument("before", before, "object");
  const mentions = new Map(before);
  for (const { id } of refs) mentions.set(id, (mentions.get(id) ?? 0) + 1);
  return mentions;
}

/**
 * A chunk that is mentioned so many times more, or less; `undefined` where it is gone already, and mentioned less. Throws `ChunkLost` for one
 * that is mentioned more and is not there.
 *
 * @example
 * ```ts
 * import { referencedBy } from "@seneschal/core/storage";
 * console.log(referencedBy({ refs: 1 }, "c", 2)); // { refs: 3 }
 * ```
 */
export function referencedBy<C extends { readonly refs: number }>(chunk: C | undefined, id: string, by: number): C | undefined {
  checkArgument("id", id, "string");
  checkArgument("by", by, "number");
  if (chunk !== undefined) return { ...chunk, refs: Math.max(0, chunk.refs + by) };
  if (by > 0) throw storageError("ChunkLost", `chunk ${id} has no placement record`, { chunk: id });
  return undefined;
}

/**
 * What becomes of the references of a body when an object that keeps chunks of it (`kept`) takes its place: where its chunks go to the trash
 * (`replaced`) the object takes over those references, and the rest is `trash`; else there are `more`.
 *
 * @example
 * ```ts
 * import { keepChunks } from "@seneschal/core/storage";
 * const [a, b] = ["a", "b"].map((id) => ({ id, size: 1, key: "" }));
 * const { trash } = keepChunks({ kind: "chunks", chunks: [a, b] }, new Map([["a", 1]]), true);
 * console.log(trash); // { kind: 'chunks', chunks: [ { id: 'b', size: 1, key: '' } ] }
 * ```
 */
export function keepChunks(base: Body, kept: Mentions, replaced: boolean): { readonly trash?: Trash; readonly more: Mentions } {
  checkArgument("base", base, "object");
  checkArgument("kept", kept, "object");
  checkArgument("replaced", replaced, "boolean");
  if (!replaced || base.kind !== "chunks") return { more: kept };
  const left = new Map(kept);
  const chunks = base.chunks.filter(({ id }) => {
    const count = left.get(id) ?? 0;
    left.set(id, count - 1);
    return count <= 0;
  });
  return { trash: { kind: "chunks", chunks }, more: new Map() };
}
