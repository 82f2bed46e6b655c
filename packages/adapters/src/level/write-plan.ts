import {
  answerText,
  auditKeyId,
  type CommitPlan,
  type CompiledSchema,
  collectionOf,
  currentDocument,
  type IndexedVersion,
  type IndexKeys,
  indexKeysOfText,
  type KeyRange,
  type PreparedCommit,
  type PreparedRange,
  readsOf,
  type StoreHead,
  type StoreView,
} from "@seneschal/kernel/store";
import type { CommitWindow } from "../commit-window.ts";
import { entryName, entryPlace } from "./build-indexes.ts";
import type { KeptValue } from "./kept-values.ts";
import type { KnownKeys } from "./known-keys.ts";
import { bytes, layout } from "./layout.ts";
import { type LevelDb, readValues } from "./open-level.ts";
import { isSeqIndex } from "./seq-index.ts";

/** A document on disk. Most are only guards: of those nobody asks for the keys. */
class StoredVersion implements IndexedVersion {
  readonly version: number;
  readonly #read: () => IndexKeys;
  #keys: IndexKeys | undefined;

  constructor(version: number, read: () => IndexKeys) {
    this.version = version;
    this.#read = read;
  }

  get keys(): IndexKeys {
    this.#keys ??= this.#read();
    return this.#keys;
  }
}

/** Reads all that a batch of commits is judged on, at once. No other batch may be on its way. */
export async function readView(
  db: LevelDb,
  known: KnownKeys,
  schema: CompiledSchema,
  head: StoreHead,
  window: CommitWindow,
  commits: readonly PreparedCommit[],
): Promise<StoreView> {
  const reads = readsOf(schema, commits);
  const found = await find(
    db,
    known,
    [...reads.documents.map(({ coll, id }) => layout.document(coll, id)), ...reads.streams.map(layout.stream)],
    reads.owners.map(({ coll, index, key }) => entryPlace(collectionOf(schema, coll), index, key, "")),
  );
  const documents = new Map(
    reads.documents.flatMap(({ coll, id }) => {
      const key = layout.document(coll, id);
      const value = found.get(key);
      if (value === null || value === undefined) return [];
      const { version, text } = parseDocument(value);
      const collection = collectionOf(schema, coll);
      const keys = (): IndexKeys => indexKeysOfText(collection, id, text, (stored) => currentDocument(collection, id, stored));
      return [[key, new StoredVersion(version, keys)]];
    }),
  );
  const answers = new Map<PreparedRange, string>();
  for (const range of reads.ranges) answers.set(range, await answer(db, range));
  return {
    head,
    document: (coll, id) => documents.get(layout.document(coll, id)),
    owner: (coll, index, key) => found.get(entryPlace(collectionOf(schema, coll), index, key, "")) ?? undefined,
    answer: (range) => answers.get(range) ?? "",
    streamSeq: (stream) => Number(found.get(layout.stream(stream)) ?? 0),
    applied: (commitId) => window.seqOf(commitId),
  };
}

/** What lies under the keys of documents and streams, and under unique keys. */
async function find(
  db: LevelDb,
  known: KnownKeys,
  keys: readonly string[],
  owners: readonly string[],
): Promise<ReadonlyMap<string, KeptValue>> {
  const found = new Map<string, KeptValue | undefined>();
  for (const key of keys) found.set(key, known.get(key));
  for (const key of owners) found.set(key, known.owner(key));
  const isAsked = (key: string): boolean => found.get(key) === undefined;
  const asked = keys.filter(isAsked);
  const all = [...asked, ...owners.filter(isAsked)];
  const values = all.length === 0 ? [] : await readValues(db, all.map(bytes));
  for (const [at, key] of all.entries()) found.set(key, values[at] ?? null);
  for (const key of asked) known.read(key, found.get(key) as KeptValue);
  return found as Map<string, KeptValue>;
}

/** An index entry that a plan writes, or, without `id`, deletes. */
interface EntryChange {
  /** The place of the index. */
  readonly index: string;
  /** The rest of the entry's place. */
  readonly key: string;
  readonly id?: string;
}

/** What a plan does to indexes. Deletes first: a unique key that one document gives up may be taken by another. */
export function entryChanges(schema: CompiledSchema, plan: CommitPlan): readonly EntryChange[] {
  const deleted: EntryChange[] = [];
  const written: EntryChange[] = [];
  for (const { coll, id, before, after } of plan.documents) {
    const collection = collectionOf(schema, coll);
    for (const [index, key] of Object.entries(before?.keys ?? {}))
      if (after?.keys[index] !== key)
        deleted.push({ index: layout.index(coll, index), key: entryName(collection, index, key, id) });
    for (const [index, key] of Object.entries(after?.keys ?? {}))
      if (before?.keys[index] !== key)
        written.push({ index: layout.index(coll, index), key: entryName(collection, index, key, id), id });
  }
  for (const { seq, keys } of plan.audit) {
    const [keyId, id] = [auditKeyId(seq), String(seq)];
    for (const [index, key] of Object.entries(keys))
      if (!isSeqIndex(schema.audit.name, index))
        written.push({ index: layout.index(schema.audit.name, index), key: entryName(schema.audit, index, key, keyId), id });
  }
  return [...deleted, ...written];
}

/** Writes the plan, with what it does to indexes and to the window, as one synchronous batch. */
export async function writePlan(
  db: LevelDb,
  known: KnownKeys,
  plan: CommitPlan,
  entries: readonly EntryChange[],
  window: CommitWindow,
): Promise<void> {
  // A chained batch: the array form clones every operation, which costs more than everything else here.
  const batch = db.batch();
  const put = (key: string, value: string): void => void batch.put(bytes(key), value);
  const del = (key: string): void => void batch.del(bytes(key));

  const readable: [key: string, value: KeptValue][] = [];
  const change = (key: string, value: KeptValue): void => {
    if (value === null) del(key);
    else put(key, value);
    known.writing(key);
    readable.push([key, value]);
  };

  for (const { coll, id, before, after } of plan.documents) {
    if (after !== undefined) change(layout.document(coll, id), `${after.version} ${after.text}`);
    else if (before !== undefined) change(layout.document(coll, id), null);
  }
  for (const { index, key, id } of entries) {
    if (id === undefined) del(index + key);
    else {
      put(index + key, id);
      known.writingEntry(index, key);
    }
  }
  const streams = new Map<string, number>();
  for (const { seq, stream, streamSeq, text } of plan.audit) {
    put(layout.audit(seq), `[${JSON.stringify(stream)},${streamSeq},${text}]`);
    streams.set(stream, streamSeq);
  }
  for (const [stream, streamSeq] of streams) change(layout.stream(stream), String(streamSeq));
  for (const change of plan.changes) put(layout.change(change.seq), JSON.stringify(change));
  put(layout.batch(plan.head.commit), JSON.stringify(plan.applied.map(({ commitId }) => commitId)));
  for (const end of window.leaving(plan.head.commit)) del(layout.batch(end));
  put(layout.head, JSON.stringify(plan.head));
  await batch.write({ sync: true });
  for (const [key, value] of readable) known.wrote(key, value);
}

/** What a list or a count answers now. */
async function answer(db: LevelDb, { coll, index, range, limit, offset, reverse }: PreparedRange): Promise<string> {
  const reach = indexReach(coll, index, range);
  if (Buffer.compare(reach.gte, reach.lt) >= 0) return answerText(limit === undefined ? 0 : []);
  if (limit === undefined) return answerText((await db.keys(reach).all()).length);
  const ids = (await db.values({ reverse, limit: offset + limit, ...reach }).all()).slice(offset);
  const values = await readValues(
    db,
    ids.map((id) => bytes(layout.document(coll, id))),
  );
  return answerText(ids.map((id, at) => ({ id, version: parseDocument(values[at] ?? "0 ").version })));
}

/** Where the entries of a range of an index are. */
export function indexReach(coll: string, index: string, { gte, lt }: KeyRange): { readonly gte: Buffer; readonly lt: Buffer } {
  const place = layout.index(coll, index);
  // "0" follows the "/" that ends the place: the end of the index.
  return { gte: bytes(place + gte), lt: bytes(lt === undefined ? `${place.slice(0, -1)}0` : place + lt) };
}

/** Splits a stored document. */
export function parseDocument(value: string): { readonly version: number; readonly text: string } {
  const space = value.indexOf(" ");
  return { version: Number(value.slice(0, space)), text: value.slice(space + 1) };
}
