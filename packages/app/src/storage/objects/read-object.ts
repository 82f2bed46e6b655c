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

/** Bytes `start` to `end` (exclusive) of an object, chunk by chunk, one chunk read ahead while the tenant has room for it. */
export async function* readObject(
  services: ObjectServices,
  object: ObjectDoc,
  start = 0,
  end = object.size,
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
  let at = 0;
  let current: Promise<Uint8Array> | undefined;
  let release: (() => void) | undefined;
  try {
    for await (const ref of chunksOf(services, object)) {
      const first = at;
      at += ref.size;
      if (at <= start) continue;
      if (first >= end) break;
      const read = async () =>
        (await services.chunks.read(tenant, ref)).subarray(Math.max(start - first, 0), Math.min(end - first, ref.size));
      const before = current;
      release = before && services.readAhead.take(tenant, ref.size);
      const ahead = release && read();
      // A failure is met when its turn comes; until then it must not count as unhandled.
      ahead?.catch(() => undefined);
      if (before !== undefined) yield await before;
      release?.();
      current = ahead ?? read();
      current.catch(() => undefined);
    }
    if (current !== undefined) yield await current;
  } finally {
    release?.();
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
