import type { JsonObject } from "../json.ts";

/** A scalar that an index sorts by. Order: null < numbers < false < true < strings by UTF-8 bytes. */
export type IndexValue = null | boolean | number | string;

/** One declared index: a pure function of the document. `undefined` keeps the document out of the index. */
export interface IndexSpec {
  readonly key: (doc: JsonObject) => readonly IndexValue[] | undefined;
  /** Two documents of the collection may not share the key. */
  readonly unique?: boolean;
  /** Raise it when `key` changes its meaning: the adapter rebuilds the index when it opens. Default 1. */
  readonly revision?: number;
}

/** How documents of earlier versions become documents of today's. */
export interface DocumentVersions {
  /** The version of the documents that are written; absent: 1. */
  readonly version?: number;
  /** By the version that it leads to, from 2 to `version`, none left out: a pure function of a document of the version before. */
  readonly upgrade?: Readonly<Record<number, (doc: JsonObject) => JsonObject>>;
}

/** One declared collection. Its indexes are functions of documents of its version. */
export interface CollectionSpec extends DocumentVersions {
  readonly indexes: Readonly<Record<string, IndexSpec>>;
}

/** The collections of a store, by name. Names: `[a-z][a-z0-9_]*`, at most 40 characters. */
export type Collections = Readonly<Record<string, CollectionSpec>>;

/** A stored document. `version` grows with every change of this id and never repeats, also after delete and re-create. */
export interface Stored {
  readonly id: string;
  readonly version: number;
  readonly doc: JsonObject;
}

export interface ListOptions {
  /** First and last index value behind `prefix`, both inclusive. */
  readonly from?: readonly IndexValue[];
  readonly to?: readonly IndexValue[];
  readonly limit: number;
  /** Skips this many items first; for offset paging over HTTP. Prefer `cursor`. */
  readonly offset?: number;
  readonly cursor?: string;
  readonly reverse?: boolean;
}

export interface Page {
  readonly items: readonly Stored[];
  /** Absent at the end. */
  readonly cursor?: string;
}

export interface Put {
  readonly coll: string;
  readonly id: string;
  readonly doc: JsonObject;
  /** n: the current version is n. 0: must not exist. Absent: unconditional. */
  readonly ifVersion?: number;
}

export interface Del {
  readonly coll: string;
  readonly id: string;
  readonly ifVersion?: number;
}

export interface Check {
  readonly coll: string;
  readonly id: string;
  /** 0: must not exist. */
  readonly version: number;
}

/** A list or a count whose answer must still be the same: nothing joined it, left it or changed in it. Not of the audit log. */
export interface RangeCheck {
  readonly coll: string;
  readonly index: string;
  readonly prefix: readonly IndexValue[];
  /** As it was asked; of a count `from` and `to` alone. */
  readonly options?: Partial<ListOptions>;
  /** The answer: the items of a list in their order, or the number of a count. */
  readonly found: readonly Pick<Stored, "id" | "version">[] | number;
}

/** An audit event to append in the same transaction. The store numbers it. */
export interface AuditDraft {
  /** Whose log it belongs to, an organisation id for the gateway. */
  readonly stream: string;
  readonly event: JsonObject;
}

/** An appended audit event: `seq` is dense from 1 over the store, `streamSeq` dense from 1 over its stream, both in commit order. */
export interface AuditEntry {
  readonly seq: number;
  readonly stream: string;
  readonly streamSeq: number;
  readonly event: JsonObject;
}

/** What an appended audit event was given. `time`: the time it was written with, where that is later than its own (see audit time of {@link DocumentStore}). */
export interface AuditNumber extends Pick<AuditEntry, "seq" | "streamSeq"> {
  readonly time?: string;
}

export interface Commit {
  /** Chosen by the caller, unique per logical commit; a retry with the same id is answered, not applied twice. */
  readonly commitId: string;
  readonly puts?: readonly Put[];
  readonly dels?: readonly Del[];
  readonly checks?: readonly Check[];
  readonly ranges?: readonly RangeCheck[];
  readonly audit?: readonly AuditDraft[];
}

export interface FailedCondition {
  readonly coll: string;
  readonly id: string;
  readonly expected: number;
  readonly actual: number;
}

export interface UniqueViolation {
  readonly coll: string;
  readonly id: string;
  readonly index: string;
}

/**
 * What a commit came to. A conflict is a value: nothing was written. `seq` is the sequence of the commit over the store,
 * `versions` holds the new version of every put by `<coll>/<id>`, `audit` the numbers of its audit events in their order; it is empty for a retry of a commit
 * that was applied before: the log has them.
 */
export type CommitResult =
  | {
      readonly ok: true;
      readonly seq: number;
      readonly versions: Readonly<Record<string, number>>;
      readonly audit: readonly AuditNumber[];
    }
  | {
      readonly ok: false;
      readonly failed: readonly FailedCondition[];
      readonly unique: readonly UniqueViolation[];
      /** Lists and counts that have another answer by now; absent: none. */
      readonly moved?: readonly Pick<RangeCheck, "coll" | "index">[];
    };

export interface Change {
  readonly seq: number;
  readonly coll: string;
  readonly id: string;
  /** Absent: deleted. */
  readonly version?: number;
}

export interface StoreCapabilities {
  readonly durable: boolean;
  readonly multiProcess: boolean;
  readonly subscribe: "push" | "poll";
}

/**
 * Why a store could not do something.
 *
 * - `invalid_schema`, `invalid_document`, `invalid_commit`, `invalid_query`, `invalid_cursor`: the caller's mistake,
 *   nothing was queued.
 * - `outcome_unknown`: the commit may or may not be applied; repeat it with the same `commitId`.
 * - `store_closed`: `close` was called. `store_locked`: another process has it open (engines for one process).
 * - `store_failed`: an earlier write failed; the store answers reads only until it is opened again.
 * - `changes_compacted`: changes behind the asked number are forgotten: read the documents anew and go on from `details.newest`.
 * - `unknown_version`: a document was written by a later release; it was left as it is, `details` name `coll`, `id`, `version`.
 * - `store_unavailable`: not reachable, nothing was done. `store_misconfigured`: the engine cannot keep the laws.
 * - `store_moved`: its content was moved to another place, which `details.to` names; `store_incomplete`: it is still being copied here from `details.from`.
 * - `store_damaged`: what is on the medium is not what was written; it was left as it is, and `details.places` says where.
 */
export type StoreErrorCode =
  | "invalid_schema"
  | "invalid_document"
  | "invalid_commit"
  | "invalid_query"
  | "invalid_cursor"
  | "changes_compacted"
  | "outcome_unknown"
  | "store_closed"
  | "store_locked"
  | "store_failed"
  | "store_damaged"
  | "store_moved"
  | "store_incomplete"
  | "store_unavailable"
  | "store_misconfigured"
  | "unknown_version";

/**
 * Keeps JSON documents in declared collections.
 *
 * Laws (each is a test of the exported conformance suite):
 * - **atomic**: all puts, dels, index entries and audit events of a commit, or none, across collections.
 * - **durable**: a resolved commit survives `kill -9` (where `capabilities.durable`).
 * - **conditional**: see {@link Put.ifVersion}; `checks` guard documents that were only read.
 * - **version**: an integer that grows per id and never repeats, also after delete and re-create.
 * - **conflict**: a value naming every failed condition and unique index; a rejected commit never fails its neighbours.
 * - **read your commit**: after `commit` resolves every later read, in any process, sees it.
 * - **unknown outcome**: a lost connection or write error throws code `outcome_unknown`, never "failed"; repeating the
 *   same `commitId` settles it.
 * - **no aliasing**: input is serialised synchronously inside the call, output is a fresh copy.
 * - **old data**: a document of an earlier version of its collection is read, listed and indexed as its upgrade steps make it, and is
 *   written as of today's version when it is next changed; one of a later version is refused (`unknown_version`) when it is
 *   read, and where the collection has indexes already when the store is opened.
 * - **list**: ordered by index values, then id; all items satisfied the condition at one instant.
 * - **audit, changes**: dense from 1, in commit order; a reader at n never later finds an entry below n.
 * - **audit time**: where the schema names the member that holds it (`auditTime`), no entry's time is before that of the entry before, over all
 *   processes and restarts: an event whose time is earlier is written with that one, and the result of its commit says so.
 * - **compact** forgets the oldest audit entries and changes, never the newest entry of a stream nor the newest change: numbers go on from
 *   them. Whoever reads changes from before what is left is told (`changes_compacted`); audit entries that are gone are passed over.
 * - **close** waits for commits in flight; later calls throw code `store_closed`.
 *
 * Values: JSON, finite numbers (-0 becomes 0), no U+0000 and no lone surrogates in strings or ids, key order not
 * preserved, no member `$version`, encoded index key + id <= 1 KiB, document <= 1 MiB; checked before anything is queued (`invalid_document`).
 * Ids are not empty; the same id is put or deleted once per commit (`invalid_commit`).
 *
 * The pseudo-collection `audit` can be read, listed and counted, never written to, through two built-in indexes and those that the
 * adapter was opened with for it (`auditIndexes`, functions of the item's `stream` and `event`); its items are
 * `{ id: String(seq), version: seq, doc: { seq, stream, stream_seq, event } }`, and equal index values sort by seq.
 * Built in: `stream` = `[stream, stream_seq]` (a whole stream in order: `list("audit", "stream", [stream], { limit })`)
 * and `seq` = `[seq]`.
 *
 * A retry is recognised by its `commitId` while the commit is among the newest 100,000.
 *
 * @example
 * ```ts
 * import { openMemoryStore } from "@seneschal/adapters/memory";
 * const store = openMemoryStore({ collections: { widgets: { indexes: { by_owner: { key: (doc) => [doc.owner as string] } } } } });
 * await store.commit({
 *   commitId: "c1",
 *   puts: [{ coll: "widgets", id: "w1", doc: { owner: "ada" }, ifVersion: 0 }],
 *   audit: [{ stream: "ada", event: { type: "widget.created" } }],
 * });
 * const { items } = await store.list("widgets", "by_owner", ["ada"], { limit: 10 });
 * console.log(items[0]?.id); // w1
 * ```
 */
export interface DocumentStore {
  readonly capabilities: StoreCapabilities;
  /** Absent: `undefined`. */
  get(coll: string, id: string): Promise<Stored | undefined>;
  /** One slot per id, in order. */
  getMany(coll: string, ids: readonly string[]): Promise<readonly (Stored | undefined)[]>;
  list(coll: string, index: string, prefix: readonly IndexValue[], options: ListOptions): Promise<Page>;
  count(
    coll: string,
    index: string,
    prefix: readonly IndexValue[],
    range?: { readonly from?: readonly IndexValue[]; readonly to?: readonly IndexValue[] },
  ): Promise<number>;
  commit(commit: Commit): Promise<CommitResult>;
  /** Audit entries with `seq > afterSeq`, ascending. */
  auditRead(afterSeq: number, limit: number): Promise<readonly AuditEntry[]>;
  /** Changes with `seq > afterSeq`, ascending. Throws `changes_compacted` when some of them are forgotten. */
  changes(afterSeq: number, limit: number): Promise<readonly Change[]>;
  /**
   * Forgets audit entries with `seq` up to `audit`, but for the newest of each stream, and changes with `seq` up to `changes`, but for the newest. Nothing
   * else changes. May be repeated; what a crash leaves undone is done by the next.
   */
  compact(upTo: { readonly audit?: number; readonly changes?: number }): Promise<void>;
  /** Calls back with the newest change sequence, at least once after every commit. Wake-up only: read with `changes`. */
  subscribe(callback: (seq: number) => void): () => void;
  /** Rejects as every commit would until the store is opened again (`store_failed`), or as one that finds no database would. Absent where commits do not fail. */
  checkWrites?(): Promise<void>;
  /**
   * Reads the medium against its checksums: what is damaged, in words that name the place; empty when nothing is. Absent where the
   * medium is a server's affair.
   */
  inspect?(): Promise<readonly string[]>;
  /**
   * Rewrites what the store lies in: when it resolves, no document that was deleted or overwritten before the call is in any of its files.
   * It may take as long as copying all of the store. Absent where files are a server's affair.
   */
  expunge?(): Promise<void>;
  close(): Promise<void>;
}
