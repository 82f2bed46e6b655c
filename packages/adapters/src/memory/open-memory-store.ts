import { CodedError, checkArgument, type JsonObject } from "@seneschal/kernel";
import type { AuditEntry, Change, DocumentStore, Stored, StoreErrorCode } from "@seneschal/kernel/ports";
import {
  answerText,
  auditCollection,
  auditDocument,
  auditKeyId,
  type CommitPlan,
  checkCompaction,
  checkFeed,
  collectionOf,
  commitIdWindow,
  compileSchema,
  currentDocument,
  entryKey,
  type IndexKeys,
  keyRange,
  listRequest,
  type PreparedRange,
  planCommits,
  prepareCommit,
  type StoreHead,
  type StoreSchema,
  wholeFeed,
} from "@seneschal/kernel/store";
import { CommitWindow } from "../commit-window.ts";
import { SortedKeys } from "./sorted-keys.ts";

interface Kept {
  readonly version: number;
  readonly text: string;
  readonly keys: IndexKeys;
}

/**
 * A {@link DocumentStore} in memory: the reference of the port, for tests and short-lived tools. Nothing survives the
 * process. A commit is applied synchronously inside the call, so that every law follows from there being one thread.
 *
 * @throws CodedError `invalid_schema`.
 */
export function openMemoryStore(schema: StoreSchema): DocumentStore {
  const compiled = compileSchema(schema);
  const documents = new Map<string, Kept>();
  const indexes = new Map<string, SortedKeys>();
  for (const { name, indexes: declared } of [...compiled.collections.values(), compiled.audit])
    for (const index of declared) indexes.set(`${name}.${index.name}`, new SortedKeys());
  const index = (coll: string, name: string): SortedKeys => indexes.get(`${coll}.${name}`) as SortedKeys;
  const audit = new Map<
    number,
    { readonly stream: string; readonly streamSeq: number; readonly text: string; readonly keys: IndexKeys }
  >();
  const streams = new Map<string, number>();
  let changes: Change[] = [];
  const window = new CommitWindow(commitIdWindow);
  const listeners = new Set<(seq: number) => void>();
  let head: StoreHead = { commit: 0, change: 0, audit: 0 };
  let closed = false;

  const open = (): void => {
    if (closed) throw new CodedError<StoreErrorCode>("store_closed", "the store is closed");
  };

  const auditEntry = (seq: number): AuditEntry | undefined => {
    const kept = audit.get(seq);
    if (kept === undefined) return undefined;
    return { seq, stream: kept.stream, streamSeq: kept.streamSeq, event: JSON.parse(kept.text) as JsonObject };
  };

  const read = (coll: string, id: string): Stored | undefined => {
    const collection = collectionOf(compiled, coll);
    if (coll === auditCollection) {
      const entry = /^[1-9][0-9]{0,15}$/.test(id) ? auditEntry(Number(id)) : undefined;
      if (entry === undefined) return undefined;
      return { id, version: entry.seq, doc: auditDocument(entry.seq, entry.stream, entry.streamSeq, entry.event) };
    }
    const kept = documents.get(`${coll}/${id}`);
    return kept === undefined
      ? undefined
      : { id, version: kept.version, doc: currentDocument(collection, id, JSON.parse(kept.text)) };
  };

  const answer = ({ coll, index: name, range, limit, offset, reverse }: PreparedRange): string => {
    if (limit === undefined) return answerText(index(coll, name).count(range));
    const found: { readonly id: string; readonly version: number }[] = [];
    let skip = offset;
    for (const { id } of index(coll, name).entries(range, reverse)) {
      if (skip > 0) skip -= 1;
      else if (found.length === limit) break;
      else found.push({ id, version: documents.get(`${coll}/${id}`)?.version ?? 0 });
    }
    return answerText(found);
  };

  const write = (plan: CommitPlan): void => {
    for (const { coll, id, before, after } of plan.documents) {
      for (const [name, key] of Object.entries(before?.keys ?? {})) index(coll, name).delete(entryKey(key, id));
      for (const [name, key] of Object.entries(after?.keys ?? {})) index(coll, name).set(entryKey(key, id), id);
      if (after === undefined) documents.delete(`${coll}/${id}`);
      else documents.set(`${coll}/${id}`, { version: after.version, text: after.text, keys: after.keys });
    }
    for (const { seq, stream, streamSeq, text, keys } of plan.audit) {
      audit.set(seq, { stream, streamSeq, text, keys });
      streams.set(stream, streamSeq);
      for (const [name, key] of Object.entries(keys))
        index(auditCollection, name).set(entryKey(key, auditKeyId(seq)), String(seq));
    }
    for (const change of plan.changes) changes.push(change);
    for (const { commitId, seq } of plan.applied) window.add(seq, [commitId]);
    head = plan.head;
  };

  return {
    capabilities: { durable: false, multiProcess: false, subscribe: "push" },
    async get(coll, id) {
      open();
      return read(coll, id);
    },
    async getMany(coll, ids) {
      checkArgument("ids", ids, "array");
      open();
      return ids.map((id) => read(coll, id));
    },
    async list(coll, indexName, prefix, options) {
      open();
      const { range, limit, offset, reverse, cursorAt } = listRequest(compiled, coll, indexName, prefix, options);
      const items: Stored[] = [];
      let skip = offset;
      let last = "";
      for (const { key, id } of index(coll, indexName).entries(range, reverse)) {
        if (skip > 0) {
          skip -= 1;
          continue;
        }
        if (items.length === limit) return { items, cursor: cursorAt(last) };
        items.push(read(coll, id) as Stored);
        last = key;
      }
      return { items };
    },
    async count(coll, indexName, prefix, range) {
      open();
      const keys = keyRange(compiled, coll, indexName, prefix, range);
      return index(coll, indexName).count(keys);
    },
    async commit(commit) {
      open();
      const prepared = prepareCommit(compiled, commit);
      const plan = planCommits(
        compiled,
        {
          head,
          document: (coll, id) => documents.get(`${coll}/${id}`),
          owner: (coll, name, key) => {
            const found = index(coll, name)
              .entries({ gte: `${key}\0`, lt: `${key}\x01` }, false)
              .next();
            return found.done === true ? undefined : found.value.id;
          },
          answer,
          streamSeq: (stream) => streams.get(stream) ?? 0,
          applied: (commitId) => window.seqOf(commitId),
        },
        [prepared],
      );
      write(plan);
      if (plan.applied.length > 0) for (const listener of listeners) queueMicrotask(() => listener(head.change));
      const [result] = plan.results;
      return result as NonNullable<typeof result>;
    },
    async auditRead(afterSeq, limit) {
      open();
      checkFeed(afterSeq, limit);
      const entries: AuditEntry[] = [];
      for (let seq = afterSeq + 1; entries.length < limit && seq <= head.audit; seq += 1) {
        const entry = auditEntry(seq);
        if (entry !== undefined) entries.push(entry);
      }
      return entries;
    },
    async changes(afterSeq, limit) {
      open();
      checkFeed(afterSeq, limit);
      const first = Math.max(0, afterSeq + 1 - (changes[0]?.seq ?? 1));
      const found = changes.slice(first, first + limit).map((change) => ({ ...change }));
      return wholeFeed(afterSeq, found, head.change);
    },
    async compact(upTo) {
      open();
      checkCompaction(upTo);
      for (const [seq, { stream, streamSeq, keys }] of audit) {
        if (seq > (upTo.audit ?? 0)) break;
        if (streams.get(stream) === streamSeq) continue;
        audit.delete(seq);
        for (const [name, key] of Object.entries(keys)) index(auditCollection, name).delete(entryKey(key, auditKeyId(seq)));
      }
      changes = changes.filter(({ seq }) => seq > (upTo.changes ?? 0) || seq === head.change);
    },
    subscribe(callback) {
      open();
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
    async close() {
      closed = true;
      listeners.clear();
    },
  };
}
