import { createHash, randomUUID } from "node:crypto";
import { type Body, type ChunkRef, isInline, mentionsOf, storageError } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { CommitResult } from "@seneschal/kernel/ports";
import { commit } from "../context.ts";
import type { ChunkOutcome, PreparedChunk } from "../data/chunk-store.ts";
import { createKeyedLock } from "../data/keyed-lock.ts";
import { commitObjects, type ObjectsDraft } from "./commit-objects.ts";
import { referencePuts } from "./references.ts";
import type { ObjectServices } from "./services.ts";

/** Bytes that are stored, waiting for the commit that makes them part of something. */
export interface StoredBody {
  readonly size: number;
  /** Hex MD5, the ETag of a single put. */
  readonly md5: string;
  readonly inline: boolean;
  /**
   * Commits `build(body)` together with the references; `build` may be called again after a conflict on a chunk. Returns
   * the failed conditions when one of `build`'s own failed.
   */
  finish(build: (body: Body) => ObjectsDraft | Promise<ObjectsDraft>): Promise<"committed" | "conflict">;
  /** Gives everything back. */
  abandon(): Promise<void>;
  /** Gives back the memory of the bytes; nothing can be finished any more. */
  release(): void;
}

const locked = createKeyedLock();
const isTenant = ({ coll }: { readonly coll: string }): boolean => coll === "storage_tenants";

/** A chunk that is stored, waiting for the commit that makes it part of something and ends its staging. */
export interface StagedChunk {
  readonly ref: ChunkRef;
  /** The record of the staging, to be deleted at this version. */
  readonly id: string;
  readonly version: number;
}

/** Stores a chunk; until its staging ends it is kept, for a day at the least. */
export async function stageChunk(
  { context, chunks, tenants }: Pick<ObjectServices, "context" | "chunks" | "tenants">,
  tenant: string,
  plaintext: Uint8Array,
  stage: string = randomUUID(),
  index = 0,
): Promise<StagedChunk> {
  const chunk = await chunks.prepare(tenant, plaintext);
  const id = `${stage}.${index}`;
  const doc = { stage, chunk: chunk.ref.id, at: context.clock.now() };
  const result = await takeAndCommit({ context, tenants }, tenant, chunk, () => ({
    puts: [{ coll: "storage_staged", id, doc, ifVersion: 0 }],
  }));
  if (!result.ok) throw storageError("InvariantViolation", "a fresh staging id is taken");
  return { ref: chunk.ref, id, version: result.versions[`storage_staged/${id}`] as number };
}

/** Commits `draft` with one reference to the chunk: its result, or the one that failed by another's doing than the chunk's. */
async function takeAndCommit(
  { context: { store }, tenants }: Pick<ObjectServices, "context" | "tenants">,
  tenant: string,
  chunk: PreparedChunk,
  draft: () => ObjectsDraft | Promise<ObjectsDraft>,
): Promise<CommitResult> {
  let outcome: ChunkOutcome = "unused";
  try {
    // Writers of one chunk in this process queue up instead of racing on its record.
    return await locked(chunk.ref.id, async () => {
      for (let attempt = 0; attempt < 50; attempt++) {
        const { put, check } = await chunk.take();
        const made = await draft();
        // INVARIANT: until the store says no, the chunk may be referred to.
        outcome = "unknown";
        const whole = { ...made, puts: [...(made.puts ?? []), put], checks: [...(made.checks ?? []), check] };
        const result = await commitObjects(store, whole).catch((error: unknown) => {
          // A bucket that is full is found to be so before anything is asked of the store.
          if (isCoded(error, "QuotaExceeded")) outcome = "unused";
          throw error;
        });
        outcome = result.ok ? "committed" : "unused";
        if (result.ok) return result;
        // The tenant's record changed: it is read again, and who was shredded writes no more.
        if (result.failed.some(isTenant)) tenants.purge(tenant);
        else if (result.failed.some((f) => f.coll !== "storage_chunks")) return result;
      }
      throw storageError("ShardUnavailable", "too many writers of one chunk, try again");
    });
  } finally {
    await chunk.settle(outcome);
  }
}

/**
 * Streams a body into chunks. All but the last chunk are committed on the way as staged (so that a crash leaves a record
 * to collect); the last one, the object and the end of the staging are one commit. Memory: one chunk and its fragments, for
 * which there is room before a byte is read. `length`: of a source that gives no more. Throws `MemoryExhausted`.
 */
export async function storeBody(
  { context, chunks, tenants, memory, buffers }: ObjectServices,
  tenant: string,
  source: AsyncIterable<Uint8Array>,
  inlineThreshold: number,
  length?: number,
): Promise<StoredBody> {
  const { store } = context;
  const stage = randomUUID();
  const refs: ChunkRef[] = [];
  const staged: { readonly id: string; readonly version: number }[] = [];
  const md5 = createHash("md5");
  let size = 0;
  let held: Cut | undefined;

  const stageNext = async (plaintext: Uint8Array): Promise<void> => {
    const { ref, ...record } = await stageChunk({ context, chunks, tenants }, tenant, plaintext, stage, staged.length);
    staged.push(record);
    refs.push(ref);
  };

  /** What cannot be given back now is collected a day later. */
  const abandon = async (): Promise<void> => {
    for (const { id } of staged) await unstage(context, id).catch(() => undefined);
  };

  let release = await memory.take(nextChunkBytes(length));
  try {
    for await (const cut of cutChunks(source, length, undefined, buffers.take)) {
      const { bytes, last, taken } = cut;
      md5.update(bytes);
      size += bytes.length;
      if (last) {
        held = cut;
        continue;
      }
      await stageNext(bytes);
      if (taken) buffers.give(bytes);
      // INVARIANT: who waits for room holds none.
      release();
      release = await memory.take(nextChunkBytes(length, size), true);
    }
  } catch (error) {
    release();
    await abandon();
    throw error;
  }

  const last = held?.bytes;
  const inline = refs.length === 0 && isInline(size, inlineThreshold);
  return {
    size,
    inline,
    md5: md5.digest("hex"),
    async finish(build) {
      // Guarded: what was staged too long ago may have been collected, and an object must not name it.
      const dels = staged.map(({ id, version }) => ({ coll: "storage_staged", id, ifVersion: version }));
      if (last === undefined || inline) {
        const { id, epoch, nonce, sealed, key, check } = await chunks.sealInline(tenant, last ?? new Uint8Array(0));
        const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
        const draft = await build({ kind: "inline", id, key, epoch, nonce: base64(nonce), sealed: base64(sealed) });
        const result = await commitObjects(store, { ...draft, checks: [...(draft.checks ?? []), check] });
        if (!result.ok && result.failed.some(isTenant)) tenants.purge(tenant);
        return result.ok ? "committed" : "conflict";
      }
      const chunk = await chunks.prepare(tenant, last);
      const result = await takeAndCommit({ context, tenants }, tenant, chunk, async () => {
        const draft = await build({ kind: "chunks", chunks: [...refs, chunk.ref] });
        return { ...draft, dels: [...(draft.dels ?? []), ...dels] };
      });
      if (result.ok) return "committed";
      if (result.failed.some(({ coll }) => coll === "storage_staged"))
        throw storageError("ShardUnavailable", "the upload took so long that its chunks were collected, send it again");
      return "conflict";
    },
    abandon,
    release() {
      if (held?.taken === true) buffers.give(held.bytes);
      release();
    },
  };
}

/** What `work` makes of a body that is stored. When it throws, the body is given back; its memory is in any case. */
export async function whileStored<R>(stored: StoredBody, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    await stored.abandon();
    throw error;
  } finally {
    stored.release();
  }
}

/** Ends the staging of one chunk that became part of nothing: its reference goes. */
export async function unstage({ store }: ObjectServices["context"], id: string): Promise<void> {
  for (;;) {
    const record = await store.get("storage_staged", id);
    if (record === undefined) return;
    const puts = await referencePuts({ store }, mentionsOf([{ id: record.doc["chunk"] as string }]), -1);
    const result = await commit(store, { puts, dels: [{ coll: "storage_staged", id, ifVersion: record.version }] });
    if (result.ok) return;
  }
}

/** Bytes of a full chunk. */
const chunkBytes = 4 * 1024 * 1024;

/** Bytes of a chunk that follows `at` bytes of a body of so many, where they are known. */
function nextChunkBytes(total: number | undefined, at = 0, size = chunkBytes): number {
  return total === undefined || total <= at ? size : Math.min(size, total - at);
}

/** One of the chunks of a body. */
interface Cut {
  readonly bytes: Uint8Array;
  /** True once the body has ended with it. */
  readonly last: boolean;
  /** Whether its memory was taken for it; else it is the stream's. */
  readonly taken: boolean;
}

/**
 * Regroups a stream into chunks of exactly `size` bytes, the last shorter. An empty stream gives nothing. Holds one chunk, and a
 * piece of the stream where it is not known how many bytes there are in `total`. `take` gives the memory for a chunk.
 */
export async function* cutChunks(
  source: AsyncIterable<Uint8Array>,
  total?: number,
  size = chunkBytes,
  take: (bytes: number) => Uint8Array = Buffer.allocUnsafeSlow,
): AsyncGenerator<Cut, void, undefined> {
  let chunk: Uint8Array | undefined;
  let filled = 0;
  let at = 0;
  let taken = false;
  const given = (last: boolean): Cut => {
    const bytes = (chunk ?? new Uint8Array(0)).subarray(0, filled);
    const cut = { bytes, last, taken };
    chunk = undefined;
    filled = 0;
    taken = false;
    return cut;
  };
  for await (const incoming of source) {
    let piece = incoming;
    while (piece.length > 0) {
      if (filled === size) yield given(false);
      const room = nextChunkBytes(total, at, size);
      let copied = piece.length;
      if (chunk === undefined && copied === room) chunk = piece;
      else {
        if (chunk === undefined) {
          chunk = take(room);
          taken = true;
        }
        // A body that is longer than it was said to be.
        if (filled === chunk.length) {
          chunk = Buffer.concat([chunk], size);
          taken = false;
        }
        copied = Math.min(copied, chunk.length - filled);
        chunk.set(piece.subarray(0, copied), filled);
      }
      filled += copied;
      at += copied;
      piece = piece.subarray(copied);
      if (filled === size && total !== undefined && at < total) yield given(false);
    }
  }
  if (filled > 0) yield given(true);
}
