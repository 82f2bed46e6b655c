import { storageError } from "@seneschal/core/storage";
import type { ChunkRef, ObjectDoc, PartDoc } from "../documents.ts";
import { openBucket } from "./buckets.ts";
import { checkKey, objectId } from "./object-id.ts";
import type { ObjectServices } from "./services.ts";

/** The record of an object. Throws `NotFound`, `NoSuchBucket`, `TenantAccessDenied`. */
export async function headObject(services: ObjectServices, tenant: string, bucket: string, key: string): Promise<ObjectDoc> {
  checkKey(key);
  await openBucket(services, tenant, bucket);
  const found = await services.context.store.get("storage_objects", objectId(bucket, key));
  if (found === undefined) throw storageError("NotFound", "the object does not exist", { bucket });
  return found.doc as ObjectDoc;
}

/** A chunk that is being read, and the end of its place in memory. */
interface Reading {
  readonly bytes: Promise<Uint8Array>;
  release(): void;
}

/**
 * Bytes `start` to `end` (exclusive) of an object, chunk by chunk, one chunk read ahead while the tenant has room for it. A chunk
 * has its place in the memory budget until the next is asked for; `counted`: the reader has one for it. Throws `MemoryExhausted`.
 */
export async function* readObject(
  services: ObjectServices,
  object: ObjectDoc,
  start = 0,
  end = object.size,
  counted = false,
): AsyncGenerator<Uint8Array> {
  const { body, tenant } = object;
  if (start >= end) return;
  if (body.kind === "inline") {
    const { id, key, epoch } = body;
    const nonce = Buffer.from(body.nonce, "base64");
    const plaintext = await services.chunks.openInline(tenant, {
      id,
      key,
      epoch,
      nonce,
      sealed: Buffer.from(body.sealed, "base64"),
    });
    yield plaintext.subarray(start, end);
    return;
  }
  const { memory, readAhead } = services;
  let at = 0;
  let begun = false;
  let current: Reading | undefined;
  let ahead: Reading | undefined;
  const read = (ref: ChunkRef, first: number, rooms: readonly (() => void)[]): Reading => {
    const bytes = services.chunks
      .read(tenant, ref)
      .then((whole) => whole.subarray(Math.max(start - first, 0), Math.min(end - first, ref.size)));
    // A failure is met when its turn comes; until then it must not count as unhandled.
    bytes.catch(() => undefined);
    const release = (): void => {
      for (const room of rooms) room();
    };
    return { bytes, release };
  };
  const readInTurn = async (ref: ChunkRef, first: number): Promise<Reading> => {
    const room = counted ? [] : [await memory.take(ref.size, begun)];
    begun = true;
    return read(ref, first, room);
  };
  const readEarly = (ref: ChunkRef, first: number): Reading | undefined => {
    const favour = readAhead.take(tenant, ref.size);
    const room = favour && !counted ? memory.spare(ref.size) : undefined;
    if (favour !== undefined && room !== undefined) return read(ref, first, [favour, room]);
    favour?.();
    return undefined;
  };
  try {
    for await (const ref of chunksOf(services, object)) {
      const first = at;
      at += ref.size;
      if (at <= start) continue;
      if (first >= end) break;
      if (current !== undefined) {
        ahead = readEarly(ref, first);
        yield await current.bytes;
        current.release();
      }
      current = ahead;
      ahead = undefined;
      current ??= await readInTurn(ref, first);
    }
    if (current !== undefined) yield await current.bytes;
  } finally {
    current?.release();
    ahead?.release();
  }
}

/** The chunk references of an object in order. Parts that end before `start` are not loaded by readers of ranges. */
async function* chunksOf(services: ObjectServices, object: ObjectDoc): AsyncGenerator<ChunkRef> {
  const { body } = object;
  if (body.kind === "chunks") yield* body.chunks;
  if (body.kind !== "parts") return;
  for (const { id } of body.parts) {
    const part = await services.context.store.get("storage_parts", id);
    if (part === undefined) throw storageError("InvariantViolation", "a part record is missing", { part: id });
    yield* (part.doc as PartDoc).chunks;
  }
}
