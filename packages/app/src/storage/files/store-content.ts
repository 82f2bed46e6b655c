import { createHash } from "node:crypto";
import {
  type ByteRange,
  type ChunkRef,
  checkResize,
  fileError,
  keepChunks,
  madeOf,
  mentionsOf,
  storageError,
} from "@seneschal/core/storage";
import { CodedError, isCoded } from "@seneschal/kernel";
import type { Put } from "@seneschal/kernel/ports";
import { openBucket } from "../objects/buckets.ts";
import { commitObjects } from "../objects/commit-objects.ts";
import { customerKeyFor } from "../objects/customer-key.ts";
import type { Also } from "../objects/delete-object.ts";
import { objectId } from "../objects/object-id.ts";
import { type Committable, commitObject } from "../objects/put-object.ts";
import { referencePuts } from "../objects/references.ts";
import { type ObjectServices, writableShard } from "../objects/services.ts";
import { type StagedChunk, stageChunk, storeBody, unstage, whileStored } from "../objects/store-body.ts";
import type { ObjectDoc } from "../schema.ts";
import type { ContentReader, Extent } from "./read-content.ts";

/** Bytes of a page, and of a chunk of a file that was written by pages. */
export const pageBytes = 4 << 20;

/** What was written of a page; bytes outside of the ranges count for nothing. */
interface PageContent {
  readonly bytes: Uint8Array;
  readonly ranges: readonly ByteRange[];
}

/** What was written to a file since its object was stored. */
export interface Changes {
  /** Behind the last byte that was written. */
  readonly end: number;
  readonly pages: ReadonlyMap<number, PageContent>;
  /** Whole pages that are stored already, below what `pages` has of them. */
  readonly staged: ReadonlyMap<number, StagedChunk>;
  readonly modifiedAt: number;
}

/** The object changed between the look at it and the commit. */
export const baseChanged = "base_changed";

/** Bytes `from` to `to` (exclusive) of an object with changes over it. */
export async function readChanged(
  { chunks }: ObjectServices,
  content: ContentReader,
  base: ObjectDoc,
  changes: Pick<Changes, "pages" | "staged">,
  from: number,
  to: number,
  kept = base.size,
): Promise<Buffer> {
  const out = Buffer.alloc(to - from);
  const end = Math.min(kept, base.size, to);
  if (from < end) out.set(await content.read(base, from, end));
  for (let page = Math.floor(from / pageBytes); page * pageBytes < to; page++) {
    const start = page * pageBytes;
    const lay = (bytes: Uint8Array, first: number, last: number): void => {
      const [a, b] = [Math.max(first, from - start), Math.min(last, to - start)];
      if (a < b) out.set(bytes.subarray(a, b), start + a - from);
    };
    const staged = changes.staged.get(page);
    if (staged !== undefined) lay(await chunks.read(base.tenant, staged.ref), 0, pageBytes);
    const own = changes.pages.get(page);
    for (const range of own?.ranges ?? []) lay(own?.bytes as Uint8Array, range.from, range.to);
  }
  return out;
}

/**
 * Stores an object anew with changes over it, `size` bytes of it where that is said; chunks that did not change are kept. It is durable and
 * seen by everybody when this resolves. Throws `base_changed` when there is another object than `base` by then, `InvalidRequest` for one under a
 * key that its client keeps.
 */
export async function storeChanged(
  services: ObjectServices,
  content: ContentReader,
  { doc: base, version }: { readonly doc: ObjectDoc; readonly version: number },
  changes: Changes,
  size: number = Math.max(base.size, changes.end),
): Promise<ObjectDoc> {
  checkResize("file", size);
  // Bytes that are not sealed under its client's key are none of that object's.
  customerKeyFor(base, undefined);
  const { tenant, bucket, key } = base;
  const id = objectId(bucket, key);
  const kept = Math.min(base.size, size);
  const shard = await writableShard(services, bucket, key);
  const made = (etag: string, body: ObjectDoc["body"]): ObjectDoc => {
    // Checksums were those of other bytes.
    const headers = Object.fromEntries(Object.entries(base.headers).filter(([name]) => !name.startsWith("x-amz-checksum-")));
    return { ...madeOf(base), headers, size, etag, body, modified_at: changes.modifiedAt };
  };
  const unchanged = (puts: readonly Put[]): void => {
    if (puts.find((put) => put.coll === "storage_objects" && put.id === id)?.ifVersion !== version)
      throw new CodedError(baseChanged, "the object changed meanwhile");
  };
  const put = (body: Committable, etag: () => string) =>
    commitObject(services, { tenant, bucket, key }, body, (own) => made(etag(), own as ObjectDoc["body"]));
  if (size <= pageBytes) {
    const bytes = await readChanged(services, content, base, changes, 0, size, kept);
    const threshold = services.shards.inlineRate(shard.id) > 10_000_000 ? 128 : shard.inlineThreshold;
    async function* source() {
      if (bytes.length > 0) yield bytes;
    }
    const stored = await storeBody(services, tenant, source(), threshold, size);
    return whileStored(stored, async () => {
      const doc = await put(
        {
          finish: (build) =>
            stored.finish(async (body) => {
              const draft = await build(body);
              unchanged(draft.puts ?? []);
              return draft;
            }),
        },
        () => stored.md5,
      );
      // A page that was stored early and is not the file's any more.
      for (const { id: staged } of changes.staged.values()) await unstage(services.context, staged);
      if (stored.inline) services.shards.inlined(shard.id, stored.size);
      return doc;
    });
  }
  return storePages(services, content, base, changes, { size, kept, unchanged, put });
}

async function storePages(
  services: ObjectServices,
  content: ContentReader,
  base: ObjectDoc,
  changes: Changes,
  {
    size,
    kept,
    unchanged,
    put,
  }: {
    readonly size: number;
    readonly kept: number;
    readonly unchanged: (puts: readonly Put[]) => void;
    readonly put: (body: Committable, etag: () => string) => Promise<ObjectDoc>;
  },
): Promise<ObjectDoc> {
  const { context, chunks, memory } = services;
  const { tenant } = base;
  const extents = await content.extents(base);
  const refs: ChunkRef[] = [];
  /** Chunks of the base that stay. */
  const reused: ChunkRef[] = [];
  const used: StagedChunk[] = [];
  const fresh: StagedChunk[] = [];
  /** A page that nobody wrote, and those that are as it is: a hole is stored once, however large it is. */
  let hole: StagedChunk | undefined;
  const holes: ChunkRef[] = [];
  try {
    for (let page = 0; page * pageBytes < size; page++) {
      const [start, end] = [page * pageBytes, Math.min(size, (page + 1) * pageBytes)];
      const touched = changes.pages.has(page);
      const staged = changes.staged.get(page);
      const whole = touched || staged !== undefined ? undefined : wholeExtents(extents, start, Math.min(end, kept));
      if (whole !== undefined && end <= kept) {
        const same = whole.map(({ ref }) => ref);
        refs.push(...same);
        reused.push(...same);
        continue;
      }
      if (staged !== undefined && !touched && end - start === pageBytes) {
        used.push(staged);
        refs.push(staged.ref);
        continue;
      }
      const unwritten = !touched && staged === undefined && start >= kept && end - start === pageBytes;
      if (unwritten && hole !== undefined) {
        refs.push(hole.ref);
        holes.push(hole.ref);
        continue;
      }
      const release = await memory.take(end - start);
      try {
        const bytes = await readChanged(services, content, base, changes, start, end, kept);
        const stored = await stageChunk(services, tenant, bytes);
        fresh.push(stored);
        refs.push(stored.ref);
        if (unwritten) hole = stored;
      } finally {
        release();
      }
    }
    const parts = createHash("md5");
    for (const { id } of refs) parts.update(id);
    const etag = `${parts.digest("hex")}-${refs.length}`;
    const doc = await put(
      {
        async finish(build) {
          const draft = await build({ kind: "chunks", chunks: refs });
          unchanged(draft.puts ?? []);
          // The tenant's key stands: what is sealed for nobody says so.
          const { check } = await chunks.sealInline(tenant, new Uint8Array(0));
          const thrown = draft.puts?.find(({ coll, doc }) => coll === "storage_trash" && isSame(doc["body"], base.body));
          const { trash, more } = keepChunks(base.body, mentionsOf(reused), thrown !== undefined);
          const puts = draft.puts?.map((put) => (put === thrown && trash ? { ...put, doc: { ...put.doc, body: trash } } : put));
          const dels = [...used, ...fresh].map(({ id, version }) => ({ coll: "storage_staged", id, ifVersion: version }));
          const result = await commitObjects(context.store, {
            ...draft,
            puts: [...(puts ?? []), ...(await referencePuts(context, mentionsOf(holes, more)))],
            dels: [...(draft.dels ?? []), ...dels],
            checks: [...(draft.checks ?? []), check],
          });
          if (result.ok) return "committed";
          if (result.failed.some(({ coll }) => coll === "storage_staged"))
            throw storageError("ShardUnavailable", "what was written waited so long that it was collected, write it again");
          return "conflict";
        },
      },
      () => etag,
    );
    for (const staged of changes.staged.values())
      if (!used.includes(staged)) await unstage(context, staged.id).catch(() => undefined);
    return doc;
  } catch (error) {
    if (!isCoded(error, "ShardUnavailable")) for (const { id } of fresh) await unstage(context, id).catch(() => undefined);
    throw error;
  }
}

/** The chunks that are exactly these bytes; `undefined` where the bounds are within chunks. */
function wholeExtents(extents: readonly Extent[], from: number, to: number): readonly Extent[] | undefined {
  const inside = extents.filter(({ at, ref }) => at < to && at + ref.size > from);
  const [first, last] = [inside[0], inside.at(-1)];
  if (first === undefined || last === undefined || first.at !== from || last.at + last.ref.size !== to) return undefined;
  return inside;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A new object, and what is committed with it. Throws `EEXIST` when there is one of its key. */
export async function storeNew(
  services: ObjectServices,
  made: Pick<ObjectDoc, "tenant" | "bucket" | "key" | "content_type">,
  bytes: Uint8Array,
  also: () => Promise<Omit<Also, "ranges">>,
): Promise<ObjectDoc> {
  const { tenant, bucket, key } = made;
  const { encryption } = (await openBucket(services, tenant, bucket)).bucket;
  const shard = await writableShard(services, bucket, key);
  async function* source() {
    if (bytes.length > 0) yield bytes;
  }
  const stored = await storeBody(services, tenant, source(), shard.inlineThreshold, bytes.length);
  return whileStored(stored, () =>
    commitObject(
      services,
      { tenant, bucket, key, conditions: { ifNoneMatch: ["*"] } },
      {
        finish: (build) =>
          stored.finish(async (body) => {
            const draft = await build(body);
            const { puts = [], dels = [] } = await also();
            return { ...draft, puts: [...(draft.puts ?? []), ...puts], dels: [...(draft.dels ?? []), ...dels] };
          }),
      },
      (body) => ({
        tenant,
        bucket,
        key,
        size: bytes.length,
        etag: stored.md5,
        content_type: made.content_type,
        headers: {},
        meta: {},
        modified_at: services.context.clock.now(),
        body: body as ObjectDoc["body"],
        ...(encryption && { encryption }),
      }),
    ),
  ).catch((error: unknown) => {
    throw isCoded(error, "PreconditionFailed") ? fileError("EEXIST", "the name is taken") : error;
  });
}
