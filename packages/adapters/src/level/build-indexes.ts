import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { StoreErrorCode } from "@seneschal/kernel/ports";
import {
  auditCollection,
  auditDocument,
  auditKeyId,
  type CompiledCollection,
  type CompiledSchema,
  collectionOf,
  currentDocument,
  entryKey,
  indexKeys,
  indexRevisions,
} from "@seneschal/kernel/store";
import { bytes, layout, rangeOf } from "./layout.ts";
import type { LevelDb } from "./open-level.ts";
import { isSeqIndex } from "./seq-index.ts";

/**
 * Brings the indexes on disk in line with the declared ones. What is not complete is not in `m/indexes`, so that a crash
 * on the way only means building again.
 *
 * @throws CodedError `invalid_schema` when documents share a key of a unique index.
 */
export async function buildIndexes(db: LevelDb, schema: CompiledSchema): Promise<void> {
  const declared = writtenIndexes(schema);
  const complete = JSON.parse((await db.get(bytes(layout.indexes))) ?? "{}") as Record<string, string>;
  const stale = Object.keys(complete).filter((name) => declared[name] !== complete[name]);
  const missing = Object.keys(declared).filter((name) => declared[name] !== complete[name]);
  if (stale.length + missing.length === 0) return;

  const kept = Object.fromEntries(Object.entries(complete).filter(([name]) => !stale.includes(name)));
  await db.put(bytes(layout.indexes), JSON.stringify(kept), { sync: true });
  for (const name of new Set([...stale, ...missing])) {
    const [coll, index] = name.split(".") as [string, string];
    await db.clear(rangeOf(layout.index(coll, index)));
  }
  for (const coll of new Set(missing.map((name) => name.split(".")[0] as string))) {
    const names = missing.filter((name) => name.startsWith(`${coll}.`)).map((name) => name.slice(coll.length + 1));
    await build(db, collectionOf(schema, coll), names);
  }
  await db.put(bytes(layout.indexes), JSON.stringify(declared), { sync: true });
}

/** The name of an entry in its index: a unique key holds one id, so that it is found without a scan. */
export function entryName(collection: CompiledCollection, index: string, key: string, id: string): string {
  return collection.uniques.includes(index) ? `${key}\0` : entryKey(key, id);
}

/** The place of an index entry. */
export function entryPlace(collection: CompiledCollection, index: string, key: string, id: string): string {
  return layout.index(collection.name, index) + entryName(collection, index, key, id);
}

/** The revisions of the indexes that have entries, by `<collection>.<index>`. */
function writtenIndexes(schema: CompiledSchema): Readonly<Record<string, string>> {
  const written = Object.entries(indexRevisions(schema)).filter(([name]) => {
    const [coll, index] = name.split(".") as [string, string];
    return !isSeqIndex(coll, index);
  });
  return Object.fromEntries(written);
}

async function build(db: LevelDb, collection: CompiledCollection, names: readonly string[]): Promise<void> {
  for await (const { id, keyId, doc } of documentsOf(db, collection)) {
    const keys = indexKeys(collection, keyId, doc);
    for (const index of names) {
      const key = keys[index];
      if (key === undefined) continue;
      const place = bytes(entryPlace(collection, index, key, keyId));
      if (collection.uniques.includes(index)) {
        const holder = await db.get(place);
        if (holder !== undefined)
          throw new CodedError<StoreErrorCode>(
            "invalid_schema",
            `the index ${collection.name}.${index} cannot be unique: two documents share a key`,
            { coll: collection.name, index, ids: [holder, id] },
          );
      }
      await db.put(place, id);
    }
  }
}

async function* documentsOf(
  db: LevelDb,
  collection: CompiledCollection,
): AsyncGenerator<{ readonly id: string; readonly keyId: string; readonly doc: JsonObject }> {
  if (collection.name === auditCollection) {
    for await (const [key, value] of db.iterator(rangeOf("a/"))) {
      const seq = Number(key.subarray(2).toString("latin1"));
      const [stream, streamSeq, event] = JSON.parse(value) as [string, number, JsonObject];
      yield { id: String(seq), keyId: auditKeyId(seq), doc: auditDocument(seq, stream, streamSeq, event) };
    }
    return;
  }
  const prefix = layout.documents(collection.name);
  for await (const [key, value] of db.iterator(rangeOf(prefix))) {
    const id = key.subarray(prefix.length).toString("utf8");
    const stored = JSON.parse(value.slice(value.indexOf(" ") + 1)) as JsonObject;
    yield { id, keyId: id, doc: currentDocument(collection, id, stored) };
  }
}
