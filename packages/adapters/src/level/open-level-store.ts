import { CodedError, checkArgument, checkOptions, type JsonObject } from "@seneschal/kernel";
import type { AuditEntry, Change, CommitResult, DocumentStore, Stored, StoreErrorCode } from "@seneschal/kernel/ports";
import {
  auditCollection,
  auditDocument,
  type CompiledCollection,
  checkCompaction,
  checkFeed,
  collectionOf,
  compileSchema,
  currentDocument,
  keyRange,
  listRequest,
  type PreparedCommit,
  planCommits,
  prepareCommit,
  type StoreHead,
  type StoreSchema,
  wholeFeed,
} from "@seneschal/kernel/store";
import { CommitQueue } from "../commit-queue.ts";
import type { CommitWindow } from "../commit-window.ts";
import { InFlight } from "../in-flight.ts";
import { buildIndexes } from "./build-indexes.ts";
import { compactAudit, compactChanges } from "./compact.ts";
import { KeptCounts } from "./kept-counts.ts";
import { KnownKeys } from "./known-keys.ts";
import { bytes, layout } from "./layout.ts";
import { openLayout } from "./open-layout.ts";
import { expungeLevel, inspectLevel, type LevelDb, openLevel, readValues } from "./open-level.ts";
import { readWindow } from "./read-window.ts";
import { isSeqIndex, seqPlace, seqReach } from "./seq-index.ts";
import { entryChanges, indexReach, parseDocument, readView, writePlan } from "./write-plan.ts";

/** Options of {@link openLevelStore}. */
export interface LevelStoreOptions extends StoreSchema {
  /** The data directory; created when absent. */
  readonly path: string;
}

/**
 * A {@link DocumentStore} in a LevelDB directory, for one process. What was acknowledged survives `kill -9`, and a power
 * loss as far as the disk honours flushes: all pending commits travel in one synchronous batch.
 *
 * A write that fails is `outcome_unknown`; from then on the store answers reads and refuses writes (`store_failed`)
 * until it is opened again, which loses nothing that was acknowledged. A directory of layout 1 is brought to layout 2.
 *
 * @throws CodedError `store_damaged` when a file is not what was written; `store_locked` when another process has the directory open; `store_misconfigured` when it was
 *   written in another layout; `invalid_schema`.
 *
 * @example
 * ```ts
 * import { openLevelStore } from "@seneschal/adapters/level";
 * const store = await openLevelStore({ path: "./data/store", collections: { notes: { indexes: {} } } });
 * await store.commit({ commitId: "c1", puts: [{ coll: "notes", id: "n1", doc: { text: "hello" } }] });
 * await store.close();
 * ```
 */
export async function openLevelStore(options: LevelStoreOptions): Promise<DocumentStore> {
  checkOptions("options", options, { path: "string", collections: "object", auditIndexes: "object?", auditTime: "string?" });
  const schema = compileSchema(options);
  const db = await openLevel(options.path);
  let head: StoreHead;
  let window: CommitWindow;
  let known: KnownKeys;
  let complete: Promise<void>;
  try {
    head = await timedHead(db, schema.auditTime, await openLayout(db, options.path));
    window = await readWindow(db);
    await buildIndexes(db, schema);
    ({ known, complete } = await KnownKeys.of(db, schema));
  } catch (error) {
    await db.close();
    throw error;
  }
  const listeners = new Set<(seq: number) => void>();
  const inFlight = new InFlight("store");
  const counts = new KeptCounts();
  let failure: unknown;
  let expunging: Promise<void> = Promise.resolve();

  const refuseAfterFailure = (): void => {
    if (failure !== undefined)
      throw new CodedError<StoreErrorCode>("store_failed", "an earlier write failed; open the store again", {}, failure);
  };
  const queue = new CommitQueue(async (batch: readonly PreparedCommit[]): Promise<readonly CommitResult[]> => {
    refuseAfterFailure();
    const view = await readView(db, known, schema, head, window, batch);
    const plan = planCommits(schema, view, batch);
    if (plan.applied.length === 0) return plan.results;
    const entries = entryChanges(schema, plan);
    try {
      await writePlan(db, known, plan, entries, window);
    } catch (error) {
      failure = error;
      counts.clear();
      known.clear();
      throw new CodedError<StoreErrorCode>("outcome_unknown", "the write failed; its outcome is unknown", {}, error);
    }
    head = plan.head;
    window.add(
      head.commit,
      plan.applied.map(({ commitId }) => commitId),
    );
    for (const { index, key, id } of entries) counts.changed(index, key, id === undefined ? -1 : 1);
    for (const listener of listeners) queueMicrotask(() => listener(head.change));
    return plan.results;
  });

  type Reading = { readonly snapshot: ReturnType<LevelDb["snapshot"]> };
  const readMany = async (coll: string, ids: readonly string[], reading?: Reading): Promise<(Stored | undefined)[]> => {
    checkArgument("ids", ids, "array");
    const collection = collectionOf(schema, coll);
    const audit = coll === auditCollection;
    const keys = ids.map((id) => bytes(audit ? layout.audit(auditSeq(id)) : layout.document(coll, id)));
    const values = await readValues(db, keys, reading);
    return ids.map((id, at) => {
      const value = values[at];
      if (value === undefined) return undefined;
      if (audit) return readable(() => storedEntry(auditEntry(auditSeq(id), value)));
      return storedDocument(collection, id, value);
    });
  };
  /** What an index names. A document that is gone is damage; an audit entry that is gone is left out: its number tells. */
  const readListed = async (coll: string, ids: readonly string[], reading?: Reading): Promise<Stored[]> => {
    const found = await readMany(coll, ids, reading);
    if (coll === auditCollection) return found.filter((item) => item !== undefined);
    const missing = found.indexOf(undefined);
    if (missing >= 0) throw damaged(coll, ids[missing] ?? "");
    return found as Stored[];
  };
  const readOne = async (coll: string, id: string): Promise<Stored | undefined> => {
    if (coll === auditCollection) return (await readMany(coll, [id]))[0];
    const collection = collectionOf(schema, coll);
    const key = layout.document(coll, id);
    let value = known.get(key);
    if (value === undefined) {
      value = db.getSync(bytes(key)) ?? null;
      known.read(key, value);
    }
    return value === null ? undefined : storedDocument(collection, id, value);
  };
  /** Counts what is there when it is called. */
  const countKeys = async (reach: { readonly gte: Buffer; readonly lt: Buffer }): Promise<number> => {
    const snapshot = db.snapshot();
    const keys = db.keys({ snapshot, ...reach });
    let count = 0;
    try {
      for (let chunk = await keys.nextv(1000); chunk.length > 0; chunk = await keys.nextv(1000)) count += chunk.length;
    } finally {
      await keys.close();
      await snapshot.close();
    }
    return count;
  };
  const feed = async <T>(
    key: (seq: number) => string,
    afterSeq: number,
    limit: number,
    parse: (value: string, seq: number) => T,
  ) => {
    checkFeed(afterSeq, limit);
    const range = { gte: bytes(key(afterSeq + 1)), lt: bytes(key(Number.MAX_SAFE_INTEGER)), limit };
    return (await db.iterator(range).all()).map(([at, value]) => parse(value, seqOf(at)));
  };

  return {
    capabilities: { durable: true, multiProcess: false, subscribe: "push" },
    get: (coll, id) => inFlight.run(() => readOne(coll, id)),
    getMany: (coll, ids) => inFlight.run(() => readMany(coll, ids)),
    list: (coll, index, prefix, listOptions) =>
      inFlight.run(async () => {
        const { range, limit, offset, reverse, cursorAt } = listRequest(schema, coll, index, prefix, listOptions);
        if (isSeqIndex(coll, index)) {
          const reach = { reverse, limit: offset + limit + 1, ...seqReach(range, head.audit) };
          const entries = (await db.iterator(reach).all()).slice(offset);
          const items = entries.slice(0, limit).flatMap(([key, value]) => {
            const found = readable(() => storedEntry(auditEntry(seqOf(key), value)));
            return found === undefined ? [] : [found];
          });
          const last = entries[limit - 1];
          if (entries.length <= limit || last === undefined) return { items };
          return { items, cursor: cursorAt(seqPlace(seqOf(last[0]))) };
        }
        const reach = indexReach(coll, index, range);
        if (Buffer.compare(reach.gte, reach.lt) >= 0) return { items: [] };
        const snapshot = db.snapshot();
        try {
          const entries = (await db.iterator({ reverse, limit: offset + limit + 1, snapshot, ...reach }).all()).slice(offset);
          const ids = entries.slice(0, limit).map(([, id]) => id);
          const items = await readListed(coll, ids, { snapshot });
          const last = entries[limit - 1];
          if (entries.length <= limit || last === undefined) return { items };
          return { items, cursor: cursorAt(last[0].subarray(layout.index(coll, index).length).toString("latin1")) };
        } finally {
          await snapshot.close();
        }
      }),
    count: (coll, index, prefix, range) =>
      inFlight.run(async () => {
        const wanted = keyRange(schema, coll, index, prefix, range);
        if (isSeqIndex(coll, index)) return countKeys(seqReach(wanted, head.audit));
        const reach = indexReach(coll, index, wanted);
        if (Buffer.compare(reach.gte, reach.lt) >= 0) return 0;
        if (range?.from !== undefined || range?.to !== undefined) return countKeys(reach);
        const place = layout.index(coll, index);
        const kept = (): Promise<number> | undefined => counts.get(place, wanted.gte);
        return kept() ?? queue.between(() => kept() ?? counts.keep(place, wanted.gte, countKeys(reach)));
      }),
    commit: (commit) =>
      inFlight.run(() => {
        refuseAfterFailure();
        return queue.add(prepareCommit(schema, commit));
      }),
    auditRead: (afterSeq, limit) =>
      inFlight.run(async () => {
        const entries = await feed(layout.audit, afterSeq, limit, (value, seq) => readable(() => auditEntry(seq, value)));
        return entries.filter((entry) => entry !== undefined);
      }),
    changes: (afterSeq, limit) =>
      inFlight.run(async () =>
        wholeFeed(afterSeq, await feed(layout.change, afterSeq, limit, (value) => JSON.parse(value) as Change), head.change),
      ),
    compact: (upTo) =>
      inFlight.run(async () => {
        checkCompaction(upTo);
        refuseAfterFailure();
        // What was counted meanwhile may count what is gone.
        for await (const _ of compactAudit(db, schema, upTo.audit ?? 0)) counts.clear();
        await compactChanges(db, Math.min(upTo.changes ?? 0, head.change - 1));
      }),
    subscribe: (callback) => {
      inFlight.check();
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
    checkWrites: () => inFlight.run(async () => refuseAfterFailure()),
    inspect: () => inFlight.run(() => inspectLevel(db)),
    expunge: () => {
      const work = expunging.then(async () => {
        // Who reads from an earlier state keeps the engine from dropping it.
        await Promise.all([inFlight.quiesce(), complete]);
        await inFlight.run(() => expungeLevel(db));
      });
      expunging = work.catch(() => undefined);
      return work;
    },
    close: async () => {
      listeners.clear();
      await inFlight.close();
      await db.close();
      await complete;
    },
  };
}

/** The head with the time of the newest audit entry, which a head of earlier releases does not hold. */
async function timedHead(db: LevelDb, auditTime: string | undefined, head: StoreHead): Promise<StoreHead> {
  if (auditTime === undefined || head.auditTime !== undefined) return head;
  const value = await db.get(bytes(layout.audit(head.audit)));
  const time = value === undefined ? undefined : readable(() => auditEntry(head.audit, value))?.event[auditTime];
  return typeof time === "string" ? { ...head, auditTime: time } : head;
}

/** The sequence in a key of the audit log or of the changes. */
function seqOf(key: Buffer): number {
  return Number(key.subarray(2).toString("latin1"));
}

/** The sequence that an audit id names; 0, which no entry has, for any other text. */
function auditSeq(id: string): number {
  return /^[1-9][0-9]{0,15}$/.test(id) ? Number(id) : 0;
}

function storedDocument(collection: CompiledCollection, id: string, value: string): Stored {
  const { version, text } = parseDocument(value);
  const doc = readable(() => JSON.parse(text) as JsonObject);
  if (doc === undefined || !Number.isSafeInteger(version)) throw damaged(collection.name, id);
  return { id, version, doc: currentDocument(collection, id, doc) };
}

function storedEntry({ seq, stream, streamSeq, event }: AuditEntry): Stored {
  return { id: String(seq), version: seq, doc: auditDocument(seq, stream, streamSeq, event) };
}

function damaged(coll: string, id: string): CodedError<StoreErrorCode> {
  return new CodedError<StoreErrorCode>("store_damaged", `${coll}/${id} is damaged: it is gone or cannot be read`, { coll, id });
}

/** An audit entry that cannot be read is left out of what is read, as one that is gone: its number is missing, and verification says so. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function auditEntry(seq: number, value: string): AuditEntry {
  const [stream, streamSeq, event] = JSON.parse(value) as [string, number, JsonObject];
  if (typeof stream !== "string" || typeof streamSeq !== "number" || typeof event !== "object" || event === null)
    throw new TypeError(`audit entry ${seq} has the wrong shape`);
  return { seq, stream, streamSeq, event };
}
