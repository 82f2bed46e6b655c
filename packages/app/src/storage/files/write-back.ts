import { addRange, type ByteRange, storageError, storageErrorKind } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { ObjectServices } from "../objects/services.ts";
import { type StagedChunk, stageChunk, unstage } from "../objects/store-body.ts";
import type { FileNode } from "./file-tree.ts";
import type { ContentReader } from "./read-content.ts";
import { baseChanged, pageBytes, readChanged, storeChanged } from "./store-content.ts";

/** What clients wrote and did not commit yet, by file. Calls for one file come one after another: their caller sees to that. */
export interface WriteBack {
  /** Takes bytes for a file. Throws `MemoryExhausted` when there is no room and none can be made. */
  write(node: FileNode, offset: number, bytes: Uint8Array): Promise<void>;
  /** Bytes of a file as they were written, within its size. */
  read(node: FileNode, from: number, to: number): Promise<Buffer>;
  /** Size and time of a file that was written; `undefined` where nothing is pending. */
  pending(node: FileNode): { readonly size: number; readonly modifiedAt: number } | undefined;
  /**
   * Makes durable what was written to a file. When it throws for good, what was written is given up; `told`: all of it is of the call that
   * asks, which hears so.
   */
  flush(file: string, told?: boolean): Promise<void>;
  /** Forgets what was written to a file that is removed. */
  discard(file: string): Promise<void>;
  /** Files that have something pending, the one that waits longest first. */
  files(): readonly { readonly file: string; readonly since: number }[];
  readonly bytes: number;
}

interface Page {
  bytes: Buffer;
  ranges: readonly ByteRange[];
  readonly rooms: (() => void)[];
}

interface Pending {
  readonly bucket: string;
  readonly pages: Map<number, Page>;
  readonly staged: Map<number, StagedChunk>;
  end: number;
  modifiedAt: number;
  readonly since: number;
}

/** What was written to a file and is lost: its clients must write it again. `told`: there is only the one that hears of it. */
export interface GivenUp {
  readonly file: string;
  readonly bucket: string;
  readonly told: boolean;
}

/** `look`: the file as it is now, by its id. */
export function createWriteBack(
  services: ObjectServices,
  content: ContentReader,
  look: (file: string) => Promise<Pick<FileNode, "object"> | undefined>,
  onGivenUp: (givenUp: GivenUp, error: unknown) => void,
): WriteBack {
  const { context, memory } = services;
  const files = new Map<string, Pending>();
  let held = 0;

  const free = (page: Page): void => {
    held -= page.bytes.length;
    for (const room of page.rooms.splice(0)) room();
  };

  const forget = async (file: string, kept: ReadonlySet<StagedChunk> = new Set()): Promise<void> => {
    const pending = files.get(file);
    files.delete(file);
    for (const page of pending?.pages.values() ?? []) free(page);
    for (const staged of pending?.staged.values() ?? [])
      if (!kept.has(staged)) await unstage(context, staged.id).catch(() => undefined);
  };

  /** A page with room for `length` bytes, which grows by doubling. */
  const grown = async (pending: Pending, index: number, length: number): Promise<Page> => {
    const page = pending.pages.get(index);
    const had = page?.bytes.length ?? 0;
    if (page !== undefined && had >= length) return page;
    let size = Math.max(4096, had);
    while (size < length) size *= 2;
    size = Math.min(size, pageBytes);
    const room = memory.spare(size - had);
    if (room === undefined) throw storageError("MemoryExhausted", "the node's memory for bodies is in use, write again later");
    held += size - had;
    const bytes = Buffer.alloc(size);
    if (page === undefined) {
      const made = { bytes, ranges: [], rooms: [room] };
      pending.pages.set(index, made);
      return made;
    }
    bytes.set(page.bytes);
    page.bytes = bytes;
    page.rooms.push(room);
    return page;
  };

  const flush = async (file: string, told = false): Promise<void> => {
    const pending = files.get(file);
    if (pending === undefined) return;
    for (let attempt = 0; attempt < 50; attempt++) {
      const node = await look(file);
      if (node?.object === undefined) return forget(file);
      try {
        await storeChanged(services, content, node.object, pending);
        // What was staged is the object's, or has been given back.
        return await forget(file, new Set(pending.staged.values()));
      } catch (error) {
        if (isCoded(error, baseChanged)) continue;
        if (storageErrorKind(error)?.class !== "retriable") {
          await forget(file);
          onGivenUp({ file, bucket: pending.bucket, told }, error);
        }
        throw error;
      }
    }
    throw storageError("ShardUnavailable", "too many writers of one file, try again");
  };

  return {
    async write(node, offset, bytes) {
      const { file } = node.record.doc;
      const { tenant, bucket } = node.from;
      const now = context.clock.now();
      const begun: Pending = { bucket, pages: new Map(), staged: new Map(), end: 0, modifiedAt: now, since: now };
      const pending = files.get(file) ?? begun;
      files.set(file, pending);
      for (let at = 0; at < bytes.length; ) {
        const index = Math.floor((offset + at) / pageBytes);
        const from = offset + at - index * pageBytes;
        const piece = bytes.subarray(at, at + pageBytes - from);
        const page = await grown(pending, index, from + piece.length);
        page.bytes.set(piece, from);
        page.ranges = addRange(page.ranges, { from, to: from + piece.length });
        at += piece.length;
        pending.end = Math.max(pending.end, offset + at);
        // Later than what is there, so that clients see that it changed.
        pending.modifiedAt = Math.max(context.clock.now(), (node.object?.doc.modified_at ?? 0) + 1);
        const whole = page.ranges.length === 1 && page.ranges[0]?.from === 0 && page.ranges[0].to === pageBytes;
        if (!whole) continue;
        // All of a chunk: it need not wait in memory. Should it fail now, it is tried again when it is to be durable.
        const before = pending.staged.get(index);
        const staged = await stageChunk(services, tenant, page.bytes).catch(() => undefined);
        if (staged === undefined) continue;
        pending.staged.set(index, staged);
        pending.pages.delete(index);
        free(page);
        if (before !== undefined) await unstage(context, before.id).catch(() => undefined);
      }
    },
    async read(node, from, to) {
      const { object, record } = node;
      if (object === undefined) return Buffer.alloc(0);
      const pending = files.get(record.doc.file);
      if (pending === undefined) return content.read(object.doc, from, to);
      return readChanged(services, content, object.doc, pending, from, to);
    },
    pending({ record, object }) {
      const pending = files.get(record.doc.file);
      return pending && { size: Math.max(object?.doc.size ?? 0, pending.end), modifiedAt: pending.modifiedAt };
    },
    flush,
    discard: (file) => forget(file),
    files: () => [...files].map(([file, { since }]) => ({ file, since })).sort((a, b) => a.since - b.since),
    get bytes() {
      return held;
    },
  };
}

/** Write verifiers (RFC 1813, 3.3.7) of each bucket's own: what was given up of one makes no client of another write again. */
interface WriteVerifiers {
  /** Eight bytes: others after each start, and after each time that something of the bucket was given up. */
  of(bucket: string): Uint8Array;
  /** What clients wrote to the bucket and did not commit is given up. */
  renew(bucket: string): void;
}

/** `boot`: eight random bytes of this start. */
export function createWriteVerifiers(boot: Uint8Array): WriteVerifiers {
  const renewed = new Map<string, number>();
  return {
    of(bucket) {
      const verifier = Buffer.from(boot);
      verifier.writeUInt32BE((verifier.readUInt32BE(4) + (renewed.get(bucket) ?? 0)) >>> 0, 4);
      return verifier;
    },
    renew(bucket) {
      renewed.set(bucket, (renewed.get(bucket) ?? 0) + 1);
    },
  };
}
