import { type ChunkRef, type ReadOptions, storageError, versionIdOf } from "@seneschal/core/storage";
import type { ObjectDoc, PartDoc } from "../schema.ts";
import { openBucket } from "./buckets.ts";
import { customerCipher, customerKeyFor } from "./customer-key.ts";
import { checkKey } from "./object-id.ts";
import type { ObjectServices } from "./services.ts";
import { openVersion } from "./versions.ts";

/**
 * The record of an object, of one version of it where `version` names one; with a version id where its bucket has versions. Throws
 * `NotFound`, `NoSuchVersion`, `NoSuchBucket`, `TenantAccessDenied`, `MethodNotAllowed` for a version that is a delete marker.
 */
export async function headObject(
  services: ObjectServices,
  tenant: string,
  bucket: string,
  key: string,
  version?: string,
): Promise<ObjectDoc> {
  checkKey(key);
  const { bucket: owner } = await openBucket(services, tenant, bucket);
  const { doc } = await openVersion(services, { tenant, bucket, key, version });
  return owner.versioning === undefined ? doc : { ...doc, version_id: versionIdOf(doc) };
}

/** A chunk that is being read, and the end of its place in memory. */
interface Reading {
  readonly bytes: Promise<Uint8Array>;
  /** `read`: whoever it was for has it, and is done with it. */
  release(read?: boolean): void;
}

/**
 * Bytes `start` to `end` (exclusive) of an object, chunk by chunk, one chunk read ahead while the tenant has room for it. A chunk
 * has its place in the memory budget until the next is asked for. Throws `MemoryExhausted`, `InvalidRequest` without the key that
 * the object is under.
 */
export async function* readObject(
  services: ObjectServices,
  object: ObjectDoc,
  start = 0,
  end = object.size,
  { customerKey, ...options }: ReadOptions = {},
): AsyncGenerator<Uint8Array> {
  const { encryption, body } = object;
  const key = customerKeyFor(object, customerKey);
  if (key === undefined || encryption?.kind !== "customer") return yield* readStored(services, object, start, end, options);
  // The cipher gives out memory of its own.
  const stored = { ...options, lent: true };
  if (body.kind !== "parts")
    return yield* customerCipher(readStored(services, object, start, end, stored), key, encryption.salt, start);
  let at = 0;
  for (const { id, size } of body.parts) {
    const [first, last] = [Math.max(start - at, 0), Math.min(end - at, size)];
    at += size;
    if (first >= last) continue;
    const { chunks, salt = "" } = await partOf(services, id);
    const part: ObjectDoc = { ...object, size, body: { kind: "chunks", chunks } };
    yield* customerCipher(readStored(services, part, first, last, stored), key, salt, first);
  }
}

async function partOf({ context }: ObjectServices, id: string): Promise<PartDoc> {
  const part = await context.store.get("storage_parts", id);
  if (part === undefined) throw storageError("InvariantViolation", "a part record is missing", { part: id });
  return part.doc as PartDoc;
}

/** The bytes as they are stored. */
async function* readStored(
  services: ObjectServices,
  object: ObjectDoc,
  start: number,
  end: number,
  { counted = false, lent = false }: Omit<ReadOptions, "customerKey">,
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
  const { memory, buffers, readAhead } = services;
  let at = 0;
  let begun = false;
  let current: Reading | undefined;
  let ahead: Reading | undefined;
  const read = (ref: ChunkRef, first: number, rooms: readonly (() => void)[]): Reading => {
    let whole: Uint8Array | undefined;
    const bytes = services.chunks.read(tenant, ref).then((chunk) => {
      whole = chunk;
      return chunk.subarray(Math.max(start - first, 0), Math.min(end - first, ref.size));
    });
    // A failure is met when its turn comes; until then it must not count as unhandled.
    bytes.catch(() => undefined);
    const release = (read = false): void => {
      if (read && lent && whole !== undefined) buffers.give(whole);
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
        current.release(true);
      }
      current = ahead;
      ahead = undefined;
      current ??= await readInTurn(ref, first);
    }
    if (current !== undefined) {
      yield await current.bytes;
      current.release(true);
    }
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
  for (const { id } of body.parts) yield* (await partOf(services, id)).chunks;
}
