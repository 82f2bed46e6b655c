/** A document store on SQLite: one file, one process, as durable as the disk. The kit of `@seneschal/kernel/store` judges; this file reads and writes. */
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { AuditEntry, Change, DocumentStore, Stored, StoreErrorCode } from "@seneschal/kernel/ports";
import {
  answerText,
  auditCollection,
  auditDocument,
  auditKeyId,
  type CommitPlan,
  type CompiledSchema,
  checkCompaction,
  checkFeed,
  collectionOf,
  commitIdWindow,
  compileSchema,
  currentDocument,
  entryKey,
  type IndexKeys,
  indexKeys,
  indexRevisions,
  type KeyRange,
  keyRange,
  listRequest,
  planCommits,
  prepareCommit,
  type StoreHead,
  type StoreSchema,
  wholeFeed,
} from "@seneschal/kernel/store";
import sqlite, { type Database } from "node-sqlite3-wasm";

// Index keys are bytes in order, kept as blobs: SQLite compares these as bytes. An audit entry is listed by its number as its id.
const TABLES = `
create table if not exists documents (coll text, id text, version integer, body text, primary key (coll, id)) without rowid;
create table if not exists entries (idx text, entry blob, id text, primary key (idx, entry)) without rowid;
create table if not exists audit (seq integer primary key, stream text, stream_seq integer, event text);
create index if not exists streams on audit (stream, stream_seq);
create table if not exists changes (seq integer primary key, coll text, id text, version integer);
create table if not exists commits (id text primary key, seq integer) without rowid;
create index if not exists commit_order on commits (seq);
create table if not exists facts (name text primary key, value text) without rowid;`;

const bytes = (key: string): Buffer => Buffer.from(key, "latin1");
type Value = string | number | null | Uint8Array;

/**
 * Opens a store in a file that no other process has open. Throws `store_locked` when one has, or when one was killed: then `FILE.lock` is
 * removed by hand; `invalid_schema`, and `unknown_version` for documents of a later release.
 */
export function openSqliteStore(path: string, schema: StoreSchema): DocumentStore {
  const compiled = compileSchema(schema);
  const db = new sqlite.Database(path);
  let head: StoreHead;
  try {
    db.exec("pragma locking_mode = exclusive; pragma synchronous = extra;");
    head = atomically(db, () => {
      db.exec(TABLES);
      buildIndexes(db, compiled);
      return JSON.parse(fact(db, "head") ?? '{"commit":0,"change":0,"audit":0}') as StoreHead;
    });
  } catch (error) {
    db.close();
    if (!/locked/.test(String(error))) throw error;
    throw new CodedError<StoreErrorCode>("store_locked", "another process has the file open, or was killed", {}, error);
  }
  const listeners = new Set<(seq: number) => void>();
  let closed = false;
  let failure: unknown;

  const rows = (sql: string, ...values: Value[]) => {
    if (closed) throw new CodedError<StoreErrorCode>("store_closed", "the store is closed");
    return db.all(sql, values) as Readonly<Record<string, unknown>>[];
  };
  const read = (coll: string, id: string): Stored | undefined => {
    const collection = collectionOf(compiled, coll);
    if (coll === auditCollection) {
      const [entry] = /^[1-9][0-9]{0,15}$/.test(id) ? entriesOf(rows("select * from audit where seq = ?", Number(id))) : [];
      if (entry === undefined) return undefined;
      const { seq, stream, streamSeq, event } = entry;
      return { id, version: seq, doc: auditDocument(seq, stream, streamSeq, event) };
    }
    const [row] = rows("select version, body from documents where coll = ? and id = ?", coll, id);
    if (row === undefined) return undefined;
    return { id, version: Number(row["version"]), doc: currentDocument(collection, id, JSON.parse(String(row["body"]))) };
  };
  /** The entries of an index in a range, in order: at most `limit` behind the first `offset`. */
  const inRange = (coll: string, index: string, range: KeyRange, reverse: boolean, limit: number, offset: number) =>
    rows(
      `select entry, id from entries where idx = ? and entry >= ? ${range.lt === undefined ? "" : "and entry < ?"}
       order by entry ${reverse ? "desc" : "asc"} limit ? offset ?`,
      ...[`${coll}.${index}`, bytes(range.gte), ...(range.lt === undefined ? [] : [bytes(range.lt)]), limit, offset],
    );
  const count = (coll: string, index: string, { gte, lt }: KeyRange): number => {
    const [row] = rows(
      `select count(*) as n from entries where idx = ? and entry >= ? ${lt === undefined ? "" : "and entry < ?"}`,
      ...[`${coll}.${index}`, bytes(gte), ...(lt === undefined ? [] : [bytes(lt)])],
    );
    return Number(row?.["n"]);
  };
  const versionOf = (coll: string, id: string): number =>
    Number(rows("select version from documents where coll = ? and id = ?", coll, id)[0]?.["version"] ?? 0);

  return {
    capabilities: { durable: true, multiProcess: false, subscribe: "push" },
    get: async (coll, id) => read(coll, id),
    getMany: async (coll, ids) => ids.map((id) => read(coll, id)),
    async list(coll, index, prefix, options) {
      const { range, limit, offset, reverse, cursorAt } = listRequest(compiled, coll, index, prefix, options);
      const found = inRange(coll, index, range, reverse, limit + 1, offset);
      const items = found.slice(0, limit).flatMap(({ id }) => read(coll, String(id)) ?? []);
      const last = found[limit - 1]?.["entry"];
      if (found.length <= limit || last === undefined) return { items };
      return { items, cursor: cursorAt(Buffer.from(last as Uint8Array).toString("latin1")) };
    },
    count: async (coll, index, prefix, range) => count(coll, index, keyRange(compiled, coll, index, prefix, range)),
    async commit(commit) {
      const prepared = prepareCommit(compiled, commit);
      rows("select 1");
      if (failure !== undefined)
        throw new CodedError<StoreErrorCode>("store_failed", "an earlier write failed; open the store again", {}, failure);
      const plan = planCommits(
        compiled,
        {
          head,
          document: (coll, id) => {
            const stored = read(coll, id);
            return stored && { version: stored.version, keys: indexKeys(collectionOf(compiled, coll), id, stored.doc) };
          },
          owner: (coll, index, key) =>
            inRange(coll, index, { gte: `${key}\0`, lt: `${key}\x01` }, false, 1, 0)[0]?.["id"] as string | undefined,
          answer({ coll, index, range, limit, offset, reverse }) {
            if (limit === undefined) return answerText(count(coll, index, range));
            const ids = inRange(coll, index, range, reverse, limit, offset).map(({ id }) => String(id));
            return answerText(ids.map((id) => ({ id, version: versionOf(coll, id) })));
          },
          streamSeq: (stream) => Number(rows("select max(stream_seq) as n from audit where stream = ?", stream)[0]?.["n"] ?? 0),
          applied: (commitId) => rows("select seq from commits where id = ?", commitId)[0]?.["seq"] as number | undefined,
        },
        [prepared],
      );
      if (plan.applied.length > 0) {
        try {
          atomically(db, () => write(db, plan));
        } catch (error) {
          failure = error;
          throw new CodedError<StoreErrorCode>("outcome_unknown", "the write failed; its outcome is unknown", {}, error);
        }
        head = plan.head;
        for (const listener of listeners) queueMicrotask(() => listener(head.change));
      }
      const [result] = plan.results;
      return result as NonNullable<typeof result>;
    },
    async auditRead(afterSeq, limit) {
      checkFeed(afterSeq, limit);
      return entriesOf(rows("select * from audit where seq > ? order by seq limit ?", afterSeq, limit));
    },
    async changes(afterSeq, limit) {
      checkFeed(afterSeq, limit);
      const found = rows("select * from changes where seq > ? order by seq limit ?", afterSeq, limit);
      const changes = found.map(({ seq, coll, id, version }) => ({ seq, coll, id, ...(version === null ? {} : { version }) }));
      return wholeFeed(afterSeq, changes as unknown as Change[], head.change);
    },
    async compact(upTo) {
      checkCompaction(upTo);
      const { audit = 0, changes = 0 } = upTo;
      const old = rows(
        "select * from audit as a where seq <= ? and stream_seq < (select max(stream_seq) from audit where stream = a.stream)",
        audit,
      );
      atomically(db, () => {
        for (const { seq, stream, streamSeq, event } of entriesOf(old)) {
          const keys = indexKeys(compiled.audit, auditKeyId(seq), auditDocument(seq, stream, streamSeq, event));
          dropEntries(db, auditCollection, keys, auditKeyId(seq));
          db.run("delete from audit where seq = ?", [seq]);
        }
        db.run("delete from changes where seq <= ? and seq < ?", [changes, head.change]);
      });
    },
    subscribe(callback) {
      rows("select 1");
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
    async close() {
      if (closed) return;
      closed = true;
      listeners.clear();
      db.close();
    },
  };
}

function atomically<T>(db: Database, work: () => T): T {
  db.exec("begin exclusive");
  try {
    const result = work();
    db.exec("commit");
    return result;
  } catch (error) {
    if (db.inTransaction) db.exec("rollback");
    throw error;
  }
}

/** What was judged is written as it stands. */
function write(db: Database, { head, documents, audit, changes, applied }: CommitPlan): void {
  for (const { coll, id, before, after } of documents) {
    dropEntries(db, coll, before?.keys ?? {}, id);
    addEntries(db, coll, after?.keys ?? {}, id, id);
    if (after === undefined) db.run("delete from documents where coll = ? and id = ?", [coll, id]);
    else db.run("insert or replace into documents values (?, ?, ?, ?)", [coll, id, after.version, after.text]);
  }
  for (const { seq, stream, streamSeq, text, keys } of audit) {
    db.run("insert into audit values (?, ?, ?, ?)", [seq, stream, streamSeq, text]);
    addEntries(db, auditCollection, keys, auditKeyId(seq), String(seq));
  }
  for (const { seq, coll, id, version } of changes)
    db.run("insert into changes values (?, ?, ?, ?)", [seq, coll, id, version ?? null]);
  for (const { commitId, seq } of applied) db.run("insert or replace into commits values (?, ?)", [commitId, seq]);
  db.run("delete from commits where seq <= ?", [head.commit - commitIdWindow]);
  db.run("insert or replace into facts values ('head', ?)", [JSON.stringify(head)]);
}

function addEntries(db: Database, coll: string, keys: IndexKeys, keyId: string, id: string): void {
  for (const [index, key] of Object.entries(keys))
    db.run("insert into entries values (?, ?, ?)", [`${coll}.${index}`, bytes(entryKey(key, keyId)), id]);
}

function dropEntries(db: Database, coll: string, keys: IndexKeys, keyId: string): void {
  for (const [index, key] of Object.entries(keys))
    db.run("delete from entries where idx = ? and entry = ?", [`${coll}.${index}`, bytes(entryKey(key, keyId))]);
}

/** Indexes that are new, or mean something else than when they were built, are built from the documents: all of them, in the transaction of the caller. */
function buildIndexes(db: Database, schema: CompiledSchema): void {
  const declared = indexRevisions(schema);
  const built = JSON.parse(fact(db, "indexes") ?? "{}") as Record<string, string>;
  const stale = [...new Set([...Object.keys(declared), ...Object.keys(built)])].filter((name) => declared[name] !== built[name]);
  for (const name of stale) db.run("delete from entries where idx = ?", [name]);
  for (const coll of new Set(stale.map((name) => name.split(".")[0] as string))) {
    const collection = coll === auditCollection ? schema.audit : schema.collections.get(coll);
    if (collection === undefined) continue;
    for (const { id, keyId, doc } of documentsOf(db, coll)) {
      const keys = Object.entries(indexKeys(collection, keyId, currentDocument(collection, id, doc)));
      const missing = keys.filter(([index]) => stale.includes(`${coll}.${index}`));
      for (const [index, key] of missing) {
        const range = [`${coll}.${index}`, bytes(`${key}\0`), bytes(`${key}\x01`)];
        const isTaken =
          collection.uniques.includes(index) && db.get("select 1 from entries where idx = ? and entry >= ? and entry < ?", range);
        if (isTaken)
          throw new CodedError<StoreErrorCode>("invalid_schema", `${coll}.${index} cannot be unique: two documents share a key`);
      }
      addEntries(db, coll, Object.fromEntries(missing), keyId, id);
    }
  }
  db.run("insert or replace into facts values ('indexes', ?)", [JSON.stringify(declared)]);
}

function documentsOf(db: Database, coll: string): readonly { id: string; keyId: string; doc: JsonObject }[] {
  if (coll !== auditCollection)
    return db.all("select id, body from documents where coll = ?", [coll]).map(({ id, body }) => ({
      id: String(id),
      keyId: String(id),
      doc: JSON.parse(String(body)) as JsonObject,
    }));
  return entriesOf(db.all("select * from audit")).map(({ seq, stream, streamSeq, event }) => ({
    id: String(seq),
    keyId: auditKeyId(seq),
    doc: auditDocument(seq, stream, streamSeq, event),
  }));
}

function entriesOf(found: readonly Readonly<Record<string, unknown>>[]): AuditEntry[] {
  return found.map(({ seq, stream, stream_seq, event }) => ({
    seq: Number(seq),
    stream: String(stream),
    streamSeq: Number(stream_seq),
    event: JSON.parse(String(event)) as JsonObject,
  }));
}

function fact(db: Database, name: string): string | undefined {
  return db.get("select value from facts where name = ?", [name])?.["value"] as string | undefined;
}
