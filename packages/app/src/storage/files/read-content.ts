import { type ChunkRef, fileError } from "@seneschal/core/storage";
import type { ObjectServices } from "../objects/services.ts";
import type { ObjectDoc, PartDoc } from "../schema.ts";

/** A chunk of a file and where it begins. */
export interface Extent {
  readonly at: number;
  readonly ref: ChunkRef;
}

/** Reads ranges of objects, whose chunks are kept for a while: a client asks for a chunk in several pieces, and for the next ones early. */
export interface ContentReader {
  /** The chunks of an object in order; of one in metadata, none. */
  extents(object: ObjectDoc): Promise<readonly Extent[]>;
  /** Bytes `from` to `to` (exclusive), both within the object. Throws what chunks throw, `EACCES` for an object under a client's key. */
  read(object: ObjectDoc, from: number, to: number): Promise<Buffer>;
  close(): void;
}

interface Kept {
  readonly tenant: string;
  readonly bytes: Promise<Uint8Array>;
  readonly release: () => void;
}

const keptChunks = 8;

export function createContentReader(services: ObjectServices): ContentReader {
  const { chunks, memory, readAhead, cluster, context } = services;
  /** By the chunk and the key that opens it; the one used last is the last. */
  const kept = new Map<string, Kept>();
  let closed = false;
  const drop = (id: string): void => {
    kept.get(id)?.release();
    kept.delete(id);
  };
  cluster.onChange(({ command }) => {
    if (command.kind === "tenant.shred") for (const [id, { tenant }] of [...kept]) if (tenant === command.tenant) drop(id);
  });

  const keep = (tenant: string, ref: ChunkRef, room: () => void): Promise<Uint8Array> => {
    const id = `${tenant} ${ref.id} ${ref.key}`;
    while (kept.size >= keptChunks) drop(kept.keys().next().value as string);
    const bytes = chunks.read(tenant, ref);
    kept.set(id, { tenant, bytes, release: room });
    bytes.catch(() => {
      if (kept.get(id)?.bytes === bytes) drop(id);
    });
    return bytes;
  };

  const chunk = async (tenant: string, ref: ChunkRef): Promise<Uint8Array> => {
    const id = `${tenant} ${ref.id} ${ref.key}`;
    const known = kept.get(id);
    if (known !== undefined) {
      kept.delete(id);
      kept.set(id, known);
      return known.bytes;
    }
    const spare = closed ? undefined : memory.spare(ref.size);
    if (spare !== undefined) return keep(tenant, ref, spare);
    const release = await memory.take(ref.size);
    try {
      return await chunks.read(tenant, ref);
    } finally {
      release();
    }
  };

  /** A favour: without room it is left out. */
  const early = (tenant: string, ref: ChunkRef): void => {
    if (closed || kept.has(`${tenant} ${ref.id} ${ref.key}`)) return;
    const favour = readAhead.take(tenant, ref.size);
    const room = favour && memory.spare(ref.size);
    if (favour === undefined || room === undefined) {
      favour?.();
      return;
    }
    keep(tenant, ref, () => {
      favour();
      room();
    }).catch(() => undefined);
  };

  const extents = async ({ body }: ObjectDoc): Promise<readonly Extent[]> => {
    const refs: ChunkRef[] = [];
    if (body.kind === "chunks") refs.push(...body.chunks);
    if (body.kind === "parts")
      for (const part of await context.store.getMany(
        "storage_parts",
        body.parts.map(({ id }) => id),
      ))
        if (part !== undefined) refs.push(...(part.doc as PartDoc).chunks);
    let at = 0;
    return refs.map((ref) => {
      const extent = { at, ref };
      at += ref.size;
      return extent;
    });
  };

  return {
    extents,
    async read(object, from, to) {
      const { body, tenant, encryption } = object;
      if (encryption?.kind === "customer") throw fileError("EACCES", "the object is under a key that its client keeps");
      if (from >= to) return Buffer.alloc(0);
      if (body.kind === "inline") {
        const { id, key, epoch } = body;
        const [nonce, sealed] = [Buffer.from(body.nonce, "base64"), Buffer.from(body.sealed, "base64")];
        return Buffer.from(await chunks.openInline(tenant, { id, key, epoch, nonce, sealed })).subarray(from, to);
      }
      const all = await extents(object);
      const touched = all.filter(({ at, ref }) => at < to && at + ref.size > from);
      const pieces: Uint8Array[] = [];
      for (const { at, ref } of touched)
        pieces.push((await chunk(tenant, ref)).subarray(Math.max(from - at, 0), Math.min(to - at, ref.size)));
      const last = touched.at(-1);
      const next = last && all[all.indexOf(last) + 1];
      if (next !== undefined && last !== undefined && to > last.at + last.ref.size / 2) early(tenant, next.ref);
      return pieces.length === 1 ? Buffer.from(pieces[0] as Uint8Array) : Buffer.concat(pieces);
    },
    close() {
      closed = true;
      for (const id of [...kept.keys()]) drop(id);
    },
  };
}
