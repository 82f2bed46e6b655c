import type { JsonObject } from "@seneschal/kernel";
import { auditDocument, auditKeyId, type CompiledSchema, indexKeys } from "@seneschal/kernel/store";
import { entryPlace } from "./build-indexes.ts";
import { bytes, layout } from "./layout.ts";
import { type LevelDb, readValues } from "./open-level.ts";
import { isSeqIndex } from "./seq-index.ts";

/** So many entries are forgotten in one batch, with their places in the indexes. */
const BATCH = 500;

/** Forgets audit entries up to one, but for the newest of each stream; yields behind each batch. An entry that cannot be read stays: who verifies finds it. */
export async function* compactAudit(db: LevelDb, schema: CompiledSchema, upTo: number): AsyncGenerator<void> {
  const written = schema.audit.indexes.filter(({ name }) => !isSeqIndex(schema.audit.name, name)).map(({ name }) => name);
  for (let from = 0; ; ) {
    const range = { gte: bytes(layout.audit(from)), lt: bytes(layout.audit(upTo + 1)), limit: BATCH };
    const page = await db.iterator(range).all();
    const last = page.at(-1);
    if (last === undefined) return;
    from = seqOf(last[0]) + 1;
    const entries = page.flatMap(([key, value]) => entryOf(seqOf(key), value));
    const streams = [...new Set(entries.map(({ stream }) => stream))];
    const newest = await readValues(
      db,
      streams.map((stream) => bytes(layout.stream(stream))),
    );
    const newestOf = new Map(streams.map((stream, at) => [stream, Number(newest[at])]));
    const batch = db.batch();
    for (const { seq, stream, streamSeq, event } of entries) {
      // Whatever is newer than this one by now, it is not the newest any more.
      if (!(streamSeq < (newestOf.get(stream) ?? 0))) continue;
      const keys = indexKeys(schema.audit, auditKeyId(seq), auditDocument(seq, stream, streamSeq, event));
      for (const name of written) {
        const key = keys[name];
        if (key !== undefined) batch.del(bytes(entryPlace(schema.audit, name, key, auditKeyId(seq))));
      }
      batch.del(bytes(layout.audit(seq)));
    }
    await batch.write({ sync: true });
    yield;
  }
}

/** Forgets changes up to one. */
export async function compactChanges(db: LevelDb, upTo: number): Promise<void> {
  if (upTo > 0) await db.clear({ gte: bytes(layout.change(0)), lt: bytes(layout.change(upTo + 1)) });
}

const seqOf = (key: Buffer): number => Number(key.subarray(2).toString("latin1"));

function entryOf(seq: number, value: string) {
  try {
    const [stream, streamSeq, event] = JSON.parse(value) as [string, number, JsonObject];
    return [{ seq, stream, streamSeq, event }];
  } catch {
    return [];
  }
}
